// The document around a list of Chrome events: top-level keys, the list, and how reading resumes after
// damage.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "read/blocks.h"
#include "read/json_text.h"
#include "read/strict/mend.h"
#include "read/strict/strict.h"

namespace stepscope::read {

/// Where a parser is in the document.
enum class Place : std::uint8_t {
  start,   ///< before anything
  top,     ///< in the top-level object, outside the event list
  events,  ///< in the event list
  done,    ///< after the document
};

/// The event list of Chrome traces.
struct ChromeList {
  static constexpr std::string_view kKey = "traceEvents", kItem = "an event",
                                    kStranger = "something other than an event is in the event list";
  /// The first byte of the next item after `from`, nullptr if there is none.
  static const char* next(const char* from, const char* end) { return next_event(from, end); }
  static const char* undecided(const char* from, const char* end) { return read::undecided(from, end); }
};

/// Events without a document, each in its own line, as DFTracer writes them. A bracket between two of them
/// means nothing: a process that forked may have closed the list of another one.
struct EventLines {
  static constexpr bool kBracketsMeanNothing = true;
  static constexpr std::string_view kKey = "", kItem = "an event",
                                    kStranger = "something other than an event is between the events";
  static const char* next(const char* from, const char* end) { return next_line(from, end); }
  static const char* undecided(const char* from, const char* end) { return undecided_line(from, end); }
};

using TopLevel = std::vector<std::pair<std::string, std::string>>;

/// Bytes that damaged events may waste. An event may be read far before it fails, and a million like it may
/// follow: once the wasted bytes exceed this plus a multiple of the text so far, events are limited to a
/// small size.
inline constexpr std::int64_t kFreeWaste = std::int64_t{1} << 26;

/// Walks the document around the events: top-level keys, the event list, the end. The result does not depend
/// on how the text is cut into blocks.
///
/// `List`: the kind of list in the document. If `Events` has a member `breaches`, it also gets those around
/// the events.
template <class Events, class List = ChromeList>
class DocumentParser {
 public:
  using Sink = typename Events::Sink;

  template <class... Args>
  explicit DocumentParser(Args&&... args) : events_(std::forward<Args>(args)...) {}

  static constexpr bool kSeesBreaches = requires(Events events) { events.breaches; };
  static constexpr bool kBracketsMeanNothing = requires { List::kBracketsMeanNothing; };

  Place place = Place::start;
  bool bare_array = false;
  TopLevel top_level;

  /// Resets the parser for a block whose previous block another parser read.
  void start_at(Place at) {
    place = at;
    bare_array = false;
    top_level.clear();
    damaged_from_ = -1;
    wasted_ = 0;
    behind_ = at == Place::events ? Behind::comma : Behind::open;
  }

  /// Parses a block from `p` on; returns the first byte not consumed (the block's end when all was).
  const char* parse(const Block& block, Sink& batch, const char* p) {
    block_ = &block;
    batch_ = &batch;
    while (p < block.end()) {
      const bool moved = damaged_from_ >= 0       ? seek(p)
                         : place == Place::events ? parse_event(p)
                         : place == Place::top    ? parse_top(p)
                                                  : parse_edge(p);
      if (!moved) return p;
    }
    return block.end();
  }

  /// Skips the text from `p` on; parse() resumes at the next event.
  void give_up(const char* p, std::string_view why) {
    if (damaged_from_ >= 0) return;
    damaged_from_ = offset_of(p);
    damage_ = why;
  }

  /// The text ends, or must be treated as ended, inside the event or top-level value at `p`.
  void cut(const char* p, std::string_view why) {
    wasted_ += block_->end() - p;
    give_up(skip_space(p), why);
  }

  /// The item at `p` is longer than the limit.
  void cut_long(const char* p, std::size_t most) {
    constexpr std::size_t kMebibyte = std::size_t{1} << 20;
    const bool round = most % kMebibyte == 0;
    const std::string_view item = place == Place::events ? List::kItem : "a string or value";
    cut(p, fmt::format("{} longer than {} {}, the limit for one", item, round ? most / kMebibyte : most,
                       round ? "MiB" : "bytes"));
  }

  /// True between damage and the next event.
  bool lost() const { return damaged_from_ >= 0; }

  /// The text has ended: text being skipped is lost up to `block`'s end.
  void finish(const Block& block, Sink& batch) {
    if (lost())
      batch.lose(damaged_from_, block.offset + static_cast<std::int64_t>(block.size) - damaged_from_,
                 damage_);
  }

  void end_batch(Sink& batch) { events_.end_batch(batch); }

  /// The next block begins with an event: a comma must be before it.
  void expect_comma(const Block& block) {
    if (behind_ == Behind::item) breach(trace::Breach::comma, block.offset + std::int64_t(block.size));
  }

  const trace::Breaches& breaches() const { return events_.breaches; }

  std::int64_t wasted() const { return wasted_; }

 private:
  /// What is before the next event or top-level key.
  enum class Behind : std::uint8_t { open, item, comma };

  void breach([[maybe_unused]] trace::Breach kind, [[maybe_unused]] std::int64_t at) {
    if constexpr (kSeesBreaches) events_.breaches.add(kind, at);
  }
  void pass_item(const char* p) {
    if (behind_ == Behind::item) breach(trace::Breach::comma, offset_of(p));
    behind_ = Behind::item;
  }
  void pass_comma(const char*& p) {
    if (behind_ != Behind::item) breach(trace::Breach::comma, offset_of(p));
    behind_ = Behind::comma;
    ++p;
  }
  void pass_close(const char*& p, Place to) {
    if (behind_ == Behind::comma) breach(trace::Breach::comma, offset_of(p));
    behind_ = Behind::item;
    place = to;
    ++p;
  }
  void check_top(std::string_view key, std::string_view value) {
    if constexpr (kSeesBreaches) {
      const char* end = value.data() + value.size();
      if (is_strict_text(key) && strict_end(value.data(), end) == end) return;
      std::string unused;
      mend_text(key, offset_of(key.data()), unused, events_.breaches);
      mend_value(value, offset_of(value.data()), unused, events_.breaches);
    }
  }

  std::int64_t offset_of(const char* p) const { return block_->offset + (p - block_->begin()); }

  bool seek(const char*& p) {
    const char* next = place == Place::done ? nullptr : List::next(p, block_->end());
    if (next == nullptr) {
      p = place == Place::done ? block_->end() : List::undecided(p, block_->end());
      return p == block_->end();
    }
    batch_->lose(damaged_from_, offset_of(next) - damaged_from_, damage_);
    damaged_from_ = -1;
    place = Place::events;
    behind_ = Behind::comma;
    p = next;
    return true;
  }

  const char* event_limit(const char* p) const {
    constexpr std::int64_t kTimes = 4;
    constexpr std::ptrdiff_t kShort = 512;
    const bool dear = wasted_ > kFreeWaste + kTimes * offset_of(p);
    return dear && block_->end() - p > kShort ? p + kShort : block_->end();
  }

  bool parse_event(const char*& p) {
    p = skip_space(p);
    if (p >= block_->end()) return true;
    if (*p == ',') {
      pass_comma(p);
      return true;
    }
    if (kBracketsMeanNothing && (*p == '[' || *p == ']')) {
      ++p;
      return true;
    }
    if (*p == ']') {
      pass_close(p, bare_array ? Place::done : Place::top);
      return true;
    }
    if (*p != '{') {
      give_up(p, List::kStranger);
      return true;
    }
    const char *limit = event_limit(p), *from = p;
    switch (events_.parse(p, limit, *block_, *batch_)) {
      case Events::Outcome::read:
        pass_item(from);
        return true;
      case Events::Outcome::cut:
        if (limit == block_->end()) return false;
        wasted_ += limit - p;
        give_up(p, std::string(List::kItem) + " without an end");
        return true;
      case Events::Outcome::damaged:
        break;
    }
    wasted_ += events_.reached() - p;
    give_up(p, events_.damage());
    return true;
  }

  bool parse_top(const char*& p) {
    p = skip_space(p);
    const char* end = block_->end();
    if (p >= end) return true;
    if (*p == ',') {
      pass_comma(p);
      return true;
    }
    if (*p == '}') {
      pass_close(p, Place::done);
      return true;
    }
    const char* from = p;
    std::string_view key;
    const char* damage = nullptr;
    if (!pass_key(p, end, key, damage)) {
      if (damage == nullptr) return retreat(p, from);
      give_up(p = from, damage);
      return true;
    }
    if (key == List::kKey && *p == '[') {
      pass_item(from);
      ++p;
      place = Place::events;
      behind_ = Behind::open;
      return true;
    }
    const char *value = p, *looked = p;
    if (!pass_value(p, end, damage, looked)) {
      if (damage == nullptr) return retreat(p, from);
      wasted_ += looked - value;
      give_up(p = from, damage);
      return true;
    }
    pass_item(from);
    check_top(key, text_between(value, p));
    top_level.emplace_back(key, text_between(value, p));
    return true;
  }

  bool parse_edge(const char*& p) {
    p = skip_space(p);
    if (p >= block_->end()) return true;
    if (place == Place::start) {
      constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
      if (std::string_view(p, static_cast<std::size_t>(block_->end() - p)).starts_with(kByteOrderMark))
        breach(trace::Breach::mark, offset_of(p)), p = skip_space(p + kByteOrderMark.size());
      if (p >= block_->end()) return true;
      if (*p == '{') {
        ++p;
        place = Place::top;
        return true;
      }
      if (*p == '[') {
        ++p;
        place = Place::events;
        bare_array = true;
        return true;
      }
      give_up(p, "the text does not begin with { or [");
      return true;
    }
    give_up(p, "text follows the end of the document");
    return true;
  }

  static bool retreat(const char*& p, const char* to) {
    p = to;
    return false;
  }

  Events events_;
  const Block* block_ = nullptr;
  Sink* batch_ = nullptr;
  std::int64_t damaged_from_ = -1;  ///< offset of the text being skipped, -1 when nothing is
  std::string damage_;
  std::int64_t wasted_ = 0;
  Behind behind_ = Behind::open;
};

/// Ends the text. A cut event is lost, and so is text being skipped.
template <class Events, class List>
void parse_end(DocumentParser<Events, List>& parser, const Block& block, typename Events::Sink& batch,
               const char* rest) {
  while (rest != block.end() && !parser.lost()) {
    parser.cut(rest, "the text breaks off here: the file was cut");
    rest = parser.parse(block, batch, rest);
  }
  parser.finish(block, batch);
}

/// Parses the next block of a text that one thread reads; `most`: max bytes of a block.
template <class Events, class List>
void parse_next(DocumentParser<Events, List>& parser, BlockReader& reader, const Block& block,
                std::size_t most, typename Events::Sink& batch) {
  const char* rest = parser.parse(block, batch, block.begin());
  while (rest != block.end() && !parser.lost() && !block.last && block.size >= most) {
    parser.cut_long(rest, most);
    rest = parser.parse(block, batch, rest);
  }
  if (block.last)
    parse_end(parser, block, batch, rest);
  else if (rest != block.end())
    reader.unread(text_between(rest, block.end()));
}

/// Parses a block of a text that several threads read. Returns whether it proves where the next one begins.
template <class Events, class List>
bool parse_alone(DocumentParser<Events, List>& parser, const Block& block, typename Events::Sink& batch) {
  const char* rest = parser.parse(block, batch, block.begin());
  const bool proven =
      rest == block.end() && !parser.lost() && parser.place == Place::events && !parser.bare_array;
  if (block.last)
    parse_end(parser, block, batch, rest);
  else
    parser.expect_comma(block);
  return proven || block.last;
}

}  // namespace stepscope::read
