#include "record/recording.h"

#include <algorithm>
#include <cstring>

#include "record/device/format.h"

namespace stepscope::record {
namespace {

/// Header and SegmentHeader as plain values, copied once: the file may change while it is read.
struct PlainHeader {
  char magic[8];
  std::uint32_t version, header_bytes, unit_bytes, unit_limit, claimed, pid;
  std::uint32_t clock, flags;
  std::uint64_t dropped;
  ClockPair loaded, begin, end;
  char host[64];
  std::uint32_t parent, worker;
  Limit limit;
  std::uint32_t unused;
  std::uint64_t full_at, kept_from;
};
static_assert(sizeof(PlainHeader) == sizeof(Header));
struct PlainSegment {
  std::uint32_t committed, bytes, thread, unused;
  std::uint64_t torch_thread;
  char thread_name[16];
};
static_assert(sizeof(PlainSegment) == sizeof(SegmentHeader));

template <std::size_t N>
std::string text_of(const char (&bytes)[N]) {
  return {bytes, std::find(bytes, bytes + N, '\0')};
}

constexpr std::int64_t kFarthest = 1'000'000'000'000'000'000;  // ns, 31 years

bool plausible(const ClockPair& pair) {
  return pair.tick != 0 && pair.realtime_ns > 0 && pair.realtime_ns < 3 * kFarthest &&
         pair.monotonic_ns >= 0 && pair.monotonic_ns < kFarthest;
}

/// The contents of all segments, read in one pass.
class Contents {
 public:
  Contents(std::span<const char> file, const PlainHeader& header)
      : file_(file), stopped_(header.end.tick != 0) {
    for (const ClockPair& pair : {header.loaded, header.begin, header.end})
      if (plausible(pair)) pairs.push_back(pair);
    const std::size_t end =
        kHeaderBytes + std::size_t{std::min(header.claimed, header.unit_limit)} * kUnitBytes;
    for (std::size_t at = kHeaderBytes; at < end;) {
      if (at + sizeof(SegmentHeader) > file.size()) {
        is_cut = true;
        break;
      }
      const auto head = copied<PlainSegment>(file.subspan(at));
      const std::size_t size = fits(head, end - at) ? head.bytes : to_next_segment(at, end);
      segment(at, size, head);
      at += size;
    }
    if (is_cut) cut = static_cast<std::int64_t>(end - std::min(end, file.size()));
  }

  std::vector<Segment> segments;
  std::vector<ClockPair> pairs;
  DeviceCounts counts{};
  bool is_cut = false;
  std::int64_t cut = 0;            ///< bytes missing at the end
  std::vector<ByteFault> damaged;  ///< one per damaged segment
  std::uint64_t unknown_kinds = 0;

 private:
  static bool fits(const PlainSegment& head, std::size_t rest) {
    return head.bytes >= sizeof(SegmentHeader) && head.bytes <= std::min<std::size_t>(rest, kSegmentBytes) &&
           head.bytes % kSegmentAlignment == 0;
  }

  /// Bytes from a segment whose size was overwritten to the next one that begins with a unit, or to the end.
  std::size_t to_next_segment(std::size_t from, std::size_t end) const {
    std::size_t at = from;
    do at += kUnitBytes - (at - kHeaderBytes) % kUnitBytes;
    while (at < end && at + sizeof(SegmentHeader) <= file_.size() &&
           !(fits(copied<PlainSegment>(file_.subspan(at)), end - at) &&
             copied<PlainSegment>(file_.subspan(at)).committed >= sizeof(SegmentHeader)));
    return std::min(at, end) - from;
  }

  void segment(std::size_t from, std::size_t size, const PlainSegment& head) {
    const std::span<const char> room = file_.subspan(from, std::min(size, file_.size() - from));
    if (head.committed < sizeof(SegmentHeader) && !is_overwritten(room))
      return;  // claimed and never written to
    const bool is_told = head.committed >= sizeof(SegmentHeader) && head.committed <= size;
    const std::size_t end = is_told ? std::min<std::size_t>(head.committed, room.size()) : room.size();
    const bool ends_early = is_told && end < head.committed;
    is_cut |= ends_early;
    Segment out{head.thread,
                head.torch_thread,
                text_of(head.thread_name),
                room.first(end).subspan(sizeof(SegmentHeader)),
                {}};
    Walked walked =
        walk(out.records, [&](const Record& record, std::span<const char> bytes) { take(record, bytes); });
    unknown_kinds += walked.unknown_kinds;
    out.damaged = std::move(walked.damaged);
    std::int64_t lost = is_told ? 0 : sizeof(SegmentHeader);
    for (const Stretch& stretch : out.damaged) {
      const bool is_last = stretch.at + stretch.bytes == out.records.size();
      if (is_last && ends_early) continue;  // reported already
      lost += static_cast<std::int64_t>(is_last && !is_told ? written(out.records.subspan(stretch.at))
                                                            : stretch.bytes);
    }
    const std::size_t first = is_told && lost > 0 ? sizeof(SegmentHeader) + out.damaged[0].at : 0;
    if (lost > 0)
      damaged.push_back({static_cast<std::int64_t>(from + first),
                         "the records here are damaged; reading continued after them", lost});
    segments.push_back(std::move(out));
  }

  /// Bytes up to the last one that is not zero.
  static std::size_t written(std::span<const char> bytes) {
    const auto last = std::find_if(bytes.rbegin(), bytes.rend(), [](char c) { return c != 0; });
    return static_cast<std::size_t>(bytes.rend() - last);
  }

  /// True if the segment's size was overwritten, false if it was not written yet: an overwritten segment has
  /// records after its first one, a clock. Always false while the program runs: it may have written those
  /// after we read the size.
  bool is_overwritten(std::span<const char> segment) const {
    return stopped_ && written(segment) > sizeof(SegmentHeader) + sizeof(ClockRecord);
  }

  void take(const Record& record, std::span<const char> bytes) {
    if (record.type == Type::clock) {
      const auto pair = copied<ClockRecord>(bytes).pair;
      if (plausible(pair)) pairs.push_back(pair);
    }
    if (record.type != Type::device_counts) return;
    const auto more = copied<DeviceCounts>(bytes);
    counts.dropped += more.dropped;
    counts.untimed += more.untimed;
    counts.discarded += more.discarded;
    counts.unread += more.unread;
  }

  const std::span<const char> file_;
  const bool stopped_;
};

std::vector<std::string> device_losses(const DeviceCounts& all) {
  std::vector<std::string> out;
  if (all.dropped > 0)
    out.push_back(std::to_string(all.dropped) +
                  " GPU records were dropped by CUPTI because it ran out of memory.");
  if (all.discarded > 0)
    out.push_back(std::to_string(all.discarded) +
                  " bytes of GPU records were lost because they arrived faster than they could be read.");
  if (all.untimed > 0)
    out.push_back(std::to_string(all.untimed) +
                  " kernels or copies have no times and are not shown: the recording ended before they "
                  "did, or the GPU had no memory for their times.");
  if (all.unread > 0) out.push_back(std::to_string(all.unread) + " GPU records could not be read.");
  return out;
}

std::string told(const std::vector<ByteFault>& damaged, std::size_t segments) {
  std::int64_t lost = 0;
  for (const ByteFault& fault : damaged) lost += fault.bytes;
  return std::to_string(damaged.size()) + " of " + std::to_string(segments) +
         (damaged.size() == 1 ? " segments is" : " segments are") + " damaged, first at byte " +
         std::to_string(damaged[0].offset) + ": " + std::to_string(lost) +
         " bytes of records could not be read. The rest was read; if the file was copied, copy it again.";
}

}  // namespace

bool is_recording(std::span<const char> first_bytes) {
  return first_bytes.size() >= sizeof kMagic &&
         std::equal(kMagic, kMagic + sizeof kMagic, first_bytes.data());
}

Times::Times(Clock clock, std::vector<ClockPair> pairs) : pairs_(std::move(pairs)) {
  std::sort(pairs_.begin(), pairs_.end(),
            [](const ClockPair& a, const ClockPair& b) { return a.tick < b.tick; });
  // Two instants close to each other give a poor estimate of the rate.
  constexpr std::int64_t kApart = 10'000'000;  // ns
  std::vector<ClockPair> kept;
  for (const ClockPair& pair : pairs_)
    if (kept.empty() ||
        (pair.tick > kept.back().tick && pair.monotonic_ns - kept.back().monotonic_ns >= kApart))
      kept.push_back(pair);
  if (kept.size() < 2 && pairs_.size() > 1 && pairs_.back().tick > pairs_.front().tick &&
      pairs_.back().monotonic_ns > pairs_.front().monotonic_ns)
    kept = {pairs_.front(), pairs_.back()};
  pairs_ = std::move(kept);
  for (std::size_t i = 0; i + 1 < pairs_.size(); ++i)
    slopes_.push_back(static_cast<double>(pairs_[i + 1].monotonic_ns - pairs_[i].monotonic_ns) /
                      static_cast<double>(pairs_[i + 1].tick - pairs_[i].tick));
  if (clock == Clock::monotonic_ns) std::fill(slopes_.begin(), slopes_.end(), 1.0);
  if (!pairs_.empty()) slopes_.push_back(slopes_.empty() ? 1.0 : slopes_.back());
}

std::int64_t Times::ns(std::uint64_t tick) const {
  if (pairs_.empty()) return static_cast<std::int64_t>(std::min<std::uint64_t>(tick, kFarthest));
  const auto after = std::upper_bound(pairs_.begin(), pairs_.end(), tick,
                                      [](std::uint64_t t, const ClockPair& pair) { return t < pair.tick; });
  const auto i = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, after - pairs_.begin() - 1));
  const double away = static_cast<double>(static_cast<std::int64_t>(tick - pairs_[i].tick)) * slopes_[i];
  constexpr auto kMax = static_cast<double>(kFarthest);
  return of_monotonic(pairs_[i].monotonic_ns + static_cast<std::int64_t>(std::clamp(away, -kMax, kMax)));
}

std::int64_t Times::of_monotonic(std::int64_t ns) const {
  // The real-time clock may be set while a program runs, so the whole recording uses one offset.
  const std::int64_t offset = pairs_.empty() ? 0 : pairs_[0].realtime_ns - pairs_[0].monotonic_ns;
  return std::clamp(ns, -2 * kFarthest, 2 * kFarthest) + offset;
}

void Times::count_from(const Times& other) {
  if (!pairs_.empty() && !other.pairs_.empty())
    pairs_[0].realtime_ns = pairs_[0].monotonic_ns + other.of_monotonic(0);
}

namespace {

/// The op that a short one stands for.
SequencedOp lengthened(const Record& record, std::span<const char> bytes, std::uint64_t clock) {
  SequencedShortOp brief{};
  std::memcpy(static_cast<void*>(&brief), bytes.data(), std::min(bytes.size(), sizeof brief));
  SequencedOp op{};
  op.type = Type::op;
  op.units = sizeof(Op) / 8;
  op.value = record.value & 0xFFFFU;
  op.signature = record.value >> 16U;
  op.begin = clock + brief.begin;
  op.end = op.begin + brief.duration;
  op.scope = record.type == Type::short_op ? kFunctionScope : kBackwardScope;
  if (bytes.size() < sizeof brief) return op;
  op.units = sizeof op / 8;
  op.flags = kHasSequence;
  op.sequence = static_cast<std::int64_t>(brief.sequence & ((1ULL << 48U) - 1));
  op.forward_thread = brief.sequence >> 48U;
  return op;
}

}  // namespace

bool for_each_record(const Segment& segment,
                     const std::function<void(const Record&, std::span<const char>)>& take) {
  auto damaged = segment.damaged.begin();
  std::uint64_t clock = 0;
  for (std::size_t at = 0; at < segment.records.size();) {
    if (damaged != segment.damaged.end() && damaged->at == at) {
      at += (damaged++)->bytes;
      continue;
    }
    const std::span<const char> rest = segment.records.subspan(at);
    if (rest.size() < sizeof(Record)) return false;
    const auto record = copied<Record>(rest);
    const std::size_t bytes = record.units * std::size_t{8};
    if (bytes < sizeof(Record) || bytes > rest.size()) return false;
    at += bytes;
    if (record.type == Type::short_op || record.type == Type::short_backward_op) {
      const SequencedOp op = lengthened(record, rest.first(bytes), clock);
      take(op, {reinterpret_cast<const char*>(&op), op.units * std::size_t{8}});
      continue;
    }
    ClockRecord now;
    if (record.type == Type::clock && copy_to(now, rest.first(bytes))) clock = now.pair.tick;
    take(record, rest.first(bytes));
  }
  return segment.damaged.empty();
}

Texts::Texts(const Segment& segment) {
  for_each_record(segment, [&](const Record& record, std::span<const char> bytes) {
    const bool is_op_name = record.type == Type::op_name;
    if ((record.type != Type::text && record.type != Type::signature && !is_op_name) ||
        bytes.size() < kTextBytes)
      return;
    const std::uint32_t length = copied<std::uint32_t>(bytes.subspan(sizeof(Record)));
    if (length > bytes.size() - kTextBytes || record.value > segment.records.size()) return;
    if (by_id_.size() <= record.value) {
      by_id_.resize(record.value + 1);
      is_signature_.resize(record.value + 1);
    }
    is_signature_[record.value] = record.type == Type::signature;
    const std::string_view text(bytes.data() + kTextBytes, length);
    const std::size_t end = is_op_name ? text.find('\0') : text.npos;
    by_id_[record.value] = text.substr(0, end);
    if (end == text.npos) return;
    if (overloads_.size() <= record.value) overloads_.resize(record.value + 1);
    overloads_[record.value] = text.substr(end + 1);
  });
}

const char* why_dropped(Limit limit) {
  switch (limit) {
    case Limit::disk:
      return " because the disk was full: record to another disk.";
    case Limit::file_size:
      return " because of the program's limit of file sizes: raise it (ulimit -f).";
    case Limit::access:
      return " because the program could not open its recording any more: it changed its root folder, its "
             "user "
             "or its limit of open files.";
    case Limit::recording:
      break;
  }
  return ": record fewer steps, or raise the recording's limit (megabytes).";
}

Result<Recording> Recording::open(std::span<const char> file) {
  if (!is_recording(file) || file.size() < kHeaderBytes) return Error{"is not a stepscope recording", "", 0};
  const auto header = copied<PlainHeader>(file);
  if (header.version != kVersion || header.header_bytes != kHeaderBytes || header.unit_bytes != kUnitBytes)
    return Error{"was recorded by another version of stepscope (" + std::to_string(header.version) +
                     "); open it with that version",
                 "", 8};
  Recording out;
  out.pid_ = header.pid;
  out.flags_ = header.flags;
  out.dropped_ = header.dropped;
  out.limit_ = header.limit <= Limit::access ? header.limit : Limit::recording;
  out.full_tick_ = header.full_at;
  out.kept_tick_ = header.kept_from;
  out.stopped_ = header.end.tick != 0;
  out.host_ = text_of(header.host);
  out.parent_ = header.parent;
  out.worker_ = header.worker;
  Contents contents(file, header);
  out.segments_ = std::move(contents.segments);
  if (contents.is_cut)
    out.lose("The recording is cut off: " + std::to_string(contents.cut) + " bytes are missing at its end.");
  if (!contents.damaged.empty()) {
    out.notes_.push_back(told(contents.damaged, out.segments_.size()));
    out.faults_.insert(out.faults_.end(), contents.damaged.begin(), contents.damaged.end());
  }
  if (out.dropped_ > 0)
    out.lose(std::to_string(out.dropped_) + " records were dropped" + why_dropped(out.limit_));
  if (header.kept_from != 0)
    out.notes_.emplace_back(
        "The recording was full: new events have replaced the oldest ones (keep=\"newest\"). Raise its limit "
        "(megabytes) to keep more.");
  for (const std::string& sentence : device_losses(contents.counts)) out.lose(sentence);
  if (contents.unknown_kinds > 0)
    out.notes_.push_back(std::to_string(contents.unknown_kinds) +
                         " records are of kinds unknown to this version of stepscope: open the "
                         "recording with the version that made it.");
  out.times_ = Times(static_cast<Clock>(header.clock), std::move(contents.pairs));
  out.begin_tick_ = header.begin.tick;
  out.end_tick_ = header.end.tick;
  out.settle_times();
  return out;
}

void Recording::lose(std::string sentence) {
  faults_.push_back({0, sentence});
  notes_.push_back(std::move(sentence));
}

void Recording::take_times_of(const Recording& parent) {
  times_.count_from(parent.times_);
  settle_times();
}

void Recording::settle_times() {
  begin_ = times_.ns(begin_tick_);
  end_ = stopped_ ? times_.ns(end_tick_) : begin_;
  full_ = full_tick_ != 0 ? times_.ns(full_tick_) : 0;
  kept_from_ = kept_tick_ != 0 ? times_.ns(kept_tick_) : 0;
}

}  // namespace stepscope::record
