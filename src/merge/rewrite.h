// Replaces what must change in an event's text: times, pid, tid, ids and process names.
#pragma once

#include <string>
#include <string_view>

#include "merge/event_text.h"
#include "merge/source.h"

namespace stepscope::merge {

/// Appends events of one source to a text, each after a comma and a new line. For one thread.
class Rewriter {
 public:
  /// `base_ns`: the merged document's zero of times. `source` must outlive this.
  Rewriter(const Source& source, std::int64_t base_ns) : source_(source), base_ns_(base_ns) {}

  void append(const EventText& event, std::string& out);

 private:
  struct Change {
    Span at;
    std::size_t from, size;  ///< in `scratch_`
  };
  static constexpr std::size_t kMaxChanges = EventText::kMaxIds + 10;

  void change(Span at, std::string_view to);
  void change_number(Span at, std::int64_t to);
  void change_times(const EventText& event);
  void change_lane(const EventText& event);
  void change_ids(const EventText& event);
  void change_own_id(const EventText::Id& id, std::int64_t number);
  void change_name(const EventText& event);
  const Process* process() const;  ///< the process of the event being changed

  const Source& source_;
  const std::int64_t base_ns_;
  std::string scratch_;
  std::array<Change, kMaxChanges> changes_;
  std::size_t change_count_ = 0;
  LaneText last_text_;
  const LaneIds* last_lane_ = nullptr;
};

/// `ns` as decimal microseconds.
void append_microseconds(std::int64_t ns, std::string& out);

}  // namespace stepscope::merge
