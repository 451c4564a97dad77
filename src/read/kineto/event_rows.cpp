#include <utility>

#include "read/drawn.h"
#include "read/kineto/event.h"
#include "read/kineto/kind.h"

namespace stepscope::read {

using trace::ArgType;
using trace::Kind;
using trace::StringId;

void EventParser::end_batch(Batch& batch) {
  memory_.keep(parsed_, words_, batch);
  batch.first_value = std::exchange(first_value_, words_.values.size());
  parsed_.rows.clear();
  parsed_.flows.clear();
}

Kind EventParser::category_kind(StringId category) {
  constexpr std::uint8_t kUnknown = 0xFF;
  if (category >= kinds_.size()) kinds_.resize(category + 1, kUnknown);
  if (kinds_[category] == kUnknown)
    kinds_[category] = static_cast<std::uint8_t>(kind_of_category(words_.strings[category]));
  return static_cast<Kind>(kinds_[category]);
}

LaneId EventParser::lane_of(const Fields& f, Kind kind, char flow) {
  const LaneKey key{{trace::is_device_row(kind), f.pid, f.tid}, f.category, kind, flow};
  // Most events have the lane of the last one of their kind; the same holds for flow events.
  const auto slot = static_cast<std::size_t>(flow == 0 ? static_cast<int>(kind) : trace::kKinds + flow % 4);
  LastLane& last = last_lanes_[slot];
  if (last.lane != kNoLane && last.key == key) return last.lane;
  const auto [found, added] = words_.lane_ids.try_emplace(key, static_cast<LaneId>(words_.lanes.size()));
  if (added) {
    const auto track =
        words_.track_ids.try_emplace(key.track, static_cast<trace::TrackId>(words_.tracks.size()));
    if (track.second) words_.tracks.push_back(key.track);
    words_.lanes.push_back({track.first->second, f.category, kind, flow});
  }
  last = {key, found->second};
  return found->second;
}

void EventParser::add_row(const Fields& f, Kind kind, std::int64_t end) {
  odd_device_ = trace::is_device_row(kind) && !f.pid.text && f.pid.value > kMaxDevice;
  parsed_.rows.push_back({f.time, end, f.name, f.schema, lane_of(f, kind), batch_->listed});
  words_.values.append({values_.data(), f.field_count}, words_.schemas.fields(f.schema));
}

bool EventParser::is_left_out(const Fields& f) const {
  if (rules_.drawn || !f.has_category) return false;
  const bool flow = f.phase == 's' || f.phase == 't' || f.phase == 'f';
  if (!flow && f.phase != 'C') return false;
  return words_.strings[f.category] == (flow ? kDrawnArrow : kDrawnCounter);
}

void EventParser::add(const Fields& f) {
  batch_->crowded_args += f.has_more;
  if (f.phase == 'M' && rules_.dftracer) {
    add_metadata(f);
  } else if (f.phase == 'M') {
    for (std::size_t i = 0; i < f.field_count; ++i) {
      const trace::ArgField field = words_.schemas.fields(f.schema)[i];
      if (field.type == ArgType::text)
        batch_->names.push_back({f.pid, f.tid, f.name, static_cast<StringId>(values_[i])});
    }
  } else if (!is_left_out(f)) {
    if (f.time_usable)
      add_timed(f);
    else
      ++batch_->clamped_times;
  }
  ++batch_->listed;
}

void EventParser::add_timed(const Fields& f) {
  const Kind kind = rules_.dftracer  ? kind_of_line(f)
                    : f.has_category ? kind_by_name(category_kind(f.category), words_.strings[f.name])
                                     : Kind::op;
  switch (f.phase) {
    case 'X': {
      const bool usable = f.duration_usable && f.duration >= 0;
      if (!usable) batch_->clamped_times += f.has_duration;
      return add_row(f, kind, usable ? f.time + f.duration : f.time);
    }
    case 's':
    case 't':
    case 'f':
      parsed_.flows.push_back({f.time, f.id, lane_of(f, Kind::other, f.phase)});
      return;
    case 'B':
    case 'E':
      batch_->halves.push_back({f.time, f.name, f.category, words_.lanes[lane_of(f, kind)].track, f.schema,
                                static_cast<std::uint32_t>(words_.half_values.size()), batch_->listed,
                                f.phase == 'B'});
      words_.half_values.append({values_.data(), f.field_count}, words_.schemas.fields(f.schema));
      return;
    case 'i':
    case 'I':
    case 'R': {
      const std::string_view name = words_.strings[f.name];
      const bool memory = name == "[memory]" || name == "[OutOfMemory]";
      return add_row(f, memory ? Kind::memory : Kind::instant, f.time);
    }
    case 'C':
      return add_row(f, Kind::counter, f.time);
    case kAggregated:
      ++batch_->aggregated;
      return add_row(f, Kind::instant, f.time);
    default:
      return add_row(f, Kind::other, f.time);
  }
}

}  // namespace stepscope::read
