#include "analyze/idle/idle_places.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "analyze/question.h"
#include "base/key_hash.h"
#include "derive/idle/host_pieces.h"
#include "derive/idle/idle_place.h"
#include "derive/idle/loading.h"
#include "derive/source_line.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::IdleCause;
using derive::IdlePiece;
using report::Role;
using report::Shape;
using report::Unit;
using trace::kNoRow;
using trace::Rank;
using trace::Row;

constexpr std::size_t kMaxPlaces = 200;

struct Around {
  InLoop gap = InLoop::in_step;  ///< `between_steps` if a step begins inside the gap
  bool after_loading = false;    ///< after a wait for data, before the next launch
};

/// Start times of the calls that launched device work, ascending.
std::vector<std::int64_t> launch_times(const Rank& rank) {
  const trace::EventTable& e = rank.events;
  std::vector<std::int64_t> times;
  for (const Row row : rank.device_rows())
    if (is_device_work(e.kind[row]) && e.launch[row] != kNoRow) times.push_back(e.start[e.launch[row]]);
  std::sort(times.begin(), times.end());
  return times;
}

/// Whether a time lies after a wait for data and before the next of `launches` (ascending). A device that is
/// still busy when the wait ends becomes idle later, while the host works on the batch. `before_next_wait`:
/// only if that launch comes before the next wait; a loop that only evaluates has none.
class SinceLoading {
 public:
  SinceLoading(timeline::IntervalSet loading, std::vector<std::int64_t> launches, bool before_next_wait)
      : loading_(std::move(loading)), launches_(std::move(launches)), before_next_wait_(before_next_wait) {}
  bool holds(std::int64_t time) const {
    const auto parts = loading_.parts();
    const auto next = std::upper_bound(parts.begin(), parts.end(), time,
                                       [](std::int64_t t, const auto& part) { return t < part.end; });
    if (next == parts.begin() || (next - 1)->length() == 0) return false;
    const auto launch = std::lower_bound(launches_.begin(), launches_.end(), (next - 1)->end);
    if (before_next_wait_ && next != parts.end() && (launch == launches_.end() || *launch >= next->begin))
      return false;
    return launch == launches_.end() || *launch > time;
  }

 private:
  timeline::IntervalSet loading_;
  std::vector<std::int64_t> launches_;
  bool before_next_wait_;
};

/// `same_gap`: whether two pieces belong to the same gap.
template <class SameGap>
std::vector<Around> around_pieces(const Rank& rank, const Column<IdlePiece>& pieces,
                                  const SinceLoading& since_loading, SameGap same_gap) {
  std::vector<std::int64_t> starts;
  for (const trace::Step& step : rank.steps)
    if (step.counts()) starts.push_back(step.start);
  std::sort(starts.begin(), starts.end());
  std::vector<Around> around(pieces.size());
  for (std::size_t first = 0, last = 0; first < pieces.size(); first = last) {
    for (last = first + 1; last < pieces.size() && same_gap(pieces[last], pieces[first]);) ++last;
    const auto step = std::upper_bound(starts.begin(), starts.end(), pieces[first].span.begin);
    const bool border = step != starts.end() && *step < pieces[last - 1].span.end;
    for (std::size_t i = first; i < last; ++i)
      around[i] = {border ? InLoop::between_steps : InLoop::in_step,
                   pieces[i].cause != IdleCause::input && since_loading.holds(pieces[i].span.begin)};
  }
  return around;
}

struct Key {
  IdleCause cause;
  trace::StringId place, region;
  InLoop where;
  friend bool operator==(const Key&, const Key&) = default;
};
struct KeyHash {
  std::size_t operator()(const Key& k) const {
    return hash_of_all(process_hash_seed(), k.cause, k.place, k.region, k.where);
  }
};
struct Sum {
  std::int64_t count = 0, time = 0, longest = 0;
  Row row = kNoRow;  ///< host range of the longest part
};

/// Sums by cause, name of the place, name of the region and InLoop.
class Sums {
 public:
  Sums(const Rank& rank, const Column<IdlePiece>& pieces, const std::vector<Around>& around)
      : e_(rank.events), pieces_(pieces), around_(around) {}

  void add(const derive::IdlePlace& place) {
    const IdlePiece& piece = pieces_[place.piece];
    const Around& around = around_[place.piece];
    const Row launch = piece.ender == kNoRow ? kNoRow : e_.launch[piece.ender];
    // A range that is still open when the launch begins already leads to this launch.
    const bool ends_before = place.row == kNoRow || launch == kNoRow || e_.end[place.row] < e_.start[launch];
    const InLoop at = around.after_loading && ends_before ? InLoop::after_loading : around.gap;
    Sum& sum = of_[{piece.cause, name(place.row), name(place.outermost), at}];
    ++sum.count;
    report::add_to(sum.time, place.time);
    if (sum.count > 1 && place.time <= sum.longest) return;
    sum.longest = place.time;
    sum.row = place.row;
  }
  const std::unordered_map<Key, Sum, KeyHash>& of() const { return of_; }

 private:
  trace::StringId name(Row row) const { return row == kNoRow ? trace::kEmptyString : e_.name[row]; }

  const trace::EventTable& e_;
  const Column<IdlePiece>& pieces_;
  const std::vector<Around>& around_;
  std::unordered_map<Key, Sum, KeyHash> of_;
};

/// `devices`: number of devices to average over.
void add_places(std::vector<HostPlace>& places, const trace::Trace& trace, const Rank& rank, const Sums& sums,
                std::int64_t devices, std::int64_t steps) {
  std::vector<const std::pair<const Key, Sum>*> order;
  for (const auto& entry : sums.of()) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [&](const auto* a, const auto* b) {
    const auto texts = [&](const Key& k) {
      return std::tuple(trace.text(k.place), trace.text(k.region), k.cause, k.where);
    };
    return a->second.time != b->second.time ? a->second.time > b->second.time
                                            : texts(a->first) < texts(b->first);
  });
  if (order.size() > kMaxPlaces) order.resize(kMaxPlaces);
  derive::SourceLines lines(trace, rank);
  for (const auto* entry : order) {
    const auto& [key, sum] = *entry;
    places.push_back({rank.rank, key.cause, std::string(trace.text(key.place)),
                      std::string(sum.row == kNoRow ? "" : lines.of(sum.row)),
                      std::string(trace.text(key.region)), key.where, sum.count, sum.time / devices,
                      steps == 0 ? report::kNoInt : sum.time / devices / steps, sum.longest});
  }
}

}  // namespace

std::string_view name_of(InLoop where) {
  constexpr std::string_view kNames[] = {"in a step", "between steps", "after loading"};
  return kNames[static_cast<std::size_t>(where)];
}

const report::Sheet<HostPlace> kPlaceSheet{"Idle time by place",
                                           report::Shape::table,
                                           {report::rank_field<HostPlace>(&HostPlace::rank),
                                            {"cause", report::named<&HostPlace::cause>},
                                            {"place", &HostPlace::place},
                                            {"source", &HostPlace::source, Role::detail},
                                            {"region", &HostPlace::region, Role::detail},
                                            {"where", report::named<&HostPlace::where>, Role::value},
                                            {"count", &HostPlace::count, Unit::count},
                                            {"time", &HostPlace::time, Unit::ns},
                                            {"per_step", &HostPlace::per_step, Unit::ns},
                                            {"longest", &HostPlace::longest, Unit::ns}}};

void add_idle_places(std::vector<HostPlace>& places, const Derived& derived, const Rank& rank,
                     std::int64_t steps) {
  const trace::Trace& trace = derived.trace();
  const auto devices = static_cast<std::int64_t>(derived.busy(rank).size());
  if (devices == 0) return;
  const Column<IdlePiece>& pieces = derived.idle(rank);
  const std::vector<Around> around = around_pieces(
      rank, pieces, SinceLoading(derive::loading_time(trace, rank), launch_times(rank), false),
      [](const IdlePiece& a, const IdlePiece& b) { return a.ender == b.ender && a.device == b.device; });
  Sums sums(rank, pieces, around);
  derive::for_each_idle_place(trace, rank, pieces, [&](const auto& place) { sums.add(place); });
  add_places(places, trace, rank, sums, devices, steps);
}

void add_host_places(std::vector<HostPlace>& places, const Derived& derived, const Rank& rank,
                     std::int64_t steps) {
  const trace::Trace& trace = derived.trace();
  const auto main = derive::main_thread(trace, rank);
  if (!main) return;
  const Column<IdlePiece> pieces = derive::host_pieces(trace, rank, *main, window_of(rank, derived.choice()));
  std::vector<std::int64_t> begins = derive::forward_begins(trace, rank);
  timeline::IntervalSet loading;
  if (!begins.empty())
    loading = derive::loading_time(trace, rank);  // without a forward pass nothing is after loading
  const std::vector<Around> around =
      around_pieces(rank, pieces, SinceLoading(std::move(loading), std::move(begins), true),
                    [](const IdlePiece& a, const IdlePiece& b) {
                      return (a.cause == IdleCause::op) == (b.cause == IdleCause::op);
                    });
  Sums sums(rank, pieces, around);
  derive::for_each_place_on(trace, rank, *main, pieces, [&](const auto& place) { sums.add(place); });
  add_places(places, trace, rank, sums, 1, steps);
}

const IdleHosts& idle_hosts(const Derived& derived, const Rank& rank) {
  const auto index = static_cast<int>(&rank - derived.trace().ranks.data());
  return derived.kept<IdleHosts>(index, [&] {
    const Column<IdlePiece>& pieces = derived.idle(rank);
    IdleHosts hosts{std::vector<Row>(pieces.size(), kNoRow)};
    for (std::size_t i = 0; i < pieces.size(); ++i)
      if (pieces[i].cause == IdleCause::pending && pieces[i].ender != kNoRow)
        hosts.of_piece[i] = rank.events.launch[pieces[i].ender];
    std::vector<std::int64_t> longest(pieces.size());
    derive::for_each_idle_place(derived.trace(), rank, pieces, [&](const derive::IdlePlace& place) {
      if (place.time <= longest[place.piece]) return;
      longest[place.piece] = place.time;
      hosts.of_piece[place.piece] = place.row;
    });
    return hosts;
  });
}

}  // namespace stepscope::analyze
