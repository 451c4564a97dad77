#include "analyze/kernels/copies.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "analyze/list.h"
#include "report/sheet.h"
#include "report/statistics.h"
#include "trace/asked_once.h"

namespace stepscope::analyze {
namespace {

using report::kNoReal;
using report::Role;
using report::Unit;
using timeline::Interval;
using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;

constexpr std::int64_t kSmall = 65'536, kLarge = 8'000'000;  // bytes
constexpr double kFastest = 1e18;                            // bytes/s; higher rates are capped

bool only_copies(std::string_view op) {
  return op == "aten::copy_" || op == "aten::_to_copy" || op == "aten::to";
}

bool makes_tensors(std::string_view op) {
  constexpr std::string_view kMakers[] = {"aten::zeros", "aten::ones",     "aten::full",    "aten::arange",
                                          "aten::eye",   "aten::randn",    "aten::rand",    "aten::randint",
                                          "aten::empty", "aten::randperm", "aten::linspace"};
  for (const std::string_view maker : kMakers)
    if (op == maker || (op.starts_with(maker) && op.substr(maker.size()) == "_like")) return true;
  return op == "aten::lift_fresh" || op == "aten::scalar_tensor" || op == "aten::tensor";
}

struct CopyGroup {
  trace::StringId name = trace::kEmptyString, op = trace::kEmptyString;
  std::int64_t count = 0, small = 0, created = 0, bytes = 0, total = 0, exposed = 0, host = 0;
  std::vector<std::int64_t> rates;  ///< of large copies, bytes/s
};

/// Groups the copies of one rank in a window by name and by the operator that launched them.
class CopyGatherer {
 public:
  CopyGatherer(const trace::Trace& trace, const Rank& rank, const std::vector<derive::DeviceBusy>& devices)
      : trace_(trace),
        rank_(rank),
        e_(rank.events),
        bytes_(trace, rank, "bytes"),
        copies_(trace.strings, only_copies),
        makers_(trace.strings, makes_tensors) {
    for (const derive::DeviceBusy& busy : devices)
      alone_.emplace(busy.device, timeline::MeasuredSet(subtract(busy.copy, busy.kernels)));
  }

  void add(Row row) {
    const Row op = e_.op[row] == kNoRow ? kNoRow : above_copies(e_.op[row]);
    const trace::StringId op_name = op == kNoRow ? trace::kEmptyString : e_.name[op];
    const auto [found, added] =
        index_.try_emplace(std::uint64_t{e_.name[row]} << 32 | op_name, groups_.size());
    if (added) groups_.emplace_back().name = e_.name[row], groups_.back().op = op_name;
    CopyGroup& group = groups_[found->second];
    const std::int64_t time = e_.duration(row), size = bytes_.integer_or(row, -1);
    ++group.count;
    report::add_to(group.total, time);
    if (const auto alone = alone_.find(rank_.tracks[e_.track[row]].device); alone != alone_.end())
      report::add_to(group.exposed, alone->second.length_in({e_.start[row], e_.end[row]}));
    if (e_.launch[row] != kNoRow) report::add_to(group.host, e_.duration(e_.launch[row]));
    if (op != kNoRow && follows_maker(op)) ++group.created;
    if (size < 0) return;
    report::add_to(group.bytes, size);
    group.small += size < kSmall;
    if (size >= kLarge && time > 0)
      group.rates.push_back(static_cast<std::int64_t>(
          std::min(kFastest, static_cast<double>(size) / (static_cast<double>(time) * 1e-9))));
  }

  /// Longest total first.
  std::vector<CopyGroup> sorted() && {
    std::sort(groups_.begin(), groups_.end(), [&](const CopyGroup& a, const CopyGroup& b) {
      if (a.total != b.total) return a.total > b.total;
      return std::tuple(trace_.text(a.name), trace_.text(a.op)) <
             std::tuple(trace_.text(b.name), trace_.text(b.op));
    });
    return std::move(groups_);
  }

 private:
  /// The operator above aten::to and its callees; the outermost of those if no operator is above them.
  Row above_copies(Row op) {
    Row at = op;
    while (copies_(e_.name[at])) {
      const Row parent = e_.parent[at];
      if (parent == kNoRow || e_.kind[parent] != Kind::op) break;
      at = parent;
    }
    return at;
  }

  /// Whether `op` copies a tensor that the operator right before it created.
  bool follows_maker(Row op) {
    if (!copies_(e_.name[op]) || op == 0) return false;
    Row at = op - 1;
    while (at != kNoRow && e_.track[at] == e_.track[op] && e_.parent[at] != e_.parent[op]) at = e_.parent[at];
    return at != kNoRow && e_.track[at] == e_.track[op] && e_.kind[at] == Kind::op && at != e_.parent[op] &&
           makers_(e_.name[at]);
  }

  const trace::Trace& trace_;
  const Rank& rank_;
  const EventTable& e_;
  trace::ArgReader bytes_;
  trace::AskedOnce<bool (*)(std::string_view)> copies_, makers_;
  std::unordered_map<std::int64_t, timeline::MeasuredSet> alone_;  // by device: copies without kernels
  std::unordered_map<std::uint64_t, std::size_t> index_;
  std::vector<CopyGroup> groups_;
};

OperatorCopies row_of(const trace::Trace& trace, const Rank& rank, CopyGroup& g) {
  const std::string_view name = trace.text(g.name);
  return {rank.rank,
          std::string(name),
          derive::copy_direction(name),
          derive::host_memory(name),
          std::string(trace.text(g.op)),
          g.count,
          g.bytes,
          g.total,
          g.exposed,
          g.host,
          g.small,
          g.created,
          static_cast<std::int64_t>(g.rates.size()),
          g.rates.empty() ? kNoReal : static_cast<double>(report::quantile(g.rates, 0.5))};
}

const report::Sheet<OperatorCopies> kCopySheet{
    "Copies by operator",
    report::Shape::table,
    {report::rank_field<OperatorCopies>(&OperatorCopies::rank),
     {"name", &OperatorCopies::name},
     {"op", &OperatorCopies::op},
     {"count", &OperatorCopies::count, Unit::count},
     {"bytes", &OperatorCopies::bytes, Unit::bytes},
     {"total", &OperatorCopies::total, Unit::ns},
     {"exposed", &OperatorCopies::exposed, Unit::ns},
     {"host", &OperatorCopies::host, Unit::ns},
     {"small", &OperatorCopies::small, Unit::count, Role::detail},
     {"created", &OperatorCopies::created, Unit::count, Role::detail},
     {"large", &OperatorCopies::large, Unit::count, Role::detail},
     {"large_rate", &OperatorCopies::large_rate, Unit::bytes_per_s, Role::detail}}};

}  // namespace

Copies copies_of(const Derived& derived) {
  const trace::Trace& trace = derived.trace();
  Copies of;
  for (const Rank& rank : trace.ranks) {
    const Interval window = window_of(rank, derived.choice());
    CopyGatherer gatherer(trace, rank, derived.busy(rank));
    for (const Row row : rank.device_rows())
      if (rank.events.kind[row] == Kind::memcpy && window.contains(rank.events.start[row])) gatherer.add(row);
    for (CopyGroup& group : std::move(gatherer).sorted()) of.copies.push_back(row_of(trace, rank, group));
  }
  if (of.copies.empty()) of.notes.emplace_back("No copy is recorded.");
  return of;
}

constinit const About copies_about = {};

report::Report copies(const Derived& derived, const report::Params&) {
  Copies of = copies_of(derived);
  return {"copies", {tabulate(kCopySheet, of.copies, derived.trace().several())}, std::move(of.notes)};
}

}  // namespace stepscope::analyze
