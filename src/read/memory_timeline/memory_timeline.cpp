#include "read/memory_timeline/memory_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "derive/memory_records.h"
#include "read/json_text.h"
#include "read/losses.h"
#include "read/snapshot/bytes.h"
#include "trace/memory_timeline.h"

namespace stepscope::read {
namespace {

using trace::MemoryTimeline;
using trace::TimelineAction;

constexpr std::size_t kNumberAhead = 64;  // bytes of the longest number that is read whole
constexpr std::string_view kNotAChange = "is not [time, action, bytes, category]";
constexpr std::string_view kNotSums = "is not a list of 0 and the bytes of 8 categories";

/// Walks over brackets, commas and numbers.
class NumberLists {
 public:
  explicit NumberLists(ByteSource& source) : bytes_(source) {}

  /// Passes `c` after spaces, if it is next.
  bool pass(char c) {
    if (next() != c) return false;
    bytes_.pass(1);
    return true;
  }
  bool begins_list() { return next() == '['; }
  std::optional<std::int64_t> number() {
    next();
    const char* p = bytes_.at();
    std::int64_t integer = 0;
    double real = 0;
    switch (read_number(p, integer, real)) {
      case Number::integer:
        break;
      case Number::real:
        if (!(std::abs(real) < static_cast<double>(kMaxTime))) return std::nullopt;
        integer = std::llround(real);
        break;
      case Number::none:
        if (*p == '-' && p + 1 == bytes_.end()) bytes_.pass(1);  // its digits are cut off
        return std::nullopt;
      case Number::large:
        return std::nullopt;
    }
    const bool may_go_on = p >= bytes_.end();
    bytes_.go(p);
    if (may_go_on) return std::nullopt;
    return integer > kMaxTime || integer < -kMaxTime ? std::nullopt : std::optional(integer);
  }
  bool at_end() { return next() == '\0' && bytes_.at() == bytes_.end(); }
  bool expands() const { return bytes_.expands(); }
  std::int64_t offset() const { return bytes_.offset(); }

 private:
  /// The next byte that is no space; '\0' at the end.
  char next() {
    for (;;) {
      bytes_.need(kNumberAhead);
      const char* p = skip_space(bytes_.at());
      bytes_.go(p);
      if (p < bytes_.end() || !bytes_.need(1)) break;
    }
    bytes_.need(kNumberAhead);
    return bytes_.at() < bytes_.end() ? *bytes_.at() : '\0';
  }

  Bytes bytes_;
};

class Timeline {
 public:
  explicit Timeline(ByteSource& source) : lists_(source) {}

  /// False if the file ends early or is damaged.
  bool read() {
    if (!lists_.pass('[')) return fail("is no list");
    if (lists_.pass(']')) return true;
    if (!lists_.pass('[')) return fail("is no list of lists");
    std::vector<std::int64_t> first;
    if (!numbers(first)) return false;
    if (first.size() == 4 && add_row(first)) return rows();
    return sums(first);
  }

  std::int64_t offset() const { return lists_.offset(); }

  MemoryTimeline out;
  std::string_view fault;  ///< what is wrong at offset()
  bool cut = false;        ///< the file ends there

 private:
  bool fail(std::string_view what) {
    cut = lists_.at_end();
    fault = lists_.expands() ? Bytes::kExpands : what;
    return false;
  }

  /// The rest of a list of numbers. At damage, the numbers before it stay.
  bool numbers(std::vector<std::int64_t>& into, std::size_t most = ~std::size_t{0}) {
    into.clear();
    if (lists_.pass(']')) return true;
    do {
      const auto number = lists_.number();
      if (!number || into.size() == most) return fail(most == 4 ? kNotAChange : kNotSums);
      into.push_back(*number);
    } while (lists_.pass(','));
    return lists_.pass(']') || fail("is a list without its end");
  }

  bool add(std::int64_t time, TimelineAction action, std::int64_t bytes, std::size_t category) {
    if (bytes == 0) return true;
    if (std::abs(bytes) > derive::kMaxBytes || std::abs(bytes) > derive::kMaxMoved - moved_) return false;
    moved_ += std::abs(bytes);
    out.time.push_back(time);
    out.action.push_back(action);
    out.bytes.push_back(bytes);
    out.category.push_back(static_cast<std::uint8_t>(category));
    return true;
  }

  static std::int64_t nanoseconds(std::int64_t us) {
    return us < 0 ? -1 : us > kMaxTime / 1000 ? kMaxTime : us * 1000;
  }

  bool add_row(const std::vector<std::int64_t>& row) {
    return row.size() == 4 && row[1] >= 1 && row[1] <= 4 && row[3] >= 0 &&
           row[3] < trace::kTimelineCategories &&
           add(row[0], static_cast<TimelineAction>(row[1]), row[2], static_cast<std::size_t>(row[3]));
  }

  /// The changes after the first.
  bool rows() {
    std::vector<std::int64_t> row;
    while (lists_.pass(',')) {
      if (!lists_.pass('[')) return fail(kNotAChange);
      if (!numbers(row, 4)) return false;
      if (!add_row(row)) return fail(kNotAChange);
    }
    return lists_.pass(']') || fail("is a list without its end");
  }

  bool sums(const std::vector<std::int64_t>& times) {
    out.has_actions = false;
    if (!lists_.pass(',') || !lists_.pass('[')) return fail("is no list of sums");
    std::vector<std::int64_t> row;
    std::array<std::int64_t, trace::kTimelineCategories> before{};
    bool more = lists_.begins_list();
    for (const std::int64_t time : times) {
      if (!more || !lists_.pass('[')) return fail("has fewer sums than times");
      if (!numbers(row, 1 + before.size())) return false;
      if (row.size() != 1 + before.size()) return fail(kNotSums);
      for (std::size_t i = 0; i < before.size(); ++i) {
        if (std::abs(row[1 + i]) > derive::kMaxBytes ||
            !add(nanoseconds(time), TimelineAction::sum, row[1 + i] - before[i], i))
          return fail(kNotSums);
        before[i] = row[1 + i];
      }
      more = lists_.pass(',');
    }
    if (!lists_.pass(']')) return fail("has more sums than times");
    return lists_.pass(']') || fail("is a list without its end");
  }

  NumberLists lists_;
  std::int64_t moved_ = 0;
};

/// What was there before the recording has no time of its own.
void place_preexisting(MemoryTimeline& timeline) {
  const auto real = std::ranges::find_if(timeline.time, [](std::int64_t time) { return time >= 0; });
  const std::int64_t first = real == timeline.time.end() ? 0 : *real;
  for (std::int64_t& time : timeline.time)
    if (time < 0) time = first;
}

}  // namespace

bool is_memory_timeline(std::string_view head) {
  constexpr std::string_view kSpaces = " \t\r\n";
  std::size_t at = 0;
  const auto next = [&] {
    at = head.find_first_not_of(kSpaces, at);
    return at < head.size() ? head[at++] : '\0';
  };
  if (next() != '[' || next() != '[') return false;
  const char c = next();
  return (c >= '0' && c <= '9') || c == '-' || c == ']';
}

Result<ParsedFile> parse_memory_timeline(const std::string& path, ByteSource& source) {
  ParsedFile file;
  file.words.resize(1);
  trace::Reading& reading = file.rank.reading;
  file.rank.path = path;
  reading.format = "memory time line";
  Timeline read(source);
  reading.complete = read.read();
  reading.losses = source.fault_count;
  reading.lost_bytes = source.lost_bytes;
  for (const ByteFault& fault : source.faults)
    describe(reading.first_losses, {fault.offset, fault.bytes, fault.reason});
  if (!reading.complete) {
    if (read.out.count() == 0)
      return Error{
          fmt::format("{}, so this is no memory time line; give a file that "
                      "export_memory_timeline() wrote",
                      read.cut ? "ends before its first change" : fmt::format("here it {}", read.fault)),
          path, read.offset()};
    ++reading.losses;
    describe(
        reading.first_losses,
        {read.offset(), -1,
         read.cut ? "the memory time line ends early; what was read before is kept: export or copy it again"
                  : fmt::format("here the memory time line {}; what was read before is kept: export it "
                                "again",
                                read.fault)});
  }
  place_preexisting(read.out);
  reading.events = read.out.count();
  reading.text_bytes = read.offset();
  file.memory_timeline = std::make_shared<const MemoryTimeline>(std::move(read.out));
  return file;
}

void attach_memory_timelines(trace::Trace& trace) {
  trace::Rank* owner = nullptr;
  std::size_t others = 0;
  for (trace::Rank& rank : trace.ranks) {
    if (rank.events.size() == 0) continue;
    owner = &rank;
    ++others;
  }
  for (trace::Rank& rank : trace.ranks) {
    if (rank.memory_timeline == nullptr || rank.events.size() > 0) continue;
    if (others != 1) {
      trace.notes.push_back(fmt::format(
          "{} is an exported memory time line, without ops and kernels: memory_categories answers from it.",
          rank.path));
      continue;
    }
    if (owner->memory_timeline == nullptr ||
        (rank.memory_timeline->has_actions && !owner->memory_timeline->has_actions))
      owner->memory_timeline = rank.memory_timeline;
    trace.companions.push_back({rank.path, rank.reading, {}, owner->rank});
    rank.memory_timeline = nullptr;
    rank.path.clear();
  }
  std::erase_if(trace.ranks,
                [](const trace::Rank& rank) { return rank.path.empty() && rank.events.size() == 0; });
}

}  // namespace stepscope::read
