// The rows of one block of text, in the reading thread's own ids. seal() turns batches into a Rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/key_hash.h"
#include "base/memory.h"
#include "read/losses.h"
#include "trace/snapshot.h"
#include "trace/trace.h"

namespace stepscope::read {

/// A pid or tid of the file: a number, or the id of a text.
struct Ident {
  std::int64_t value = 0;
  bool text = false;
  friend bool operator==(const Ident&, const Ident&) = default;
};

/// The largest device number: recorders keep ids in 32 bits.
inline constexpr std::int64_t kMaxDevice = 0x7FFFFFFF;

struct TrackKey {
  bool device = false;  ///< host threads and streams of equal numbers are different tracks
  Ident pid, tid;
  friend bool operator==(const TrackKey&, const TrackKey&) = default;
};

struct TrackKeyHash {
  std::size_t operator()(const TrackKey& key) const {
    return hash_of_all(process_hash_seed(), key.device, key.pid.value, key.tid.value);
  }
};

/// Track, category and kind, which many events share. An event holds its lane's id.
struct Lane {
  trace::TrackId track = 0;
  trace::StringId category = 0;
  trace::Kind kind{};
  char flow = 0;  ///< phase of a flow event, 0 for others
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
    return hash_of_all(process_hash_seed(), TrackKeyHash{}(key.track), key.category, key.kind, key.flow);
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
  trace::Values values;                ///< arg values of rows, in row order
  trace::Values half_values;           ///< arg values of begin and end events
  std::vector<std::uint32_t> used_in;  ///< by string: the last block that used it; for Batch::first_uses
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

/// A metadata event (ph M): a process or thread gets a name.
struct NameEvent {
  Ident pid, tid;
  trace::StringId what, name;
};

/// What a hash in args stands for, or the number of a rank: metadata of DFTracer's files.
struct Definition {
  enum class Of : std::uint8_t { file, host, text, rank };
  Of of{};
  trace::StringId hash = 0, name = 0;  ///< of a rank: `name` is its number
  std::uint32_t source = 0;            ///< position in the block: it holds for the events that follow
};

/// An event with a time, in its reading thread's ids: a future row of the EventTable.
struct ParsedRow {
  std::int64_t start, end;
  trace::StringId name;
  trace::SchemaId schema;
  LaneId lane;
  std::uint32_t source;  ///< position in the block, from 0
};

/// A flow event (ph s, t, f).
struct ParsedFlow {
  std::int64_t time, id;
  LaneId lane;
};

/// The rows of the block that is being parsed. Reused for the next block.
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
  std::uint32_t index = 0;       ///< number of its block
  std::uint32_t vocabulary = 0;  ///< index of the vocabulary that its ids belong to
  std::span<ParsedRow> rows;     ///< `lane` indexes `lanes`; rows and flows lie in `memory`
  std::span<ParsedFlow> flows;
  std::shared_ptr<std::byte> memory;  ///< shared with neighbouring batches of the thread
  std::vector<TrackRows> tracks;
  std::vector<RowLane> lanes;
  std::size_t first_value = 0;  ///< where its rows' values begin in Vocabulary::values
  std::vector<HalfEvent> halves;
  std::vector<NameEvent> names;
  std::vector<Definition> definitions;
  std::vector<trace::StringId> first_uses;  ///< strings in the order this block first used them
  std::uint32_t listed = 0;                 ///< events of every phase
  std::int64_t clamped_times = 0, crowded_args = 0, aggregated = 0;
  std::vector<trace::Loss> losses;  ///< the first few
  std::int64_t loss_count = 0, lost_bytes = 0;

  void lose(std::int64_t byte, std::int64_t bytes, std::string_view reason) {
    describe(losses, {byte, bytes, std::string(reason)});
    ++loss_count;
    lost_bytes += bytes;
  }
};

/// Memory for the rows of one thread's batches until they are sealed: few large pieces, packed. The last
/// batch of a piece frees it.
class BatchMemory {
 public:
  /// Copies `rows`, with lanes of `words`, into the batch's memory and counts them by track.
  void keep(const ParsedRows& rows, const Vocabulary& words, Batch& batch);

 private:
  std::uint32_t track_in(Batch& batch, trace::TrackId track);
  std::uint32_t lane_in(Batch& batch, LaneId lane, const Vocabulary& words);

  static constexpr std::size_t kPiece = std::size_t{1} << 23;
  std::shared_ptr<std::byte> piece_;
  std::size_t size_ = 0, used_ = 0;
  std::vector<std::uint32_t> track_at_, lane_at_;  // id → index in the batch's tracks and lanes
};

/// A file that was parsed but not yet sealed.
struct ParsedFile {
  trace::Rank rank;  ///< head and counts; no events yet
  std::vector<Batch> batches;
  std::vector<Vocabulary> words;
  std::shared_ptr<trace::Snapshot> snapshot;  ///< of its allocator, with ids of words[0]; may be null
  std::shared_ptr<const trace::MemoryTimeline> memory_timeline{};  ///< may be null
};

/// Appends the file as a rank of `trace`: remaps ids in block order (so that the thread count changes
/// nothing), pairs begin and end events, sorts rows by (track, start, longest first).
void seal(trace::Trace& trace, ParsedFile file, unsigned threads);

}  // namespace stepscope::read
