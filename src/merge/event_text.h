// Where an event's fields are in its text, so that a few can be replaced and the rest copied.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "read/blocks.h"
#include "read/kineto/document.h"
#include "read/merged/ids.h"

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

/// Reads an id. False if it is no number, or is 0, -1 or 2^32 - 1, which mean "no id".
bool read_id(Span value, std::int64_t& id);

/// Reads a time in microseconds, in quotes or not, as nanoseconds.
bool read_time(Span value, std::int64_t& nanoseconds);

/// Finds the fields of the event at `p`, as EventParser does for reading.
class EventScanner {
 public:
  enum class Outcome : std::uint8_t { read, damaged, cut };
  Outcome scan(const char*& p, const char* limit, EventText& event);
  const char* damage() const { return damage_; }
  const char* reached() const { return reached_; }

 private:
  bool fields(const char*& p, EventText& event, bool in_args);
  bool value(const char*& p);
  void note(std::string_view key, Span value, EventText& event, bool in_args);
  void note_arg(std::string_view key, Span value, EventText& event);
  const char* end_ = nullptr;
  const char* damage_ = "";
  const char* reached_ = nullptr;
};

/// Connects DocumentParser to a sink: each event goes to the sink.
template <class Receiver>
class ScannedEvents {
 public:
  using Sink = Receiver;
  using Outcome = EventScanner::Outcome;

  Outcome parse(const char*& p, const char* limit, const read::Block& block, Sink& sink) {
    EventText event;
    const char* from = p;
    const Outcome outcome = scanner_.scan(p, limit, event);
    if (outcome == Outcome::read) sink.take(event, block.offset + (from - block.begin()));
    return outcome;
  }
  const char* damage() const { return scanner_.damage(); }
  const char* reached() const { return scanner_.reached(); }

 private:
  EventScanner scanner_;
};

}  // namespace stepscope::merge
