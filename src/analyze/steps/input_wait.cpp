// Time the program waited for data, step by step, and how much of it the device was idle.
#include <algorithm>
#include <map>
#include <tuple>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "derive/idle/device_busy.h"
#include "derive/idle/loading.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using report::kNoInt;
using report::kNoReal;
using report::Role;
using report::Shape;
using report::Unit;
using timeline::Interval;
using timeline::IntervalSet;
using timeline::MeasuredSet;
using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;

/// One wait: an outermost loading range.
struct Wait {
  Row row;
  Interval span;
  std::string_view loader, kind;
  std::int64_t exposed = kNoInt;
};

/// "single-process", "multi-process" or, when neither the mark nor the frames below tell, "".
std::string_view kind_of(const trace::Trace& trace, const Rank& rank, Row row) {
  const std::string_view name = trace.name(rank, row);
  if (name.find("_SingleProcess") != std::string_view::npos) return "single-process";
  if (name.find("_MultiProcessing") != std::string_view::npos) return "multi-process";
  const EventTable& e = rank.events;
  const Row end = rank.tracks[e.track[row]].end;
  for (Row below = row + 1; below < end && e.start[below] < e.end[row]; ++below) {
    if (e.kind[below] != Kind::python) continue;
    const std::string_view frame = trace.name(rank, below);
    if (frame.ends_with(": _try_get_data")) return "multi-process";
    if (frame.find("_utils/fetch.py(") != std::string_view::npos) return "single-process";
  }
  return "";
}

std::string_view short_name(std::string_view mark) {
  const std::size_t at = mark.find('#');
  return at == std::string_view::npos ? mark : mark.substr(at + 1);
}

/// All waits of the rank, by start. `busy` is nullptr when the rank has no device.
std::vector<Wait> waits_of(const trace::Trace& trace, const Rank& rank, const MeasuredSet* busy) {
  std::vector<Wait> waits;
  for (const Row row : derive::loading_rows(trace, rank)) {
    const Interval span{rank.events.start[row], rank.events.end[row]};
    Wait wait{row, span, short_name(trace.name(rank, row)), kind_of(trace, rank, row), kNoInt};
    if (busy != nullptr) wait.exposed = span.length() - busy->length_in(span);
    waits.push_back(wait);
  }
  std::stable_sort(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) {
    return std::tuple(a.span.begin, a.span.end, a.loader) < std::tuple(b.span.begin, b.span.end, b.loader);
  });
  return waits;
}

IntervalSet united(const std::vector<Wait>& waits) {
  Column<Interval> spans;
  for (const Wait& wait : waits) spans.push_back(wait.span);
  return IntervalSet::of(std::move(spans));
}

struct StepTable {
  explicit StepTable(const trace::Trace& trace)
      : rank(table, trace),
        step(table.texts("step")),
        kind(table.texts("loader", Role::detail)),
        count(table.ints("count", Unit::count)),
        total(table.ints("total", Unit::ns)),
        share(table.reals("share", Unit::share, Role::share)),
        exposed(table.ints("exposed", Unit::ns)),
        exposed_share(table.reals("exposed_share", Unit::share, Role::value)),
        max(table.ints("max", Unit::ns)) {}
  report::Table table{"Waiting for data by step", Shape::bars, {}};
  RankColumn rank;
  report::Texts &step, &kind;
  report::Ints &count, &total;
  report::Reals& share;
  report::Ints& exposed;
  report::Reals& exposed_share;
  report::Ints& max;
};

void add_steps(StepTable& out, const Rank& rank, const StepChoice& choice, const std::vector<Wait>& waits,
               const MeasuredSet* busy) {
  const IntervalSet waiting = united(waits);
  const IntervalSet exposed = busy == nullptr ? IntervalSet{} : subtract(waiting, busy->set());
  struct InStep {
    std::int64_t count = 0, longest = 0;
    std::string_view kind;
  };
  std::vector<InStep> in_step(rank.steps.size());
  for (const Wait& wait : waits) {
    if (rank.events.step[wait.row] < 0) continue;
    InStep& in = in_step[static_cast<std::size_t>(rank.events.step[wait.row])];
    in.kind = in.count == 0 || in.kind == wait.kind ? wait.kind : "several";
    ++in.count;
    in.longest = std::max(in.longest, wait.span.length());
  }
  for (std::size_t i = 0; i < rank.steps.size(); ++i) {
    const trace::Step& step = rank.steps[i];
    if (!choice.includes(step)) continue;
    const InStep& in = in_step[i];
    const Interval span{step.start, step.end};
    const std::int64_t total = waiting.length_in(span), bare = exposed.length_in(span);
    out.rank.add(rank);
    out.step.push_back(step.row == kNoRow ? "all" : std::to_string(step.number));
    out.kind.emplace_back(in.kind);
    out.count.push_back(in.count);
    out.total.push_back(total);
    out.share.push_back(report::ratio(total, span.length()));
    out.exposed.push_back(busy == nullptr ? kNoInt : bare);
    out.exposed_share.push_back(busy == nullptr ? kNoReal : report::ratio(bare, span.length()));
    out.max.push_back(in.count == 0 ? kNoInt : in.longest);
  }
}

struct LoaderTable {
  explicit LoaderTable(const trace::Trace& trace)
      : rank(table, trace),
        loader(table.texts("loader")),
        kind(table.texts("kind", Role::detail)),
        count(table.ints("count", Unit::count)),
        total(table.ints("total", Unit::ns)),
        exposed(table.ints("exposed", Unit::ns)),
        mean(table.ints("mean", Unit::ns)),
        p50(table.ints("p50", Unit::ns)),
        min(table.ints("min", Unit::ns)),
        max(table.ints("max", Unit::ns)) {}
  report::Table table{"Loaders", Shape::table, {}};
  RankColumn rank;
  report::Texts &loader, &kind;
  report::Ints &count, &total, &exposed, &mean, &p50, &min, &max;
};

struct WaitTable {
  explicit WaitTable(const trace::Trace& trace)
      : rank(table, trace),
        start(table.ints("start", Unit::ns, Role::key)),
        step(table.texts("step", Role::detail)),
        loader(table.texts("loader", Role::detail)),
        length(table.ints("length", Unit::ns)),
        exposed(table.ints("exposed", Unit::ns)) {}
  report::Table table{"Each wait", Shape::table, {}};
  RankColumn rank;
  report::Ints& start;
  report::Texts &step, &loader;
  report::Ints &length, &exposed;
};

void add_waits(LoaderTable& loaders, WaitTable& each, const Rank& rank, const StepChoice& choice,
               const std::vector<Wait>& waits) {
  struct Sum {
    std::vector<std::int64_t> lengths;
    std::int64_t total = 0, exposed = 0;
    bool known = false;
  };
  std::map<std::pair<std::string_view, std::string_view>, Sum> sums;
  const std::int64_t origin = origin_of(rank);
  for (const Wait& wait : waits) {
    if (!choice.includes(rank, wait.row)) continue;
    Sum& sum = sums[{wait.loader, wait.kind}];
    sum.lengths.push_back(wait.span.length());
    report::add_to(sum.total, wait.span.length());
    sum.known = wait.exposed != kNoInt;
    if (sum.known) report::add_to(sum.exposed, wait.exposed);
    const std::int32_t step = rank.events.step[wait.row];
    each.rank.add(rank);
    each.start.push_back(wait.span.begin - origin);
    each.step.push_back(step < 0 ? "" : std::to_string(rank.steps[static_cast<std::size_t>(step)].number));
    each.loader.emplace_back(wait.loader);
    each.length.push_back(wait.span.length());
    each.exposed.push_back(wait.exposed);
  }
  for (auto& [key, sum] : sums) {
    loaders.rank.add(rank);
    loaders.loader.emplace_back(key.first);
    loaders.kind.emplace_back(key.second);
    loaders.count.push_back(static_cast<std::int64_t>(sum.lengths.size()));
    loaders.total.push_back(sum.total);
    loaders.exposed.push_back(sum.known ? sum.exposed : kNoInt);
    loaders.mean.push_back(report::mean(sum.total, static_cast<std::int64_t>(sum.lengths.size())));
    const auto [least, most] = std::minmax_element(sum.lengths.begin(), sum.lengths.end());
    loaders.min.push_back(*least);
    loaders.max.push_back(*most);
    loaders.p50.push_back(report::quantile(sum.lengths, 0.5));
  }
}

constexpr std::string_view kNoLoading =
    "No data loading is recorded. A torch DataLoader marks itself when its loop runs inside the recording "
    "with "
    "ProfilerActivity.CPU; put other loaders in record_function(\"enumerate(DataLoader)#name.__next__\").";

}  // namespace

constinit const About input_wait_about = {
    {}, true, Needs::one_rank, [](report::Report& report) { take_back(report, kNoLoading); }};

report::Report input_wait(const Derived& derived, const report::Params&) {
  const trace::Trace& trace = derived.trace();
  const StepChoice& choice = derived.choice();
  StepTable steps(trace);
  LoaderTable loaders(trace);
  WaitTable each(trace);
  report::Report report{"input_wait", {}, {}};
  bool any = false, device = false;
  for (const Rank& rank : trace.ranks) {
    const MeasuredSet busy(derive::busy_time(derived.busy(rank)));
    const MeasuredSet* known = busy.set().empty() ? nullptr : &busy;
    const std::vector<Wait> waits = waits_of(trace, rank, known);
    if (waits.empty()) continue;
    any = true;
    device |= known != nullptr;
    add_steps(steps, rank, choice, waits, known);
    add_waits(loaders, each, rank, choice, waits);
  }
  if (!any) {
    report.notes.emplace_back(kNoLoading);
  } else if (!device) {
    report.notes.emplace_back(
        "No device activity is recorded, so exposed waits are not known: all waits may be.");
  }
  for (report::Table* table : {&steps.table, &loaders.table, &each.table})
    report.tables.push_back(std::move(*table));
  return report;
}

}  // namespace stepscope::analyze
