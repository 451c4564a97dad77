#include "analyze/ranks/rank_communication.h"

#include <map>

#include "analyze/derived.h"
#include "analyze/host/module_paths.h"
#include "derive/call_paths.h"
#include "derive/kernel_class.h"
#include "derive/ranks/collective.h"

namespace stepscope::analyze {
namespace {

using derive::kNoPath;
using derive::PathId;
using trace::Kind;
using trace::kNoRow;
using trace::Row;

constexpr int kMaxNested = 1'000;  // max ranges searched, from the innermost one

class CallPlaces {
 public:
  CallPlaces(const trace::Trace& trace, const trace::Rank& rank, RankCommunication& out)
      : trace_(trace), rank_(rank), modules_(module_paths(trace, rank, StepChoice({}))), out_(out) {
    out_.modules = modules_.paths.size() > 0;
  }

  std::uint32_t of(Row collective) {
    const IssuePlace place = find(collective);
    const auto [found, added] = ids_.try_emplace(place, static_cast<std::uint32_t>(out_.places.size()));
    if (added) out_.places.push_back(place);
    return found->second;
  }

 private:
  using Where = IssuePlace::Kind;

  IssuePlace find(Row collective) {
    const trace::EventTable& e = rank_.events;
    const bool on_device = collective >= rank_.first_device_row();
    const Row from = on_device ? derive::launched_from(e, collective) : e.parent[collective];
    if (from == kNoRow) return {};
    if (const PathId own = modules_.host.path[from]; own != kNoPath) return {Where::module, text_of(own)};
    if (const PathId forward = modules_.backward[from]; forward != kNoPath)
      return {Where::module_backward, text_of(forward)};
    IssuePlace issuer;
    Row at = from;
    for (int level = 0; at != kNoRow && level < kMaxNested; ++level, at = e.parent[at]) {
      const std::string_view name = trace_.name(rank_, at);
      if ((e.kind[at] != Kind::op && e.kind[at] != Kind::annotation) || derive::is_step_mark(name)) continue;
      issuer = {e.kind[at] == Kind::op ? Where::op : Where::annotation, std::string(name)};
      if (!derive::is_communication_range(name)) break;
    }
    return issuer;
  }

  const std::string& text_of(PathId path) {
    const auto [found, added] = texts_.try_emplace(path);
    if (!added) return found->second;
    std::vector<std::string_view> names;
    for (PathId at = path; at != kNoPath; at = modules_.paths.parent(at))
      names.push_back(modules_.paths.name(at));
    for (auto name = names.rbegin(); name != names.rend(); ++name)
      (found->second += found->second.empty() ? "" : "/") += *name;
    return found->second;
  }

  const trace::Trace& trace_;
  const trace::Rank& rank_;
  const ModulePaths modules_;
  RankCommunication& out_;
  std::map<IssuePlace, std::uint32_t> ids_;
  std::map<PathId, std::string> texts_;
};

}  // namespace

RankCommunication rank_communication(const Derived& derived, const trace::Rank& rank,
                                     std::span<const derive::CollectiveRow> rows) {
  RankCommunication out;
  out.window = window_of(rank, derived.choice());
  if (rows.empty()) return out;
  std::map<std::int64_t, std::uint32_t> devices;
  for (const derive::DeviceBusy& busy : derived.busy(rank)) {
    if (busy.communication.empty()) continue;
    devices.emplace(busy.device, static_cast<std::uint32_t>(out.devices.size()));
    const timeline::IntervalSet running = busy.communication.within(out.window);
    out.devices.push_back({busy.device, running, subtract(running, busy.compute)});
  }
  CallPlaces places(derived.trace(), rank, out);
  for (const derive::CollectiveRow& row : rows) {
    const trace::Track& track = rank.tracks[rank.events.track[row.row]];
    const auto device = devices.find(track.device);
    const bool on_device = track.side == trace::Track::Side::device && device != devices.end();
    out.rows.push_back({on_device ? device->second : RankCommunication::kNoDevice, places.of(row.row)});
  }
  return out;
}

}  // namespace stepscope::analyze
