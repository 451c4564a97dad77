// Reads the events of a Chrome-trace event list, in every dialect torch.profiler has written.
#pragma once

#include <array>
#include <span>

#include "read/batch.h"
#include "read/blocks.h"
#include "read/json_text.h"

namespace stepscope::read {

/// True when one vocabulary would have had no room for all their schemas: some args might then be kept as raw
/// text.
bool may_be_full(std::span<const Vocabulary> words);

/// The phase of DFTracer's records that each stand for many calls; it numbers its phases.
inline constexpr char kAggregated = 3;

/// What differs between files of events.
struct EventRules {
  bool drawn = false;        ///< also keep events that an overlay drew
  bool wide = false;         ///< integers take two words even if they fit into one
  bool dftracer = false;     ///< phases may be numbers, names may be hashes, numbers may be in quotes
  bool lines = false;        ///< without a document around the events
  std::int64_t unit = 1000;  ///< ns of one unit of the file's times
};

/// Parses event objects into a Batch. One per thread: it predicts the keys of the next event from the last
/// ones.
class EventParser {
 public:
  using Sink = Batch;

  explicit EventParser(Vocabulary& vocabulary, const EventRules& rules = {})
      : words_(vocabulary), rules_(rules) {}

  enum class Outcome : std::uint8_t {
    read,     ///< p is after the event
    damaged,  ///< not an event; `damage()` says why, p is unchanged
    cut,      ///< the text ended inside it; p is unchanged
  };
  /// `p` is at the "{" of an event in `block`, which must end before `limit`.
  Outcome parse(const char*& p, const char* limit, const Block& block, Batch& batch);
  /// Gives `batch` the rows of all events parsed since the last call.
  void end_batch(Batch& batch);
  const char* damage() const { return damage_; }
  /// How far the text of a damaged event was read.
  const char* reached() const { return reached_; }

 private:
  // Args beyond this number are kept as one raw text.
  static constexpr std::size_t kMaxFields = 256;
  struct Fields {
    char phase = 0;
    bool has_category = false, time_usable = false, duration_usable = false, has_duration = false;
    trace::StringId name = 0, category = 0;
    Ident pid, tid;
    std::int64_t time = 0, duration = 0, id = 0, layer = 0;
    trace::SchemaId schema = trace::kNoArgs;
    std::size_t field_count = 0;
    bool has_more = false;                // the args beyond the limit are kept as one text
    const char* first_skipped = nullptr;  // the first field that was not kept
    std::int64_t skipped_bytes = 0;
  };
  struct LastLane {
    LaneKey key;
    LaneId lane = kNoLane;
  };
  /// The fields of an event that mean something to every reader.
  enum class Field : std::uint8_t { none, ph, cat, name, pid, tid, ts, dur, args, id, unused, other };
  static constexpr std::size_t kFields = 12;
  /// The text between two fields' values, e.g. `,"tid":`. Comparing it once replaces parsing separators and
  /// key.
  class Gap {
   public:
    bool learn(const char* from, const char* to, Field next);
    bool stands_at(const char* p) const;
    Field next() const { return next_; }
    std::size_t size() const { return size_; }

   private:
    std::uint64_t low_ = 0, high_ = 0, low_mask_ = 0, high_mask_ = 0;
    std::uint8_t size_ = 0;  ///< 0: nothing learned
    Field next_ = Field::none;
  };
  struct Prediction {
    std::string_view key_text;  ///< with both quotes and a colon
    trace::ArgField field{};
    trace::SchemaId next = 0;
  };

  // Each parse_… moves `p` past what it reads. False: the text ends, or `damage_` is what is wrong.
  bool parse_fields(const char*& p, Fields& f);
  bool find_field(const char*& p, Field before, Field& field);
  bool read_key(const char*& p, Field& field);
  bool parse_field(const char*& p, Field field, Fields& f);
  bool parse_args(const char*& p, Fields& f);
  bool keep_as_text(const char*& p, Fields& f);
  bool parse_arg(const char*& p, Fields& f);
  bool parse_arg_value(const char*& p, trace::ArgType& type, std::int64_t& value);
  bool parse_text(const char*& p, trace::StringId& id);
  bool parse_phase(const char*& p, char& phase);
  bool parse_category(const char*& p, trace::StringId& id);
  void note_use(trace::StringId id);
  bool parse_ident(const char*& p, Ident& ident);
  bool parse_id(const char*& p, std::int64_t& id);
  bool parse_time(const char*& p, std::int64_t& time, bool& usable);
  bool parse_units(const char*& p, std::int64_t& time) const;
  bool skip_value(const char*& p) { return pass_value(p, end_, damage_, reached_); }
  bool skip_field(const char*& p, Fields& f);
  bool has_room(const Fields& f) const;
  trace::StringId intern(std::string_view text);
  trace::StringId intern_escaped(std::string_view text);
  trace::SchemaId extend(trace::SchemaId schema, trace::ArgField field);
  trace::Kind category_kind(trace::StringId category);
  LaneId lane_of(const Fields& f, trace::Kind kind, char flow = 0);
  void add(const Fields& f);
  void add_timed(const Fields& f);
  /// Whether an overlay drew the event and drawings are not wanted.
  bool is_left_out(const Fields& f) const;
  void add_row(const Fields& f, trace::Kind kind, std::int64_t end);

  // DFTracer's.
  enum class KeyClass : std::uint8_t { unknown, plain, hash, number };
  void settle_arg(trace::StringId key, std::string_view text, trace::ArgType& type, std::int64_t& value);
  KeyClass class_of(trace::StringId key);
  trace::StringId text_of_hash(std::string_view text, std::int64_t hash);
  void add_metadata(const Fields& f);
  trace::Kind kind_of_line(const Fields& f);

  Vocabulary& words_;
  const EventRules rules_;
  Batch* batch_ = nullptr;
  ParsedRows parsed_;
  std::array<std::int64_t, kMaxFields + 1> values_;  // arg values of the event being read
  BatchMemory memory_;
  std::size_t first_value_ = 0;  // index of the batch's first value
  bool schemas_room_ = true;     // there is room for another schema
  const char* end_ = nullptr;
  std::uint32_t block_ = 0;
  const char* damage_ = "";
  const char* reached_ = nullptr;
  bool odd_device_ = false;                  // the last added event has an odd device number
  std::vector<Prediction> predictions_;      // by schema: the field that followed last time
  std::vector<std::uint8_t> kinds_;          // by category id
  std::vector<trace::StringId> hash_texts_;  // by hash, if it is small
  std::vector<KeyClass> key_classes_;        // by key
  Gap gaps_[kFields][2];                     // by the previous field: the two learned last
  const char* key_ = nullptr;                // opening quote of the key being read
  LastLane last_lanes_[trace::kKinds + 4];   // by kind, then by phase of flow events
  std::pair<std::string_view, trace::StringId> last_category_;
  std::string scratch_;
};

}  // namespace stepscope::read
