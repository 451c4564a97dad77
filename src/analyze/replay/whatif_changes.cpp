#include "analyze/replay/whatif_changes.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyze/host/loops.h"
#include "base/text.h"
#include "derive/kernel_class.h"
#include "derive/kernel_kind.h"
#include "derive/roof/matrix_cores.h"
#include "trace/asked_once.h"

namespace stepscope::analyze {
namespace {

using derive::Changes;
using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::Work;
using What = Scale::What;

/// Scales of one kind and factor.
struct Wanted {
  What what;
  double factor;
  std::set<std::string_view> names;
  std::vector<std::string_view> parts;

  bool matches(std::string_view name) const {
    switch (what) {
      case What::data_loading:
        return derive::is_data_loading(name);
      case What::alloc:
        return derive::is_allocation_call(name);
      case What::launch:
        return derive::is_launch_call(name);
      case What::all_host:
        return true;
      default:
        return names.contains(name) || std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
                 return name.find(part) != std::string_view::npos;
               });
    }
  }
};

std::vector<Wanted> wanted_by(std::span<const Scale> scales) {
  std::vector<Wanted> all;
  std::map<std::pair<What, double>, std::size_t> places;
  for (const Scale& scale : scales) {
    const auto [place, added] = places.try_emplace({scale.what, scale.factor}, all.size());
    if (added) all.push_back({scale.what, scale.factor, {}, {}});
    Wanted& wanted = all[place->second];
    if (scale.parts.empty()) wanted.names.insert(scale.name);
    wanted.parts.insert(wanted.parts.end(), scale.parts.begin(), scale.parts.end());
  }
  return all;
}

/// Whether kernels, calls or ranges of a name are wanted.
struct Fits {
  const Wanted& wanted;
  derive::KernelSetting setting;

  bool operator()(std::string_view name) const {
    return wanted.what == What::plain_cores
               ? !derive::is_double_precision(name) &&
                     derive::is_plain_matrix_work(derive::matrix_cores_of(name, setting))
           : wanted.what == What::fp64 ? derive::is_double_precision(name)
           : wanted.what == What::kind ? wanted.matches(derive::name_of(derive::kernel_kind(name)))
                                       : wanted.matches(name);
  }
};
using Matcher = trace::AskedOnce<Fits>;

void scale_one(std::vector<double>& factors, std::size_t events, std::size_t index, double factor) {
  factors.resize(events, 1);
  factors[index] = factors[index] == 1 ? factor : std::min(factors[index], factor);
}

/// `fewer`: there are fewer events, not shorter ones. Fewer events also start less often, and removed ones
/// (factor 0) never start, so time to start scales too.
void scale_event(Changes& changes, std::size_t events, std::size_t index, double factor, bool fewer = false) {
  scale_one(changes.device, events, index, factor);
  if (fewer || factor == 0) scale_one(changes.starts, events, index, factor);
}

/// By row: whether device work is launched inside the host range.
std::vector<bool> ranges_that_launch(const Rank& rank) {
  const EventTable& e = rank.events;
  std::vector<bool> launching(e.size());
  for (const Row row : rank.device_rows())
    for (Row at = e.launch[row]; at != kNoRow && !launching[at]; at = e.parent[at]) launching[at] = true;
  return launching;
}

/// Host ranges that match and, for `op` and `device`, what was launched inside them.
bool add_ranges(Matcher& match, const Rank& rank, const derive::ReplayPlan& plan, const Wanted& wanted,
                Changes& changes) {
  const EventTable& e = rank.events;
  const bool calls = wanted.what == What::alloc || wanted.what == What::launch;
  const std::vector<bool> launching =
      wanted.what == What::quiet ? ranges_that_launch(rank) : std::vector<bool>(e.size());
  bool found = false;
  std::vector<bool> inside(e.size());
  for (const Row row : rank.host_rows()) {
    if (!is_host_range(e.kind[row]) || (calls && e.kind[row] != Kind::runtime)) continue;
    const bool below = e.parent[row] != kNoRow && inside[e.parent[row]];
    inside[row] = below || (match(e.name[row]) && !launching[row]);
    if (!inside[row] || below) continue;
    found = true;
    if (wanted.what != What::device) changes.host.push_back({row, wanted.factor});
  }
  for (std::size_t i = 0; wanted.what == What::launch && i < plan.events.size(); ++i)
    if (const Row launch = e.launch[plan.events[i].row]; plan.events[i].on_idle && inside[launch])
      scale_one(changes.starts, plan.events.size(), i, wanted.factor);
  if (wanted.what != What::device && wanted.what != What::op) return found;
  for (std::size_t i = 0; i < plan.events.size(); ++i) {
    const Row row = plan.events[i].row, launch = e.launch[row], op = e.op[row];
    if ((launch != kNoRow && inside[launch]) || (op != kNoRow && inside[op]))
      scale_event(changes, plan.events.size(), i, wanted.factor, wanted.what == What::op);
  }
  return found;
}

/// Removes rounds of the loops that match, with what they launch; the first `factor` of the rounds stay.
bool add_loops(const trace::Trace& trace, const Rank& rank, const derive::ReplayPlan& plan,
               const Wanted& wanted, Changes& changes) {
  const EventTable& e = rank.events;
  std::vector<bool> inside(e.size());
  bool found = false;
  for (const derive::RepeatedOps& run : derive::repeated_ops(trace, rank)) {
    if (!wanted.matches(loop_unit(trace, rank, run))) continue;
    found = true;
    const auto kept =
        static_cast<std::int64_t>(wanted.factor * static_cast<double>(run.times) * run.unit + 0.5);
    std::int64_t done = e.start[run.first], seen = 0;
    for (Row row = run.first;
         row < e.size() && e.track[row] == e.track[run.first] && e.start[row] < e.end[run.last]; ++row) {
      const bool next = e.kind[row] == Kind::op && e.start[row] >= done;
      if (next) {
        done = e.end[row];
        if (++seen > kept) changes.host.push_back({row, 0});
      }
      inside[row] = inside[row] || seen > kept;
    }
  }
  for (std::size_t i = 0; i < plan.events.size(); ++i)
    if (const Row launch = e.launch[plan.events[i].row]; launch != kNoRow && inside[launch])
      scale_event(changes, plan.events.size(), i, 0);
  return found;
}

bool compares(std::string_view op) {
  constexpr std::string_view kComparisons[] = {
      "eq",    "ne",       "lt",          "le",         "gt",          "ge",         "isnan",
      "isinf", "isfinite", "logical_and", "logical_or", "logical_not", "logical_xor"};
  return op.starts_with("aten::") &&
         std::find(std::begin(kComparisons), std::end(kComparisons), op.substr(6)) != std::end(kComparisons);
}

/// The operator called right before `op` by the same caller, if it is a comparison, else kNoRow: it made the
/// mask that `op` takes.
Row mask_before(const trace::Trace& trace, const Rank& rank, Row op) {
  const EventTable& e = rank.events;
  const Row first = rank.tracks[e.track[op]].begin, around = e.parent[op];
  for (Row row = op; row-- > first && row != around;)
    if (e.kind[row] == Kind::op && e.parent[row] == around)
      return compares(trace.name(rank, row)) ? row : kNoRow;
  return kNoRow;
}

/// Scales the outermost aten operators around an operator of that name that waits (aten::index around
/// aten::nonzero), the comparisons that made their masks, and what both launch.
bool add_waiting(const trace::Trace& trace, const Rank& rank, const derive::ReplayPlan& plan,
                 const Wanted& wanted, Changes& changes) {
  const EventTable& e = rank.events;
  std::vector<bool> inside(e.size());
  bool found = false;
  for (const derive::ReplayPlan::Call& call : plan.calls) {
    Row op = e.op[call.row];
    if (call.waiting != derive::Waiting::work || op == kNoRow || !wanted.matches(trace.name(rank, op)))
      continue;
    for (Row above = e.parent[op];
         above != kNoRow && e.kind[above] == Kind::op && trace.name(rank, above).starts_with("aten::");
         above = e.parent[above])
      op = above;
    found = true;
    if (inside[op]) continue;
    for (const Row gone : {mask_before(trace, rank, op), op}) {
      if (gone == kNoRow) continue;
      changes.host.push_back({gone, wanted.factor});
      for (Row row = gone; row < e.size() && e.track[row] == e.track[gone] && e.start[row] < e.end[gone];
           ++row)
        inside[row] = true;
    }
  }
  for (std::size_t i = 0; i < plan.events.size(); ++i)
    if (const Row launch = e.launch[plan.events[i].row]; launch != kNoRow && inside[launch])
      scale_event(changes, plan.events.size(), i, wanted.factor, true);
  return found;
}

bool add_events(Matcher& match, const Rank& rank, const derive::ReplayPlan& plan, const Wanted& wanted,
                Changes& changes) {
  const EventTable& e = rank.events;
  bool found = false;
  for (std::size_t i = 0; i < plan.events.size(); ++i) {
    const Row row = plan.events[i].row;
    const Work work = e.work[row];
    const bool meant =
        wanted.what == What::compute ? work == Work::compute
        : wanted.what == What::plain_cores || wanted.what == What::fp64 || wanted.what == What::kind
            ? work == Work::compute && match(e.name[row])
        : wanted.what == What::comm ? work == Work::communication
        : wanted.what == What::copy ? work == Work::copy || work == Work::fill
                                    : match(e.name[row]);
    if (!meant) continue;
    const Row launch = e.launch[row];
    found |= wanted.what != What::call || launch != kNoRow;
    if (wanted.what != What::call)
      scale_event(changes, plan.events.size(), i, wanted.factor);
    else if (launch != kNoRow)
      changes.host.push_back({launch, wanted.factor});
  }
  return found;
}

bool add_wanted(const trace::Trace& trace, const Rank& rank, const derive::ReplayPlan& plan,
                const Wanted& wanted, Changes& changes) {
  Fits fits{wanted, {}};
  if (!rank.devices.empty()) fits.setting = derive::setting_of(rank.devices.front());
  Matcher match(trace.strings, fits);
  switch (wanted.what) {
    case What::straggler:
      return false;
    case What::sync:
      changes.waits = std::min(changes.waits, wanted.factor);
      return std::any_of(plan.calls.begin(), plan.calls.end(),
                         [](const auto& call) { return call.waiting == derive::Waiting::work; });
    case What::compute:
    case What::plain_cores:
    case What::fp64:
    case What::comm:
    case What::copy:
    case What::kernel:
    case What::kind:
    case What::call:
      return add_events(match, rank, plan, wanted, changes);
    case What::loop:
      return add_loops(trace, rank, plan, wanted, changes);
    case What::waiting:
      return add_waiting(trace, rank, plan, wanted, changes);
    default:
      return add_ranges(match, rank, plan, wanted, changes);
  }
}

}  // namespace

std::vector<bool> stragglers_in(std::span<const Scale> scales, const trace::Trace& trace) {
  std::vector<bool> meant;
  for (const Scale& scale : scales)
    for (std::size_t r = 0; scale.what == What::straggler && r < trace.ranks.size(); ++r)
      if (std::to_string(trace.ranks[r].rank) == scale.name) {
        meant.resize(trace.ranks.size());
        meant[r] = true;
      }
  return meant;
}

bool add_changes(const trace::Trace& trace, const Rank& rank, const derive::ReplayPlan& plan,
                 std::span<const Scale> scales, Changes& changes) {
  bool found = false;
  for (const Wanted& wanted : wanted_by(scales)) found |= add_wanted(trace, rank, plan, wanted, changes);
  return found;
}

}  // namespace stepscope::analyze
