#include "analyze/kernels/kernel_sequences.h"

#include <algorithm>
#include <limits>
#include <map>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "report/sheet.h"
#include "trace/asked_once.h"

namespace stepscope::analyze {
namespace {

using report::Unit;
using timeline::Time;
using trace::Row;

CallTree call_tree_of(const trace::Rank& rank, const StepChoice& choice) {
  CallTree out{&rank, {}};
  const auto& e = rank.events;
  for (Row row = 0; row < e.size(); ++row) {
    const bool device = is_device_work(e.kind[row]) && choice.includes(rank, row);
    const Row parent = device ? e.launch[row] : e.parent[row];
    out.items.push_back({row, parent == trace::kNoRow ? -1 : static_cast<std::int32_t>(parent), e.depth[row],
                         e.start[row], e.duration(row), 0, device});
  }
  for (std::size_t i = out.items.size(); i-- > 0;) {
    CallOrKernel& item = out.items[i];
    item.kernels += item.device;
    // Device rows come after host rows, and nested calls after their caller, so a parent has a lower index.
    if (item.parent >= 0 && static_cast<std::size_t>(item.parent) < i)
      out.items[static_cast<std::size_t>(item.parent)].kernels += item.kernels;
  }
  return out;
}

struct Pattern {
  std::int64_t count = 0;
  Time kernels = 0, calls = 0;
};

/// Marks the operator's outermost calls that launch at least `least` device events.
std::vector<bool> roots_of(const trace::Trace& trace, const CallTree& all, std::string_view name,
                           std::int64_t least) {
  trace::AskedOnce named(trace.strings,
                         [&](std::string_view text) { return text.find(name) != std::string_view::npos; });
  std::vector<bool> roots(all.items.size());
  std::int32_t outermost = std::numeric_limits<std::int32_t>::max();
  for (const int pass : {0, 1}) {
    for (std::size_t i = 0; i < all.items.size(); ++i) {
      const CallOrKernel& item = all.items[i];
      if (item.device || item.depth < 0 || !named(all.rank->events.name[item.row])) continue;
      if (pass == 0) outermost = std::min(outermost, item.depth);
      if (pass == 1) roots[i] = item.depth == outermost && item.kernels >= least;
    }
  }
  return roots;
}

/// By item: the root that contains it, -1 for none.
std::vector<std::int32_t> root_of_each(const CallTree& all, const std::vector<bool>& roots) {
  constexpr std::int32_t kUnknown = -2;
  std::vector<std::int32_t> root(all.items.size(), kUnknown);
  std::vector<std::int32_t> path;
  for (std::size_t i = 0; i < all.items.size(); ++i) {
    auto at = static_cast<std::int32_t>(i);
    for (path.clear(); at >= 0 && root[static_cast<std::size_t>(at)] == kUnknown;
         at = all.items[static_cast<std::size_t>(at)].parent) {
      if (roots[static_cast<std::size_t>(at)]) {
        root[static_cast<std::size_t>(at)] = at;
        break;
      }
      path.push_back(at);
    }
    const std::int32_t found = at < 0 ? -1 : root[static_cast<std::size_t>(at)];
    for (const std::int32_t below : path) root[static_cast<std::size_t>(below)] = found;
  }
  return root;
}

void add_patterns(std::map<std::string, Pattern>& patterns, const trace::Trace& trace, const CallTree& all,
                  std::string_view name, std::int64_t least) {
  const std::vector<bool> roots = roots_of(trace, all, name, least);
  const std::vector<std::int32_t> root = root_of_each(all, roots);
  std::map<std::int32_t, std::vector<std::size_t>> kernels;
  for (std::size_t i = 0; i < all.items.size(); ++i)
    if (all.items[i].device && root[i] >= 0) kernels[root[i]].push_back(i);
  for (auto& [at, below] : kernels) {
    std::stable_sort(below.begin(), below.end(),
                     [&](std::size_t a, std::size_t b) { return all.items[a].start < all.items[b].start; });
    const CallOrKernel& call = all.items[static_cast<std::size_t>(at)];
    std::string text(trace.name(*all.rank, call.row));
    Time time = 0;
    for (const std::size_t kernel : below) {
      text += '|';
      text += trace.name(*all.rank, all.items[kernel].row);
      time += all.items[kernel].length;
    }
    Pattern& pattern = patterns[std::move(text)];
    ++pattern.count;
    pattern.kernels += time;
    pattern.calls += call.length;
  }
}

/// One sequence of kernels below an operator; times in ns.
struct Sequence {
  std::int64_t rank;
  std::string sequence;
  std::int64_t count;
  Time kernel_time, call_time;
};

std::vector<Sequence> sequences_of(const trace::Trace& trace, const CallTree& all,
                                   const report::Params& params) {
  std::map<std::string, Pattern> patterns;
  add_patterns(patterns, trace, all, params.text("operator", "aten::"), params.integer("least", 3));
  std::vector<Sequence> rows;
  for (const auto& [text, found] : patterns)
    rows.push_back({all.rank->rank, text, found.count, found.kernels, found.calls});
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Sequence& a, const Sequence& b) { return a.count > b.count; });
  return rows;
}

const report::Sheet<Sequence> kSequences{"Sequences",
                                         report::Shape::table,
                                         {report::rank_field<Sequence>(&Sequence::rank),
                                          {"sequence", &Sequence::sequence},
                                          {"count", &Sequence::count, Unit::count},
                                          {"kernel_time", &Sequence::kernel_time, Unit::ns},
                                          {"call_time", &Sequence::call_time, Unit::ns}}};

constexpr report::ParamSpec kParams[] = {
    {"operator", report::ParamSpec::Type::text, "aten::", "", "operators whose name contains this text"},
    {"least", report::ParamSpec::Type::integer, "3", "", "min device events per sequence"}};

}  // namespace

report::Report sequences_in(const std::vector<CallTree>& ranks, const trace::Trace& trace,
                            const report::Params& params) {
  std::vector<Sequence> rows;
  for (const CallTree& of : ranks)
    for (Sequence& row : sequences_of(trace, of, params)) rows.push_back(std::move(row));
  report::Report report{"kernel_sequences", {tabulate(kSequences, rows, trace.several())}, {}};
  if (rows.empty())
    report.notes.emplace_back(
        "No operator of this name launches that many device events in one call: try another --operator or a "
        "smaller --least.");
  return report;
}

constinit const About kernel_sequences_about = {kParams, false};

report::Report kernel_sequences(const Derived& derived, const report::Params& params) {
  std::vector<CallTree> ranks;
  for (const trace::Rank& rank : derived.trace().ranks) ranks.push_back(call_tree_of(rank, derived.choice()));
  return sequences_in(ranks, derived.trace(), params);
}

}  // namespace stepscope::analyze
