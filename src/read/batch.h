// What one block of text became: rows in the reading thread's own ids. seal() turns batches into a Rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/memory.h"
#include "trace/trace.h"

namespace stepscope::read {

/// A pid or tid as the file has it: a number, or the id of a text.
struct Ident {
  std::int64_t value = 0;
  bool text = false;
  friend bool operator==(const Ident&, const Ident&) = default;
};

/// Beyond this a number is no device's; recorders keep ids in 32 bits.
inline constexpr std::int64_t kMaxDevice = 0x7FFFFFFF;

struct TrackKey {
  bool device = false;  ///< host threads and streams of equal numbers are different tracks
  Ident pid, tid;
  friend bool operator==(const TrackKey&, const TrackKey&) = default;
};

struct TrackKeyHash {
  std::size_t operator()(const TrackKey& key) const {
    const HashSeed seed = process_hash_seed();
    return hash_of(static_cast<std::int64_t>(hash_of(key.pid.value, seed)) ^ key.tid.value, seed) ^
           (key.device ? 7u : 0u);
  }
};

/// What many events have in common, so that each need only hold which it is of.
struct Lane {
  trace::TrackId track = 0;
  trace::StringId category = 0;
  trace::Kind kind{};
  char flow = 0;  ///< the phase of a flow event, 0 of all others
};
using LaneId = std::uint32_t;
inline constexpr LaneId kNoLane = 0xFFFFFFFF;

struct LaneKey {
  TrackKey track;
  trace::StringId category = 0;
  trace::Kind kind{};
  char flow = 0;
  friend bool operator==(const LaneKey&, const LaneKey&) = default;
};

struct LaneKeyHash {
  std::size_t operator()(const LaneKey& key) const {
    const auto rest =
        static_cast<std::int64_t>(key.category) << 16 | static_cast<int>(key.kind) << 8 | key.flow;
    return hash_of(static_cast<std::int64_t>(TrackKeyHash{}(key.track)) ^ rest, process_hash_seed());
  }
};

/// One thread's ids and values, kept over all the blocks it reads.
struct Vocabulary {
  trace::StringPool strings;
  trace::SchemaTable schemas;
  std::vector<TrackKey> tracks;
  std::unordered_map<TrackKey, trace::TrackId, TrackKeyHash> track_ids;
  std::vector<Lane> lanes;
  std::unordered_map<LaneKey, LaneId, LaneKeyHash> lane_ids;
  trace::Values values;       ///< of rows, in their order
  trace::Values half_values;  ///< of begin and end events
  std::vector<std::uint32_t>
      used_in;  ///< by string: last block that used it, so that batches can list first uses
};

/// A begin or end event (ph B, E), paired when the rank is sealed.
struct HalfEvent {
  std::int64_t time;
  trace::StringId name, category;
  trace::TrackId track;
  trace::SchemaId schema;
  std::uint32_t args_at, source;
  bool begin;
};

/// A metadata event (ph M): something is called something.
struct NameEvent {
  Ident pid, tid;
  trace::StringId what, name;
};

/// An event with a time, in its reading thread's ids; what the columns of an EventTable are made of.
struct ParsedRow {
  std::int64_t start, end;
  trace::StringId name;
  trace::SchemaId schema;
  LaneId lane;
  std::uint32_t source;  ///< counts from 0 in the block
};

/// A flow event (ph s, t, f).
struct ParsedFlow {
  std::int64_t time, id;
  LaneId lane;
};

/// The rows of one block as they are parsed; used again for the next block.
struct ParsedRows {
  std::vector<ParsedRow> rows;
  std::vector<ParsedFlow> flows;
};

/// A track of a batch.
struct TrackRows {
  trace::TrackId track;
  std::uint32_t rows;
};

/// A lane of a batch's rows.
struct RowLane {
  LaneId lane;
  std::uint32_t track;  ///< index of the batch's tracks
};

struct Batch {
  std::uint32_t index = 0;       ///< of its block
  std::uint32_t vocabulary = 0;  ///< whose ids these are
  std::span<ParsedRow> rows;     ///< `lane` is an index of `lanes`; this and the next lie in `memory`
  std::span<ParsedFlow> flows;
  std::shared_ptr<std::byte> memory;  ///< shared with neighbouring batches of the thread
  std::vector<TrackRows> tracks;
  std::vector<RowLane> lanes;
  std::size_t first_value = 0;  ///< of its rows, among those of the vocabulary
  std::vector<HalfEvent> halves;
  std::vector<NameEvent> names;
  std::vector<trace::StringId> first_uses;  ///< strings in the order this block first used them
  std::uint32_t listed = 0;                 ///< events of every phase
  std::int64_t clamped_times = 0;
  std::vector<trace::Loss> losses;  ///< the first few
  std::int64_t loss_count = 0, lost_bytes = 0;

  void lose(std::int64_t byte, std::int64_t bytes, std::string_view reason) {
    constexpr std::size_t kDescribed = 16;
    if (losses.size() < kDescribed) losses.push_back({byte, bytes, std::string(reason)});
    ++loss_count;
    lost_bytes += bytes;
  }
};

/// Where the rows of one thread's batches are kept until they are sealed: packed, in few large pieces of
/// memory, each of which is freed with the last of its batches.
class BatchMemory {
 public:
  /// Copies `rows`, whose lanes are of `words`, into memory of the batch and counts them by track.
  void keep(const ParsedRows& rows, const Vocabulary& words, Batch& batch);

 private:
  std::uint32_t track_in(Batch& batch, trace::TrackId track);
  std::uint32_t lane_in(Batch& batch, LaneId lane, const Vocabulary& words);

  static constexpr std::size_t kPiece = std::size_t{1} << 23;
  std::shared_ptr<std::byte> piece_;
  std::size_t size_ = 0, used_ = 0;
  std::vector<std::uint32_t> track_at_, lane_at_;  // by id: places among the batch's tracks and lanes
};

/// A file that was parsed and not yet sealed.
struct ParsedFile {
  trace::Rank rank;  ///< head and counts; no events yet
  std::vector<Batch> batches;
  std::vector<Vocabulary> words;
};

/// Appends the file as a rank of `trace`: remaps ids in block order (so that the thread count changes
/// nothing), pairs begin and end events, lanes by (track, start, longest first).
void seal(trace::Trace& trace, ParsedFile file, unsigned threads);

}  // namespace stepscope::read
