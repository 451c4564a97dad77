// Which collectives ran, how large and how fast, which of them nothing hid, and when gradients were reduced.
#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "derive/kernel_class.h"
#include "derive/ranks/collective.h"
#include "report/statistics.h"
#include "trace/asked_once.h"

namespace stepscope::analyze {
namespace {

using derive::Collective;
using derive::Exchange;
using report::kNoInt;
using report::kNoReal;
using report::Role;
using report::Shape;
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
  std::int64_t exposed = 0;             ///< of its reductions, ns
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
    for_device_rows([&](Row row) {
      if (e_.work[row] == Work::communication && window.contains(e_.start[row])) add(row);
    });
    if (groups_.empty()) return;
    for_device_rows([&](Row row) {
      if (e_.work[row] == Work::compute && window.contains(e_.start[row]) && e_.step[row] >= 0 &&
          in_backward(row))
        steps_[e_.step[row]].backward.push_back({e_.start[row], e_.end[row]});
    });
  }

  std::map<Key, Group>& groups() { return groups_; }
  std::map<std::int32_t, Reduction>& steps() { return steps_; }

 private:
  template <class Visit>
  void for_device_rows(Visit visit) const {
    for (const trace::Track& track : rank_.tracks)
      if (track.side == trace::Track::Side::device)
        for (Row row = track.begin; row < track.end; ++row) visit(row);
  }

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

  /// Of the outermost range that only communicates, above the launch.
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
  std::unordered_map<std::int64_t, timeline::MeasuredSet> alone_;  // by device: only collectives run
  std::map<Key, Group> groups_;
  std::map<std::int32_t, Reduction> steps_;
};

constexpr std::int64_t kBrief = 50'000;  // ns: latency rather than transfer

struct CollectiveTable {
  explicit CollectiveTable(const trace::Trace& trace)
      : rank(table, trace),
        what(table.texts("collective")),
        dtype(table.texts("dtype")),
        size(table.ints("group_size", Unit::count, Role::key)),
        bytes(table.ints("bytes", Unit::bytes, Role::key)),
        count(table.ints("count", Unit::count)),
        total(table.ints("total", Unit::ns)),
        exposed(table.ints("exposed", Unit::ns)),
        p50(table.ints("p50", Unit::ns)),
        min(table.ints("min", Unit::ns)),
        max(table.ints("max", Unit::ns)),
        rate(table.reals("bus_rate", Unit::bytes_per_s)),
        host(table.ints("host", Unit::ns, Role::detail)),
        brief(table.ints("brief", Unit::ns, Role::detail)) {}

  void add(const Rank& of, const Key& key, Group& group) {
    const auto& [exchange, type, ranks, size_in_bytes] = key;
    rank.add(of);
    what.emplace_back(derive::name_of(exchange));
    dtype.emplace_back(type);
    size.push_back(ranks > 0 ? ranks : kNoInt);
    bytes.push_back(size_in_bytes > 0 ? size_in_bytes : kNoInt);
    count.push_back(static_cast<std::int64_t>(group.durations.size()));
    total.push_back(group.total);
    exposed.push_back(group.exposed);
    p50.push_back(report::quantile(group.durations, 0.5));
    min.push_back(*std::min_element(group.durations.begin(), group.durations.end()));
    max.push_back(*std::max_element(group.durations.begin(), group.durations.end()));
    rate.push_back(derive::bus_rate({exchange, trace::kEmptyString, ranks, size_in_bytes}, min.back())
                       .value_or(kNoReal));
    host.push_back(group.host);
    std::int64_t sum = 0;
    for (const std::int64_t duration : group.durations)
      if (duration < kBrief) report::add_to(sum, duration);
    brief.push_back(sum);
  }

  report::Table table{"Collectives by size", Shape::table, {}};
  RankColumn rank;
  report::Texts &what, &dtype;
  report::Ints &size, &bytes, &count, &total, &exposed, &p50, &min, &max;
  report::Reals& rate;
  report::Ints &host, &brief;
};

struct ReductionTable {
  explicit ReductionTable(const trace::Trace& trace)
      : rank(table, trace),
        step(table.ints("step", Unit::none, Role::key)),
        backward(table.ints("backward", Unit::ns)),
        before(table.ints("before_first", Unit::ns)),
        share(table.reals("before_share", Unit::share, Role::share)),
        exposed(table.ints("exposed", Unit::ns)) {}

  void add(const Rank& of, std::int32_t index, const Reduction& r) {
    if (r.first == trace::kNoTime || r.backward.empty()) return;
    std::int64_t all = 0, over = 0;
    for (const Interval& kernel : r.backward) {
      report::add_to(all, kernel.length());
      report::add_to(over, timeline::overlap(kernel, {kernel.begin, r.first}));
    }
    rank.add(of);
    step.push_back(of.steps[static_cast<std::size_t>(index)].number);
    backward.push_back(all);
    before.push_back(over);
    share.push_back(report::ratio(over, all));
    exposed.push_back(r.exposed);
  }

  report::Table table{"Reductions in the backward pass", Shape::table, {}};
  RankColumn rank;
  report::Ints &step, &backward, &before;
  report::Reals& share;
  report::Ints& exposed;
};

constexpr std::string_view kNoCollective = "No collective runs on a device in this recording.";

}  // namespace

constinit const About collectives_about = {
    {}, true, Needs::one_rank, [](report::Report& report) { take_back(report, kNoCollective); }};

report::Report collectives(const Derived& derived, const report::Params&) {
  const trace::Trace& trace = derived.trace();
  CollectiveTable out(trace);
  ReductionTable reductions(trace);
  report::Report report{"collectives", {}, {}};
  for (const Rank& rank : trace.ranks) {
    Gatherer gatherer(trace, rank, derived.busy(rank));
    gatherer.run(window_of(rank, derived.choice()));
    std::vector<std::pair<const Key, Group>*> order;
    for (auto& group : gatherer.groups()) order.push_back(&group);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto* a, const auto* b) { return a->second.total > b->second.total; });
    for (auto* group : order) out.add(rank, group->first, group->second);
    for (const auto& [step, reduction] : gatherer.steps()) reductions.add(rank, step, reduction);
  }
  if (out.table.rows() == 0) report.notes.emplace_back(kNoCollective);
  report.tables.push_back(std::move(out.table));
  report.tables.push_back(std::move(reductions.table));
  return report;
}

}  // namespace stepscope::analyze
