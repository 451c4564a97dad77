#include "derive/replay/plan.h"

#include <algorithm>

#include "base/sort_runs.h"
#include "derive/replay/waits.h"
#include "derive/row_time.h"
#include "derive/thread_role.h"

namespace stepscope::derive {
namespace {

using timeline::Time;
using trace::EventTable;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::TrackId;
using Node = ReplayPlan::Node;

constexpr std::size_t kMaxThreads = 16;                // max threads that hand work to each other
constexpr Time kMaxRecording = 1'000'000'000'000'000;  // ns, 11 days

/// Fills the calls that launched something or waited, and the events with their call and their previous
/// event.
class Planner {
 public:
  Planner(const trace::Trace& trace, const Rank& rank, ReplayPlan& plan)
      : trace_(trace), rank_(rank), e_(rank.events), plan_(plan) {}

  void plan(const std::vector<Waiting>& waiting) {
    add_calls(waiting);
    add_events();
    find_waits(trace_, rank_, plan_);
    const TrackId main = main_thread();
    plan_.handoffs = handoffs(rank_, host_threads(main), main, waiting);
    add_nodes();
    add_stretches();
  }

 private:
  void add_calls(const std::vector<Waiting>& waiting) {
    std::vector<bool> launches(e_.size());
    for (const Row row : rank_.device_rows())
      if (is_device_work(e_.kind[row]) && e_.launch[row] != kNoRow) launches[e_.launch[row]] = true;
    call_of_.assign(e_.size(), ReplayPlan::kNone);
    const auto calls = [&](Row row) { return launches[row] || waiting[row] != Waiting::no; };
    std::size_t count = 0;
    for (Row row = 0; row < e_.size(); ++row) count += calls(row);
    plan_.calls.reserve(count);
    for (Row row = 0; row < e_.size(); ++row) {
      if (!calls(row)) continue;
      call_of_[row] = static_cast<std::int32_t>(plan_.calls.size());
      plan_.calls.push_back({row, waiting[row]});
    }
  }

  void add_events() {
    std::vector<std::int32_t> last(rank_.tracks.size(), ReplayPlan::kNone);
    const auto rows = device_rows_by_start(rank_);
    plan_.events.reserve(rows.size()), plan_.start.reserve(rows.size()), plan_.end.reserve(rows.size());
    for (const Row row : rows) {
      const auto index = static_cast<std::int32_t>(plan_.events.size());
      ReplayPlan::Event event{row};
      std::int32_t& before = last[e_.track[row]];
      event.before = before;
      if (before == ReplayPlan::kNone || plan_.end[static_cast<std::size_t>(before)] <= e_.end[row])
        before = index;
      if (e_.launch[row] != kNoRow) event.call = call_of_[e_.launch[row]];
      plan_.events.push_back(event);
      plan_.start.push_back(e_.start[row]);
      plan_.end.push_back(e_.end[row]);
    }
  }

  std::vector<TrackId> host_threads(TrackId main) const {
    std::vector<bool> active(rank_.tracks.size());
    active[main] = true;
    for (const ReplayPlan::Call& call : plan_.calls) active[e_.track[call.row]] = true;
    std::vector<TrackId> threads;
    for (TrackId t = 0; t < active.size() && threads.size() < kMaxThreads; ++t)
      if (active[t]) threads.push_back(t);
    return threads;
  }
  TrackId main_thread() const {
    const std::vector<ThreadRole> roles = thread_roles(trace_, rank_);
    const auto found = std::find(roles.begin(), roles.end(), ThreadRole::main);
    return found == roles.end() ? 0 : static_cast<TrackId>(found - roles.begin());
  }

  /// The lists are nearly sorted: each is sorted separately, then merged.
  void add_nodes() {
    Column<Node> returns, events, rest;
    for (std::size_t i = 0; i < plan_.calls.size(); ++i)
      if (plan_.calls[i].waiting != Waiting::no)
        returns.push_back(node(e_.end[plan_.calls[i].row], Node::Kind::returns, i));
    for (std::size_t i = 0; i < plan_.events.size(); ++i) {
      const Row row = plan_.events[i].row, launch = e_.launch[row];
      const Time start = launch == kNoRow ? e_.start[row] : std::max(e_.start[row], e_.start[launch]);
      events.push_back(node(start, Node::Kind::event, i));
    }
    for (std::size_t i = 0; i < plan_.handoffs.size(); ++i)
      rest.push_back(node(plan_.handoffs[i].resumed, Node::Kind::handoff, i));
    for (std::size_t i = 0; i < plan_.marks.size(); ++i)
      rest.push_back(node(plan_.marks[i].time, Node::Kind::mark, i));
    for (Column<Node>* list : {&returns, &events, &rest}) {
      sort_runs(*list, earlier);
      plan_.nodes = merged(plan_.nodes, *list);
    }
  }
  void add_stretches() {
    for (TrackId t = 0; t < rank_.tracks.size(); ++t) plan_.stretches.push_back(t);
    const auto begin = [&](TrackId thread) {
      plan_.stretches.push_back(thread);
      return static_cast<std::uint32_t>(plan_.stretches.size() - 1);
    };
    for (ReplayPlan::Call& call : plan_.calls)
      if (call.waiting != Waiting::no) call.stretch = begin(e_.track[call.row]);
    plan_.first_of_handoffs = static_cast<std::uint32_t>(plan_.stretches.size());
    for (const Handoff& handoff : plan_.handoffs) begin(handoff.thread);
    const std::vector<std::uint32_t> of_call = stretches_of_calls();
    for (ReplayPlan::Event& event : plan_.events)
      if (event.call != ReplayPlan::kNone) event.stretch = of_call[static_cast<std::size_t>(event.call)];
  }
  /// By call: the stretch in which it launches. A call that waits for room launches in the stretch after its
  /// wait.
  std::vector<std::uint32_t> stretches_of_calls() const {
    std::vector<std::vector<std::pair<Time, std::uint32_t>>> begins(rank_.tracks.size());
    const auto add = [&](Time time, std::uint32_t stretch) {
      begins[plan_.stretches[stretch]].emplace_back(time, stretch);
    };
    for (const Node& node : plan_.nodes)
      if (node.kind == Node::Kind::returns)
        add(node.time, plan_.calls[node.index].stretch);
      else if (node.kind == Node::Kind::handoff)
        add(node.time, plan_.first_of_handoffs + node.index);
    std::vector<std::uint32_t> of_call;
    std::vector<std::size_t> begun(rank_.tracks.size());  // by thread, whose calls are in order
    for (const ReplayPlan::Call& call : plan_.calls) {
      const TrackId thread = e_.track[call.row];
      std::size_t& n = begun[thread];
      while (n < begins[thread].size() && begins[thread][n].first <= e_.start[call.row]) ++n;
      const std::uint32_t now = n == 0 ? thread : begins[thread][n - 1].second;
      of_call.push_back(call.waiting == Waiting::queue ? call.stretch : now);
    }
    return of_call;
  }
  static Node node(Time time, Node::Kind kind, std::size_t index) {
    return {time, kind, static_cast<std::uint32_t>(index)};
  }
  static bool earlier(const Node& a, const Node& b) {
    if (a.time != b.time) return a.time < b.time;
    return a.kind != b.kind ? a.kind < b.kind : a.index < b.index;
  }
  static Column<Node> merged(const Column<Node>& a, const Column<Node>& b) {
    Column<Node> both(a.size() + b.size());
    std::merge(a.begin(), a.end(), b.begin(), b.end(), both.begin(), earlier);
    return both;
  }

  const trace::Trace& trace_;
  const Rank& rank_;
  const EventTable& e_;
  ReplayPlan& plan_;
  Column<std::int32_t> call_of_;  // by row
};

/// True if the recording has events and is not impossibly long.
bool plausible(const EventTable& e) {
  Time first = 0, last = 0;
  bool any = false;
  for (Row row = 0; row < e.size(); ++row) {
    if (!is_host_range(e.kind[row]) && !is_device_work(e.kind[row])) continue;
    first = any ? std::min(first, e.start[row]) : e.start[row];
    last = any ? std::max(last, e.end[row]) : e.end[row];
    any = true;
  }
  return any && last - first <= kMaxRecording;
}

}  // namespace

ReplayPlan replay_plan(const trace::Trace& trace, const Rank& rank, const std::vector<Waiting>& waits,
                       std::vector<ReplayPlan::Mark> marks) {
  ReplayPlan plan;
  plan.marks = std::move(marks);
  if (plausible(rank.events)) Planner(trace, rank, plan).plan(waits);
  return plan;
}

}  // namespace stepscope::derive
