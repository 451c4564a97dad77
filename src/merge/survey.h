// What must be known about a source before its first event is written: its ids, and when it begins.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "merge/event_text.h"
#include "merge/walk.h"
#include "trace/trace.h"

namespace stepscope::merge {

/// pid and tid as written, with their quotes, joined by kBetween.
using LaneText = std::string;
inline constexpr char kBetween = '\x1f';
LaneText lane_text(const EventText& event);
/// Whether `lane` is the event's, without building its text.
bool same_lane(const LaneText& lane, const EventText& event);
/// The value of a pid's or tid's text without its quotes, so that 7 and "7" are equal; "0" if it is empty.
std::string ident_of(std::string_view text);

/// Range of the ids of a space; empty if low is above high.
struct IdRange {
  std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = 0;
  bool empty() const { return low > high; }
};

struct ProcessNames {
  std::string name, label;
  std::string was;  ///< name before an earlier merge
};

struct Survey {
  std::int64_t events = 0;                   ///< of every phase
  std::vector<std::uint32_t> by_block;       ///< events in each block of the text
  std::int64_t lost = 0, lost_bytes = 0;     ///< lost: damaged stretches
  std::vector<trace::Loss> losses;           ///< the first few
  std::int64_t rows = 0;                     ///< events with a usable time, except ends of arrows
  std::int64_t first_time = trace::kNoTime;  ///< ns, as in the file
  std::int64_t last_host_end = trace::kNoTime, last_any_end = trace::kNoTime;  ///< ns, as in the file
  std::array<IdRange, kSpaces> ids;
  std::unordered_map<LaneText, std::int64_t> lanes;  ///< by lane: where in the text it first occurs
  std::map<std::string, ProcessNames> processes;     ///< by ident_of their pid
  std::set<std::string, std::less<>> categories;     ///< the first few hundred
  std::int64_t rank = -1, rank_at = -1;  ///< the rank that its collectives name, and where they first do

  /// The last end of an event of the host, else of any; as Rank::last_end.
  std::int64_t last_end() const { return last_host_end != trace::kNoTime ? last_host_end : last_any_end; }

  // Called with the events of a block.
  void take(const EventText& event, std::int64_t at);
  void lose(std::int64_t byte, std::int64_t bytes, std::string_view reason);
  void add(Survey&& block, std::uint32_t index);

 private:
  void take_names(const EventText& event);
  LaneText last_lane_;
  std::string last_category_;
  bool on_device_ = false;  ///< events of that category are
};

}  // namespace stepscope::merge
