// What must be known of a source before its first event is written: whose ids it uses, when it begins.
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

/// pid and tid as they stand in the text, quotes and all, with kBetween between them.
using LaneText = std::string;
inline constexpr char kBetween = '\x1f';
LaneText lane_text(const EventText& event);
/// Whether `lane` is the event's, without building its text.
bool same_lane(const LaneText& lane, const EventText& event);
/// What the text of a pid or tid means: quotes or not, a number is that number.
std::string ident_of(std::string_view text);

/// Of the ids of a space; empty where low is above high.
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
  std::vector<std::uint32_t> by_block;       ///< of these in each block of the text
  std::int64_t lost = 0, lost_bytes = 0;     ///< lost: damaged stretches
  std::vector<trace::Loss> losses;           ///< the first few
  std::int64_t rows = 0;                     ///< events at a usable time, without ends of arrows
  std::int64_t first_time = trace::kNoTime;  ///< ns, as the file has it
  std::array<IdRange, kSpaces> ids;
  std::unordered_map<LaneText, std::int64_t> lanes;  ///< where in the text each is met first
  std::map<std::string, ProcessNames> processes;     ///< by what their pid means
  std::set<std::string, std::less<>> categories;     ///< the first few hundred
  std::int64_t rank = -1, rank_at = -1;              ///< that its collectives name, and where they first do

  // To receive events of a block.
  void take(const EventText& event, std::int64_t at);
  void lose(std::int64_t byte, std::int64_t bytes, std::string_view reason);
  void add(Survey&& block, std::uint32_t index);

 private:
  void take_names(const EventText& event);
  LaneText last_lane_;
  std::string last_category_;
};

}  // namespace stepscope::merge
