#include "record/intact.h"

#include <algorithm>

#include "record/device/format.h"
#include "record/io/format.h"

namespace stepscope::record {
namespace {

constexpr std::uint16_t kLastKind = 255;  // unused kinds up to here are reserved for newer programs

/// Minimum bytes of a record of this type; 0: the type is not known.
std::size_t shortest(Type type) {
  static constexpr std::size_t kBase[] = {0,
                                          sizeof(Text),
                                          sizeof(Text),
                                          sizeof(Op),
                                          sizeof(Memory),
                                          sizeof(ClockRecord),
                                          sizeof(Text),
                                          sizeof(Flow),
                                          sizeof(Text),
                                          sizeof(ShortOp),
                                          sizeof(ShortOp)};
  static constexpr std::size_t kPython[] = {sizeof(Sample), sizeof(Counter), sizeof(GraphNode)};
  static constexpr std::size_t kDevice[] = {
      sizeof(DeviceSession),   sizeof(DeviceClockPair), sizeof(DeviceAttributes), sizeof(DeviceContext),
      sizeof(Kernel),          sizeof(Memcpy),          sizeof(Memset),           sizeof(ApiCall),
      sizeof(Synchronization), sizeof(EventRecord),     sizeof(Overhead),         sizeof(DeviceCounts)};
  static constexpr std::size_t kInOut[] = {sizeof(Text), sizeof(IoCall), sizeof(LongIoCall)};
  const auto in = [type](std::span<const std::size_t> sizes, Type first) -> std::size_t {
    const auto at = static_cast<std::size_t>(type) - static_cast<std::size_t>(first);
    return at < sizes.size() ? sizes[at] : 0;
  };
  return in(kBase, Type{}) + in(kPython, Type::sample) + in(kDevice, Type::device_session) +
         in(kInOut, Type::io_path);
}

bool is_short(Type type) { return type == Type::short_op || type == Type::short_backward_op; }
bool has_id(Type type) { return type == Type::text || type == Type::signature || type == Type::op_name; }

/// The length in the record fits into it, and a text is followed by a zero.
bool is_filled(const Record& record, std::span<const char> bytes) {
  if (has_id(record.type) || record.type == Type::metadata || record.type == Type::io_path) {
    const std::size_t length = copied<std::uint32_t>(bytes.subspan(sizeof(Record)));
    return length < bytes.size() - kTextBytes && bytes[kTextBytes + length] == '\0';
  }
  return record.type != Type::sample ||
         copied<Sample>(bytes).count <= (bytes.size() - sizeof(Sample)) / sizeof(std::uint32_t);
}

/// The record at the front of `rest`; empty if no valid record begins there.
std::span<const char> first_of(std::span<const char> rest) {
  if (rest.size() < sizeof(Record)) return {};
  const auto record = copied<Record>(rest);
  const std::size_t bytes = record.units * std::size_t{8}, least = shortest(record.type);
  const auto kind = static_cast<std::uint16_t>(record.type);
  if (bytes < std::max(least, sizeof(Record)) || bytes > rest.size() || kind == 0 || kind > kLastKind ||
      !is_filled(record, rest.first(bytes)))
    return {};
  return rest.first(bytes);
}

/// Eight valid records in a row, or up to the end: not a coincidence.
bool goes_on(std::span<const char> rest) {
  constexpr int kEnough = 8;
  for (int i = 0; i < kEnough && !rest.empty(); ++i) {
    const std::span<const char> bytes = first_of(rest);
    if (bytes.empty() || shortest(copied<Record>(bytes).type) == 0) return false;
    rest = rest.subspan(bytes.size());
  }
  return true;
}

/// Offset of the first valid record after the damage at `at`.
std::size_t resumed(std::span<const char> records, std::size_t at) {
  for (at += 8; at < records.size(); at += 8)
    if (goes_on(records.subspan(at))) return at;
  return records.size();
}

/// The ids of texts seen in a segment so far, and its clock.
class Told {
 public:
  /// False if the record uses an id or a clock that was not seen before.
  bool takes(const Record& record, std::span<const char> bytes) {
    if (has_id(record.type)) return add(record.value);
    if (record.type == Type::counter) return holds(record.value);
    if (record.type == Type::clock) {
      clock_ = copied<ClockRecord>(bytes).pair.tick;
    } else if (record.type == Type::op) {
      const auto op = copied<Op>(bytes);
      return uses(record.value, op.signature);
    } else if (is_short(record.type)) {
      return ends_in_order(copied<ShortOp>(bytes)) && uses(record.value & 0xFFFFU, record.value >> 16U);
    }
    return true;
  }

 private:
  bool uses(std::uint32_t name, std::uint32_t signature) const {
    return holds(name) && (signature == 0 || holds(signature));
  }
  /// Ops are written when they end. One that ends long before those written before it counts from a clock
  /// record that was lost, as do all after it up to the next clock record.
  bool ends_in_order(const ShortOp& op) {
    constexpr std::uint64_t kApart = 1U << 20;  // ticks; clock records are 2^32 apart or more
    if (clock_ == 0) return false;
    const std::uint64_t end = clock_ + op.begin + op.duration;
    if (end + kApart < last_end_) clock_ = 0;
    last_end_ = std::max(last_end_, end);
    return clock_ != 0;
  }
  bool add(std::uint32_t id) {
    if (id > kSegmentBytes) return false;
    if (ids_.size() <= id) ids_.resize(id + 1);
    return ids_[id] = true;
  }
  bool holds(std::uint32_t id) const { return id < ids_.size() && ids_[id]; }

  std::vector<bool> ids_;
  std::uint64_t clock_ = 0, last_end_ = 0;
};

}  // namespace

Walked walk(std::span<const char> records,
            const std::function<void(const Record&, std::span<const char>)>& take) {
  Walked out;
  Told told;
  for (std::size_t at = 0; at < records.size();) {
    const std::span<const char> bytes = first_of(records.subspan(at));
    const std::size_t behind = bytes.empty() ? resumed(records, at) : at + bytes.size();
    if (!bytes.empty()) {
      const auto record = copied<Record>(bytes);
      if (told.takes(record, bytes)) {
        out.unknown_kinds += shortest(record.type) == 0;
        take(record, bytes);
        at = behind;
        continue;
      }
    }
    if (!out.damaged.empty() && out.damaged.back().at + out.damaged.back().bytes == at)
      out.damaged.back().bytes += behind - at;
    else
      out.damaged.push_back({at, behind - at});
    at = behind;
  }
  return out;
}

}  // namespace stepscope::record
