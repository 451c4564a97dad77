#include "lanes/layout.h"

#include <array>

namespace stepscope::lanes {
namespace {

using trace::EventTable;
using trace::Row;

/// The rows of a track while its events are laid out, in order of their starts.
class FreeRows {
 public:
  /// The first free row from `from` on, kMaxRows if there is none.
  std::size_t take(std::size_t from, std::int64_t start, std::int64_t end) {
    std::size_t row = from + begin_;
    while (row < used_ && ends_[row] > start) ++row;
    if (row >= kMaxRows) return kMaxRows;
    if (row == used_) ++used_;
    ends_[row] = end;
    return row;
  }

  /// From now on only rows that are not in use count.
  void begin_below() { begin_ = used_; }

 private:
  std::array<std::int64_t, kMaxRows> ends_{};  // of the last event in each row
  std::size_t used_ = 0;
  std::size_t begin_ = 0;
};

/// Ranges of the host, as projected onto a stream, lie below the work that they cover: a kernel's row does
/// not depend on them.
bool is_below(trace::Kind kind) { return kind == trace::Kind::device_annotation; }

std::size_t first_row(const EventTable& e, Row row, std::span<const std::uint8_t> place) {
  const Row parent = e.parent[row];
  if (parent == trace::kNoRow) return 0;
  return place[parent] == kNotDrawn ? kMaxRows : std::size_t{place[parent]} + 1;
}

}  // namespace

Layout lay_out(const trace::Rank& rank, const trace::Track& track, std::span<std::uint8_t> place) {
  const EventTable& e = rank.events;
  Layout layout;
  FreeRows free;
  std::array<std::uint32_t, kMaxRows + 1> in_row{};
  const auto lay = [&](bool below) {
    for (Row row = track.begin; row < track.end; ++row) {
      if (is_below(e.kind[row]) != below) continue;
      place[row] = kNotDrawn;
      if (!is_drawn(e.kind[row])) continue;
      const std::size_t at = free.take(first_row(e, row, place), e.start[row], e.end[row]);
      ++in_row[at];
      if (at < kMaxRows) place[row] = static_cast<std::uint8_t>(at);
    }
  };
  lay(false);
  if (track.side == trace::Track::Side::device) {
    free.begin_below();
    lay(true);
  }
  for (std::size_t at = 0; at < kMaxRows && in_row[at] != 0; ++at) {
    layout.events += in_row[at];
    layout.rows.emplace_back().reserve(in_row[at]);
  }
  layout.hidden = in_row[kMaxRows];
  for (Row row = track.begin; row < track.end; ++row)
    if (place[row] != kNotDrawn) layout.rows[place[row]].push_back(row);
  return layout;
}

}  // namespace stepscope::lanes
