// One row per event, struct of arrays, sorted by (track, start, longest first). Readers fill the recorded
// columns, derive fills the others before read::open() returns; after that everything is const.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/memory.h"
#include "trace/args.h"
#include "trace/string_pool.h"

namespace stepscope::trace {

using Row = std::uint32_t;
inline constexpr Row kNoRow = 0xFFFFFFFF;

/// Rows first … last-1, for range loops.
class RowRange {
 public:
  struct Iterator {
    Row row;
    Row operator*() const { return row; }
    Iterator& operator++() {
      ++row;
      return *this;
    }
    friend bool operator==(Iterator, Iterator) = default;
  };
  RowRange(Row first, Row last) : first_(first), last_(last) {}
  Iterator begin() const { return {first_}; }
  Iterator end() const { return {last_}; }
  bool empty() const { return first_ == last_; }
  Row size() const { return last_ - first_; }

 private:
  Row first_, last_;
};
using TrackId = std::uint32_t;

/// Vendor-neutral kind of an event, from the file's category in any dialect.
enum class Kind : std::uint8_t {
  op,                 ///< framework operator on the host
  annotation,         ///< user range on the host (record_function, profiler step)
  python,             ///< Python call
  runtime,            ///< host call into the device's runtime or driver
  io,                 ///< host call that reads, writes or asks the file system
  io_library,         ///< host call of HDF5 or MPI-IO, which causes calls of kind io
  kernel,             ///< device kernel
  memcpy,             ///< device copy
  memset,             ///< device fill
  device_annotation,  ///< a user range, as projected onto a stream
  device_sync,        ///< a wait recorded on the device's time line
  device_mark,        ///< an event record on a stream
  memory,             ///< allocator report (instant)
  overhead,           ///< the profiler's own work
  span,               ///< the whole recording
  range_metrics,      ///< counters of a kernel replay range
  counter,            ///< a sampled counter
  instant,            ///< any other instant
  other,              ///< unknown category: kept, listed, never guessed
};
inline constexpr int kKinds = 19;

std::string_view name_of(Kind kind);

/// True for work that occupies a device: kernels, copies, fills.
constexpr bool is_device_work(Kind kind) {
  return kind == Kind::kernel || kind == Kind::memcpy || kind == Kind::memset;
}
/// True for rows on a device's time line.
constexpr bool is_device_row(Kind kind) {
  return is_device_work(kind) || kind == Kind::device_annotation || kind == Kind::device_sync ||
         kind == Kind::device_mark;
}
/// True for ranges that nest on a host thread.
constexpr bool is_host_range(Kind kind) {
  return kind == Kind::op || kind == Kind::annotation || kind == Kind::python || kind == Kind::runtime ||
         kind == Kind::io || kind == Kind::io_library;
}

/// What a device event does for the program.
enum class Work : std::uint8_t { none, compute, communication, copy, fill };

struct EventTable {
  // Recorded. Times are integer nanoseconds in the file's own time base; end >= start.
  Column<std::int64_t> start, end;
  Column<StringId> name, category;
  Column<Kind> kind;
  Column<TrackId> track;
  Column<SchemaId> schema;
  Column<std::uint32_t> args_at;  ///< first word in Rank::values
  Column<std::uint32_t> source;   ///< position in the file's event list: the id shown to users

  // Derived.
  Column<Row> parent;           ///< innermost enclosing host range on the same track, kNoRow at the top
  Column<std::uint16_t> depth;  ///< number of ancestors, capped at 65,535
  Column<Row> launch;           ///< device rows: the runtime call with the same correlation
  Column<Row> op;               ///< runtime and device rows: the innermost op they serve
  Column<std::int32_t> step;    ///< index into Rank::steps, -1 outside
  Column<Work> work;            ///< of device events; `none` for all others

  Row size() const { return static_cast<Row>(start.size()); }
  std::int64_t duration(Row row) const { return end[row] - start[row]; }
};

/// Flow arrows (ph s, t, f). `phase` is the letter. The end of a pair may be missing.
struct FlowTable {
  Column<std::int64_t> time, id;
  Column<StringId> category;
  Column<TrackId> track;
  Column<char> phase;
  Row size() const { return static_cast<Row>(time.size()); }
};

}  // namespace stepscope::trace
