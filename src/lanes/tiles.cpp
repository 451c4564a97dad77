#include "lanes/tiles.h"

#include <bit>
#include <concepts>
#include <cstring>

namespace stepscope::lanes {
namespace {

constexpr std::uint32_t kLanesMagic = 0x454C4954;     // "TILE"
constexpr std::uint32_t kCountersMagic = 0x4E554D53;  // "SMUN"
constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kMaxBoxes = 800'000;  // 19 bytes each

constexpr std::uint8_t kBefore = 1, kBehind = 2, kWaiting = 4;

template <class Value>
void put(std::string& out, Value value) {
  static_assert(std::endian::native == std::endian::little);
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_head(std::string& out, std::uint32_t magic, std::size_t rows, std::size_t boxes) {
  put(out, magic);
  put(out, kVersion);
  put(out, std::uint16_t{0});
  put(out, static_cast<std::uint32_t>(rows));
  put(out, static_cast<std::uint32_t>(boxes));
}

/// A column of `count` numbers, padded to 8 bytes.
template <class Value>
void put_column(std::string& out, std::size_t count, auto value_at) {
  for (std::size_t i = 0; i < count; ++i) put(out, static_cast<Value>(value_at(i)));
  out.resize((out.size() + 7) / 8 * 8);
}

/// The boxes of one row of a lane.
struct DrawnRow {
  std::uint32_t lane, row;
  std::size_t begin, end;  // in the list of boxes
};

/// A box with the event that it shows.
struct DrawnBox {
  Box box;
  std::uint32_t id, name;
  std::uint8_t family, flags;
};

class Drawing {
 public:
  Drawing(const Run& run, const Tile& tile) : run_(run), tile_(tile) {}

  void add(LaneId id) {
    const Lane& lane = run_.lanes.all[id];
    for (std::uint32_t r = 0; r < lane.rows.size(); ++r) {
      const RowEvents events = run_.events(lane, lane.rows[r]);
      scratch_.clear();
      add_boxes(events, lane.rows[r].pyramid, tile_, scratch_);
      if (scratch_.empty()) continue;
      rows_.push_back({id, r, boxes_.size(), boxes_.size() + scratch_.size()});
      for (const Box& box : scratch_) boxes_.push_back(drawn(lane, box, events.row(box.longest)));
    }
  }

  std::size_t boxes() const { return boxes_.size(); }

  std::string binary() const {
    std::string out;
    put_head(out, kLanesMagic, rows_.size(), boxes_.size());
    using U8 = std::uint8_t;
    using U16 = std::uint16_t;
    using U32 = std::uint32_t;
    const auto row = [&]<class Value>(Value, auto of) {
      put_column<Value>(out, rows_.size(), [&](std::size_t i) { return of(rows_[i]); });
    };
    const auto box = [&]<class Value>(Value, auto of) {
      put_column<Value>(out, boxes_.size(), [&](std::size_t i) { return of(boxes_[i]); });
    };
    row(U32{}, [](const DrawnRow& r) { return r.lane; });
    row(U32{}, [](const DrawnRow& r) { return r.row; });
    row(U32{}, [](const DrawnRow& r) { return r.end - r.begin; });
    box(U32{}, [](const DrawnBox& b) { return b.id; });
    box(U32{}, [](const DrawnBox& b) { return b.name; });
    box(U32{}, [](const DrawnBox& b) { return b.box.count; });
    box(U16{}, [](const DrawnBox& b) { return b.box.begin; });
    box(U16{}, [](const DrawnBox& b) { return b.box.end; });
    box(U8{}, [](const DrawnBox& b) { return b.box.busy; });
    box(U8{}, [](const DrawnBox& b) { return b.family; });
    box(U8{}, [](const DrawnBox& b) { return b.flags; });
    return out;
  }

 private:
  DrawnBox drawn(const Lane& lane, const Box& box, trace::Row row) const {
    const trace::EventTable& e = run_.rank_of(lane).events;
    const report::Family family = run_.family_of(lane.rank, row);
    const int flags = (box.before ? kBefore : 0) | (box.behind ? kBehind : 0) |
                      (family == report::Family::waiting ? kWaiting : 0);
    return {box, e.source[row], run_.names.of(e.name[row]), static_cast<std::uint8_t>(family),
            static_cast<std::uint8_t>(flags)};
  }

  const Run& run_;
  const Tile tile_;
  std::vector<DrawnRow> rows_;
  std::vector<DrawnBox> boxes_;
  std::vector<Box> scratch_;
};

}  // namespace

Result<std::string> lane_tiles(const Run& run, const Tile& tile, std::span<const std::uint32_t> lanes) {
  Drawing drawing(run, tile);
  for (const LaneId lane : lanes) {
    drawing.add(lane);
    if (drawing.boxes() > kMaxBoxes)
      return Error{"These lanes have more boxes than one answer may hold. Ask for fewer lanes at once.", "",
                   -1};
  }
  return drawing.binary();
}

std::string counter_tiles(const Run& run, const Tile& tile, std::span<const std::uint32_t> counters) {
  std::string body;
  std::size_t boxes = 0;
  for (const std::uint32_t counter : counters) {
    const std::vector<Stretch> stretches = stretches_in(run.counters[counter], tile, run.end);
    boxes += stretches.size();
    put(body, counter);
    put(body, static_cast<std::uint32_t>(stretches.size()));
    for (const Stretch& stretch : stretches) {
      put(body, stretch.begin);
      put(body, stretch.end);
      put(body, stretch.range.lowest);
      put(body, stretch.range.highest);
    }
  }
  std::string out;
  put_head(out, kCountersMagic, counters.size(), boxes);
  return out + body;
}

}  // namespace stepscope::lanes
