// Field numbers of Perfetto's messages, as published in its protos (protos/perfetto/trace/*.proto).
#pragma once

#include <cstdint>

namespace stepscope::write::fields {

using Field = std::uint32_t;

inline constexpr Field kPacketOfTrace = 1;

struct Packet {
  static constexpr Field timestamp = 8, sequence = 10, track_event = 11, interned = 12, flags = 13,
                         clock_snapshot = 6, clock_id = 58, defaults = 59, track_descriptor = 60,
                         first_on_sequence = 87;
};
struct Flags {
  static constexpr int cleared = 1, needs_state = 2;
};
struct Defaults {
  static constexpr Field clock_id = 58;
};
struct ClockSnapshot {
  static constexpr Field clock = 1, primary = 2, clock_id = 1, time = 2;
  static constexpr int realtime = 1, boottime = 6;
};
struct TrackDescriptor {
  static constexpr Field uuid = 1, name = 2, process = 3, thread = 4, parent = 5, counter = 8,
                         child_order = 11, rank_among_siblings = 12, sibling_merge = 15;
  static constexpr int explicit_order = 3, merge_none = 2;
};
struct Process {
  static constexpr Field pid = 1, sort_index = 3, name = 6;
};
struct Thread {
  static constexpr Field pid = 1, tid = 2, name = 5;
};
struct TrackEvent {
  static constexpr Field category = 3, annotation = 4, type = 9, name = 10, track = 11, counter_integer = 30,
                         counter_double = 44, flow = 47, flow_end = 48;
  static constexpr int begin = 1, end = 2, instant = 3, counter = 4;
};
struct Interned {
  static constexpr Field category = 1, event_name = 2, annotation_name = 3, annotation_text = 29;
  static constexpr Field id = 1, text = 2;  ///< fields of each of these messages
};
struct Annotation {
  static constexpr Field name = 1, integer = 4, real = 5, text = 17;
};

}  // namespace stepscope::write::fields
