// The data model. A Trace is one or more ranks and the string pool that they share. It never changes after
// read::open() has returned it.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/args.h"
#include "trace/event_table.h"
#include "trace/string_pool.h"
#include "trace/values.h"

namespace stepscope::trace {

struct MemoryTimeline;
struct Snapshot;

/// One time line of the file: a host thread, a device stream, or another track of the file.
struct Track {
  enum class Side : std::uint8_t { host, device };
  Side side = Side::host;
  std::string pid, tid;      ///< as in the file
  std::int64_t device = -1;  ///< device index when side is device
  std::int64_t stream = -1;  ///< stream id when side is device
  std::string name;          ///< thread or stream name from metadata, may be empty
  std::string process;       ///< process name from metadata, may be empty
  Row begin = 0, end = 0;    ///< its rows in the EventTable
};

/// A device's properties, as in the file. 0: not stated.
struct Device {
  std::int64_t id = 0;
  std::string name;
  std::int64_t total_memory = 0;  ///< bytes
  int compute_major = 0, compute_minor = 0;
  std::int64_t sm_count = 0, warp_size = 0;
  std::int64_t max_threads_per_sm = 0;
};

/// A part of the file that could not be read.
struct Loss {
  std::int64_t byte;   ///< offset in the uncompressed text (in the compressed file for gzip damage)
  std::int64_t bytes;  ///< length, -1 when unknown
  std::string reason;  ///< a sentence
  /// "at byte N: reason (M bytes left out)"
  std::string text() const;
};

/// The result of reading a file: its size, and counts of everything that is not in the tables.
struct Reading {
  std::int64_t text_bytes = 0;  ///< uncompressed length read
  std::int64_t events = 0;      ///< events of every phase that parsed
  std::int64_t losses = 0;      ///< damaged parts of the file; the first ones are in `first_losses`
  std::int64_t lost_bytes = 0;
  std::int64_t clamped_times = 0;   ///< negative or absurdly large durations and times
  std::int64_t unmatched_ends = 0;  ///< end events (ph E) without a begin, left out
  std::int64_t open_begins = 0;   ///< begin events (ph B) without an end, extended to the end of their thread
  std::int64_t crowded_args = 0;  ///< events whose last args are kept as one text, "(more args)"
  std::int64_t aggregated = 0;    ///< events that each stand for many calls
  std::int64_t ambiguous_hashes = 0;  ///< hashes that stand for several names in this file
  std::int64_t unknown_hashes = 0;    ///< events with the hash of a file that nothing explains
  bool complete = true;               ///< the document was not cut off
  bool only_critical = false;         ///< a copy made by `overlay`, with only the critical path
  std::string format;                 ///< e.g. "kineto"
  std::vector<Loss> first_losses;
};

/// Not a time. Any other value, even a negative one, is a time.
inline constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::min();

/// A profiler step. Start and end are the annotation's; device_end is the end of the last device event
/// launched in it.
struct Step {
  std::int64_t number = 0;  ///< as in ProfilerStep#N
  std::string name;
  std::int64_t start = 0, end = 0;
  std::int64_t device_end = kNoTime;  ///< kNoTime if nothing was launched
  Row row = kNoRow;                   ///< its annotation; kNoRow without one
  bool found = false;                 ///< not marked: the program repeats itself there
  /// False if it is the whole window of a recording without steps.
  bool counts() const { return row != kNoRow || found; }
};

/// The machine that ran a rank, as its recorder saw it; -1: the file does not say.
struct Machine {
  std::int64_t accelerators = -1;
  std::int64_t cores = -1;    ///< that the process may use
  std::int64_t threads = -1;  ///< that an operator may use
};

/// What the recorder saw once, after an optimizer's step; counts are of that step.
struct Training {
  struct Embedding {
    std::string name;            ///< of its weight
    std::int64_t rows, touched;  ///< all; with a gradient that is not zero
    std::int64_t elements, bytes;
  };
  bool seen = false;                                        ///< false: the file does not say
  bool anomaly = false, deterministic = false;              ///< PyTorch's switches
  std::int64_t gradients = 0;                               ///< elements of all gradients
  std::int64_t unread_parameters = 0, unread_elements = 0;  ///< with a gradient, in no optimizer
  std::string unread_names;                                 ///< the first, with commas
  std::int64_t input_tensors = 0, input_elements = 0;  ///< with a gradient, in no module and no optimizer
  std::string input_shape;                             ///< of the largest, "[5000, 768]"
  std::int64_t groups = 0, different_groups = 0;       ///< of one optimizer's parameters; by their settings
  std::vector<Embedding> embeddings;                   ///< with dense gradients
};

/// Padding of what embeddings looked up, as the recorder saw it in some batches; in tokens.
struct TokenPadding {
  std::int64_t elements = 0;  ///< 0: the file does not say
  std::int64_t padding = 0;
  std::int64_t shared = 0;  ///< of the padding, what lies in columns that are padding in every row
  std::string largest;      ///< batch, "[16, 128]"
};

/// That recordings had no room for events from some time on.
struct Full {
  enum class Limit : std::uint8_t { recording, disk, file_size, access };  ///< as record::Limit
  std::int64_t dropped = 0;  ///< records; 0: there was room for all
  std::int64_t after = 0;    ///< ns from the recording's begin; ops that end later are left out
  Limit limit = Limit::recording;
  std::int64_t recordings = 1;
};

struct Rank {
  std::string path;
  std::int64_t rank = -1;  ///< -1 if the file does not say
  std::int64_t world_size = -1;
  std::string backend;                                        ///< of torch.distributed, e.g. "nccl"
  std::int64_t base_ns = 0;                                   ///< add to row times to get Unix nanoseconds
  std::vector<std::pair<std::string, std::string>> metadata;  ///< other top-level keys and their JSON text
  std::vector<Device> devices;
  Machine machine;
  std::string command;         ///< that was run, without its interpreter; "" if the file does not say
  bool whole_program = false;  ///< its recorder ran from the program's begin on, not for chosen steps
  double shapes_cost = 0;      ///< > 0: shapes were recorded in windows, because those of all ops would have
                               ///< cost this share of the time
  Training training;
  TokenPadding padding;
  Full full;
  std::int64_t kept_from = 0;  ///< ns from the recording's begin: later events replaced those before; 0: none
  std::map<std::string, std::string>
      source_lines;  ///< "file(line)" of the program's own lines, and their text
  std::vector<Track> tracks;
  EventTable events;
  FlowTable flows;
  Values values;                       ///< values of args, see EventTable::schema and args_at
  std::vector<Step> steps;             ///< derived
  std::string step_border;             ///< derived: the range by which steps were found; "" if not found
  std::int64_t first_start = kNoTime;  ///< start of the earliest row; kNoTime without rows
  std::int64_t last_end =
      kNoTime;          ///< end of the last row of a host thread, else of any; kNoTime without rows
  std::string process;  ///< process id of the first track
  std::shared_ptr<const Snapshot> snapshot;               ///< of its memory allocator; null if there is none
  std::shared_ptr<const MemoryTimeline> memory_timeline;  ///< that torch.profiler exported; null without one
  Reading reading;

  /// A memory snapshot without a recording of ops and kernels.
  bool is_snapshot_alone() const { return snapshot != nullptr && events.size() == 0; }
  /// Host tracks come first, so device rows are at the end.
  Row first_device_row() const {
    for (const Track& track : tracks)
      if (track.side == Track::Side::device) return track.begin;
    return events.size();
  }
  RowRange host_rows() const { return {0, first_device_row()}; }
  RowRange device_rows() const { return {first_device_row(), events.size()}; }
};

/// Name of the machine that the rank ran on; "" if the file does not record it.
std::string host_of(const Rank& rank);

/// A file that adds data to a rank's recording, such as an execution trace.
struct Companion {
  std::string path;
  Reading reading;
  std::vector<std::string> faults;  ///< sentences: where the file contradicts itself
  std::int64_t rank = -1;           ///< to which it belongs; -1: none of the ranks here
};

struct Trace {
  StringPool strings;
  SchemaTable schemas;
  std::vector<Rank> ranks;            ///< by rank number
  std::vector<Companion> companions;  ///< files whose data was merged into the ranks
  std::vector<std::string> notes;     ///< about all files together
  std::vector<std::string> doubts;    ///< those of the notes that say why ranks may not be comparable
  std::vector<std::string> unread;    ///< files that could not be read, each with its reason
  bool one_of_several = false;        ///< one rank of a job whose other ranks are in other Traces

  /// Whether there is nothing but memory snapshots.
  bool snapshots_alone() const {
    bool any = false;
    for (const Rank& rank : ranks) {
      if (!rank.is_snapshot_alone()) return false;
      any = true;
    }
    return any;
  }
  /// If true, answers must name their rank.
  bool several() const { return ranks.size() > 1 || one_of_several; }
  std::string_view text(StringId id) const { return strings[id]; }
  std::string_view name(const Rank& rank, Row row) const { return strings[rank.events.name[row]]; }
  ArgLookup arg(std::string_view key) const { return {schemas, strings.find(key)}; }
};

/// Calls use(field, value) for each arg of a row, in the order of the file.
template <class Use>
void for_each_arg(const Trace& trace, const Rank& rank, Row row, Use use) {
  std::size_t at = rank.events.args_at[row];
  for (const ArgField& field : trace.schemas.fields(rank.events.schema[row])) {
    use(field, rank.values.get(at, field.wide));
    at += field.words();
  }
}

/// Reads one key's value of a row; nullopt if it is absent or of another type.
class ArgReader {
 public:
  ArgReader(const Trace& trace, const Rank& rank, std::string_view key)
      : trace_(trace), rank_(rank), lookup_(trace.arg(key)) {}
  bool has(Row row) const { return lookup_.in(rank_.events.schema[row]); }
  std::optional<std::int64_t> integer(Row row) const {
    const SchemaId schema = rank_.events.schema[row];
    if (!lookup_.in(schema)) return std::nullopt;
    const std::int64_t value = value_of(row, schema);
    return lookup_.type(schema) == ArgType::integer ? value : whole(lookup_.type(schema), value);
  }
  std::int64_t integer_or(Row row, std::int64_t fallback) const { return integer(row).value_or(fallback); }
  std::optional<double> real(Row row) const;
  /// The text of a string or of raw JSON; "" if absent or a number.
  std::string_view text(Row row) const { return trace_.text(id(row)); }
  /// Id of that text; kEmptyString if absent or a number.
  StringId id(Row row) const;

 private:
  std::int64_t value_of(Row row, SchemaId schema) const {
    const auto word = static_cast<std::size_t>(lookup_.word(schema));
    return rank_.values.get(rank_.events.args_at[row] + word, lookup_.wide(schema));
  }
  /// The integer part of a real; nullopt for anything else.
  static std::optional<std::int64_t> whole(ArgType type, std::int64_t value);

  const Trace& trace_;
  const Rank& rank_;
  ArgLookup lookup_;
};

}  // namespace stepscope::trace
