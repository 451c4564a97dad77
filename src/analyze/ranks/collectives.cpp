#include "analyze/ranks/collectives.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analyze/list.h"
#include "derive/kernel_class.h"
#include "report/sheet.h"
#include "report/statistics.h"
#include "trace/asked_once.h"

namespace stepscope::analyze {
namespace {

using derive::Collective;
using derive::Exchange;
using report::kNoReal;
using report::Role;
using report::Shape;
using report::Tag;
using report::Unit;
using timeline::Interval;
using trace::EventTable;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::Work;

struct Group {
  std::vector<std::int64_t> durations;
  std::int64_t total = 0, exposed = 0, host = 0;
};
using Key = std::tuple<Exchange, std::string_view, std::int64_t, std::int64_t>;  // dtype, group, bytes

/// When one step's gradients were reduced.
struct Reduction {
  std::int64_t first = trace::kNoTime;  ///< start of the step's first reduction
  std::int64_t exposed = 0;             ///< exposed time of its reductions, ns
  Column<Interval> backward;            ///< compute kernels of the backward pass
};

class Gatherer {
 public:
  Gatherer(const trace::Trace& trace, const Rank& rank, const std::vector<derive::DeviceBusy>& devices)
      : trace_(trace),
        rank_(rank),
        e_(rank.events),
        args_(trace, rank),
        communicates_(trace.strings, derive::is_communication_range),
        autograd_(trace.strings, derive::is_autograd_node) {
    for (const derive::DeviceBusy& busy : devices)
      alone_.emplace(busy.device, timeline::MeasuredSet(subtract(busy.communication, busy.compute)));
  }

  void run(Interval window) {
    for (const Row row : rank_.device_rows())
      if (e_.work[row] == Work::communication && window.contains(e_.start[row])) add(row);
    if (groups_.empty()) return;
    for (const Row row : rank_.device_rows())
      if (e_.work[row] == Work::compute && window.contains(e_.start[row]) && e_.step[row] >= 0 &&
          in_backward(row))
        steps_[e_.step[row]].backward.push_back({e_.start[row], e_.end[row]});
  }

  std::map<Key, Group>& groups() { return groups_; }
  std::map<std::int32_t, Reduction>& steps() { return steps_; }

 private:
  void add(Row row) {
    const Collective c = args_.of(row);
    Group& group = groups_[{c.exchange, trace_.text(c.dtype), c.group, c.bytes}];
    group.durations.push_back(e_.duration(row));
    report::add_to(group.total, e_.duration(row));
    std::int64_t exposed = 0;
    if (const auto alone = alone_.find(rank_.tracks[e_.track[row]].device); alone != alone_.end())
      exposed = alone->second.length_in({e_.start[row], e_.end[row]});
    report::add_to(group.exposed, exposed);
    report::add_to(group.host, host_time(row));
    if ((c.exchange != Exchange::all_reduce && c.exchange != Exchange::reduce_scatter) || e_.step[row] < 0)
      return;
    Reduction& step = steps_[e_.step[row]];
    step.first = step.first == trace::kNoTime ? e_.start[row] : std::min(step.first, e_.start[row]);
    report::add_to(step.exposed, exposed);
  }

  /// Duration of the outermost range around the launch that only communicates, else of the launch.
  std::int64_t host_time(Row row) {
    if (e_.launch[row] == kNoRow) return 0;
    Row outermost = e_.launch[row];
    for (Row at = outermost; at != kNoRow; at = e_.parent[at])
      if (communicates_(e_.name[at])) outermost = at;
    return e_.duration(outermost);
  }

  bool in_backward(Row row) {
    for (Row at = e_.launch[row]; at != kNoRow; at = e_.parent[at])
      if (autograd_(e_.name[at])) return true;
    return false;
  }

  const trace::Trace& trace_;
  const Rank& rank_;
  const EventTable& e_;
  const derive::CollectiveArgs args_;
  trace::AskedOnce<bool (*)(std::string_view)> communicates_, autograd_;
  std::unordered_map<std::int64_t, timeline::MeasuredSet> alone_;  // by device: collectives without compute
  std::map<Key, Group> groups_;
  std::map<std::int32_t, Reduction> steps_;
};

constexpr std::int64_t kBrief = 50'000;  // ns: anything shorter is latency rather than transfer

CollectiveSize size_of(const Rank& rank, const Key& key, Group& group) {
  const auto& [exchange, dtype, ranks, bytes] = key;
  CollectiveSize of{rank.rank, exchange, std::string(dtype)};
  if (ranks > 0) of.group_size = ranks;
  if (bytes > 0) of.bytes = bytes;
  of.count = std::ssize(group.durations);
  of.total = group.total;
  of.exposed = group.exposed;
  of.p50 = report::quantile(group.durations, 0.5);
  of.min = *std::min_element(group.durations.begin(), group.durations.end());
  of.max = *std::max_element(group.durations.begin(), group.durations.end());
  of.bus_rate = derive::bus_rate({exchange, trace::kEmptyString, ranks, bytes}, of.min).value_or(kNoReal);
  of.host = group.host;
  for (const std::int64_t duration : group.durations)
    if (duration < kBrief) report::add_to(of.brief, duration);
  return of;
}

void add_reductions(std::vector<StepReduction>& out, const Rank& rank,
                    const std::map<std::int32_t, Reduction>& steps) {
  for (const auto& [index, r] : steps) {
    if (r.first == trace::kNoTime || r.backward.empty()) continue;
    std::int64_t all = 0, over = 0;
    for (const Interval& kernel : r.backward) {
      report::add_to(all, kernel.length());
      report::add_to(over, timeline::overlap(kernel, {kernel.begin, r.first}));
    }
    out.push_back({rank.rank, rank.steps[static_cast<std::size_t>(index)].number, all, over,
                   report::ratio(over, all), r.exposed});
  }
}

const report::Sheet<CollectiveSize> kSizeSheet{
    "Collectives by size",
    Shape::table,
    {report::rank_field<CollectiveSize>(&CollectiveSize::rank),
     {"collective", report::named<&CollectiveSize::exchange>},
     {"dtype", &CollectiveSize::dtype},
     {"group_size", &CollectiveSize::group_size, Unit::count, Role::key},
     {"bytes", &CollectiveSize::bytes, Unit::bytes, Role::key},
     {"count", &CollectiveSize::count, Unit::count},
     {"total", &CollectiveSize::total, Unit::ns},
     {"exposed", &CollectiveSize::exposed, Unit::ns},
     {"p50", &CollectiveSize::p50, Unit::ns},
     {"min", &CollectiveSize::min, Unit::ns},
     {"max", &CollectiveSize::max, Unit::ns},
     {"bus_rate", &CollectiveSize::bus_rate, Unit::bytes_per_s},
     {"host", &CollectiveSize::host, Unit::ns, Role::detail},
     {"brief", &CollectiveSize::brief, Unit::ns, Role::detail}}};

const report::Sheet<StepReduction> kReductionSheet{
    "Reductions in the backward pass",
    Shape::table,
    {report::rank_field<StepReduction>(&StepReduction::rank),
     {"step", &StepReduction::step, Unit::none, Tag::of_one_run},
     {"backward", &StepReduction::backward, Unit::ns},
     {"before_first", &StepReduction::before_first, Unit::ns},
     {"before_share", &StepReduction::before_share, Unit::share, Role::share},
     {"exposed", &StepReduction::exposed, Unit::ns}}};

}  // namespace

Collectives collectives_of(const Derived& derived) {
  const trace::Trace& trace = derived.trace();
  Collectives all;
  for (const Rank& rank : trace.ranks) {
    Gatherer gatherer(trace, rank, derived.busy(rank));
    gatherer.run(window_of(rank, derived.choice()));
    const auto first = std::ssize(all.sizes);
    for (auto& [key, group] : gatherer.groups()) all.sizes.push_back(size_of(rank, key, group));
    std::stable_sort(all.sizes.begin() + first, all.sizes.end(),
                     [](const CollectiveSize& a, const CollectiveSize& b) { return a.total > b.total; });
    add_reductions(all.reductions, rank, gatherer.steps());
  }
  if (all.sizes.empty()) all.notes.emplace_back("No collective runs on a device in this recording.");
  return all;
}

constinit const About collectives_about = {};

report::Report collectives(const Derived& derived, const report::Params&) {
  const bool several = derived.trace().several();
  Collectives of = collectives_of(derived);
  return {"collectives",
          {tabulate(kSizeSheet, of.sizes, several), tabulate(kReductionSheet, of.reductions, several)},
          std::move(of.notes)};
}

}  // namespace stepscope::analyze
