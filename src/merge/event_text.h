// Where an event's fields are in its text, so that a few can be replaced and the rest copied.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "read/blocks.h"
#include "read/kineto/document.h"
#include "read/merged/ids.h"
#include "trace/breaches.h"

namespace stepscope::merge {

using Space = read::IdSpace;
inline constexpr std::size_t kSpaces = read::kIdSpaces;

/// A value in the text, strings with their quotes. `begin` is nullptr if there is no value.
struct Span {
  const char* begin = nullptr;
  const char* end = nullptr;

  explicit operator bool() const { return begin != nullptr; }
  std::string_view text() const { return {begin, static_cast<std::size_t>(end - begin)}; }
  /// Without the quotes, if it has any.
  std::string_view bare() const;
};

struct EventText {
  struct Id {
    Span value;
    Space space;
    bool own;  ///< the event's `id` or `bind_id`; false: an arg that names another event
  };
  static constexpr std::size_t kMaxIds = 16;

  Span whole, phase, category, name, pid, tid, time, duration, args;
  std::array<Id, kMaxIds> ids;  ///< in the order of the text
  std::size_t id_count = 0;
  Span args_name, args_was, args_labels, args_sort;  ///< args of metadata events
  Span args_rank;                                    ///< the rank that a collective names

  char kind() const;  ///< X, M, …; DFTracer's numbers become letters
  std::span<const Id> id_list() const { return {ids.data(), id_count}; }
};

/// Reads an id. An arg's id is a number, in quotes or not; 0, -1 and 2^32 - 1 mean "no id". An event's own id
/// may be any number from 0 on; one in quotes is hexadecimal, as in Perfetto. False if it is none of these,
/// or has more than 18 digits.
bool read_id(const EventText::Id& id, std::int64_t& number);

/// Reads a time in microseconds, in quotes or not, as nanoseconds.
bool read_time(Span value, std::int64_t& nanoseconds);

/// Finds the fields of the event at `p`, as EventParser does for reading.
class EventScanner {
 public:
  enum class Outcome : std::uint8_t { read, damaged, cut };
  Outcome scan(const char*& p, const char* limit, EventText& event);
  const char* damage() const { return damage_; }
  const char* reached() const { return reached_; }
  /// Whether the text of the last event is strict JSON.
  bool strict() const { return strict_; }

 private:
  bool fields(const char*& p, EventText& event, bool in_args);
  bool value(const char*& p);
  void note(std::string_view key, Span value, EventText& event, bool in_args);
  void note_arg(std::string_view key, Span value, EventText& event);
  const char* end_ = nullptr;
  const char* damage_ = "";
  const char* reached_ = nullptr;
  bool strict_ = true;
};

/// The text of an event as strict JSON.
class MendedEvent {
 public:
  void mend(std::string_view event, std::int64_t at, trace::Breaches& breaches);
  const char* begin() const { return text_.data(); }
  const char* end() const { return text_.data() + text_.size() - read::kPadding; }

 private:
  void mend_fields(const char*& p, bool in_args);
  std::string text_;  ///< with padding
  const char *from_ = nullptr, *end_ = nullptr;
  std::int64_t at_ = 0;
  trace::Breaches* breaches_ = nullptr;
};

/// Connects DocumentParser to a sink: each event goes to the sink, as strict JSON.
template <class Receiver>
class ScannedEvents {
 public:
  using Sink = Receiver;
  using Outcome = EventScanner::Outcome;

  Outcome parse(const char*& p, const char* limit, const read::Block& block, Sink& sink) {
    EventText event;
    const char* from = p;
    const Outcome outcome = scanner_.scan(p, limit, event);
    if (outcome != Outcome::read) return outcome;
    const std::int64_t at = block.offset + (from - block.begin());
    if (!scanner_.strict()) event = mended(event, at);
    sink.take(event, at);
    return outcome;
  }
  trace::Breaches breaches;
  const char* damage() const { return scanner_.damage(); }
  const char* reached() const { return scanner_.reached(); }

 private:
  EventText mended(const EventText& was, std::int64_t at) {
    mended_.mend(was.whole.text(), at, breaches);
    EventText event;
    const char* p = mended_.begin();
    scanner_.scan(p, mended_.end(), event);
    return event;
  }

  EventScanner scanner_;
  MendedEvent mended_;
};

}  // namespace stepscope::merge
