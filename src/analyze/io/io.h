// The file I/O of a program: what it cost, on which files, by which processes, and how much of it compute
// hides.
#pragma once

#include <string>
#include <vector>

#include "analyze/io/io_facts.h"
#include "report/sheet.h"
#include "report/verdict.h"

namespace stepscope::analyze {

/// All I/O of a rank that begins in the window. Times in ns within it, counted once where calls overlap.
struct IoOverlap {
  std::int64_t rank = -1;
  std::int64_t calls = 0, processes = 0, files = 0;
  std::int64_t read = 0, written = 0;  ///< bytes
  /// The same of the whole recording.
  std::int64_t recorded_calls = 0, recorded_read = 0, recorded_written = 0;
  std::int64_t earlier_calls = 0;  ///< before the first step
  std::int64_t earlier_io = 0;     ///< at least one of them is open, ns
  std::string earlier_group{};     ///< of files that most of this time is about
  std::int64_t window = 0;
  std::int64_t io = 0;                         ///< at least one call is open
  std::int64_t main_io = 0;                    ///< at least one call of the main process is open
  std::int64_t stored_time = 0;                ///< sum of the reads that the page cache did not answer
  std::int64_t placed_read = 0, distinct = 0;  ///< bytes read where offsets are recorded; each byte once
  std::int64_t compute = report::kNoInt;
  std::int64_t both = report::kNoInt;          ///< I/O that compute hides
  std::int64_t exposed_io = report::kNoInt;    ///< I/O without compute
  std::int64_t exposed_main = report::kNoInt;  ///< the same of the main process
};

/// Calls of one kind. `time`: the sum of their lengths, ns, also where they overlap.
struct IoOfKind {
  std::int64_t rank;
  derive::IoKind kind;
  std::int64_t calls, failed, time, bytes;
  std::int64_t median, p95, longest;  ///< ns
};

/// One file. Times are sums, ns.
struct IoFile {
  std::int64_t rank;
  std::string file;
  std::int64_t calls = 0, opens = 0, time = 0;
  std::int64_t reads = 0, read = 0, writes = 0, written = 0;  ///< calls and bytes
  std::int64_t small = 0;                                     ///< reads and writes below kSmallBytes
  std::int64_t placed =
      0;  ///< reads and writes whose offset is recorded, without the first of each descriptor
  std::int64_t in_order = 0;  ///< of them, those that begin where the one before on the descriptor ended
  std::int64_t seeks = 0;
  std::int64_t distinct = report::kNoInt;  ///< bytes of the file that were read at least once
  std::int64_t stored = 0;  ///< reads that the page cache did not answer, see is_from_storage()
  std::int64_t failed = 0;
};
inline constexpr std::int64_t kSmallBytes = 65'536;

/// Files whose folders differ in digits only, with the same ending: "/data/train/#/*.jpg". Sums, ns and
/// bytes.
struct IoGroup {
  std::int64_t rank;
  std::string group;
  std::int64_t files = 0, calls = 0, opens = 0, metadata = 0;  ///< metadata: see derive::is_metadata()
  std::int64_t time = 0, read = 0, written = 0;
};

/// All I/O while batches were fetched. `time`s are sums of calls, ns.
struct FetchIo {
  std::int64_t rank = -1;
  std::int64_t batches = 0;
  std::int64_t ready = 0;    ///< of them, fetched before the program asked
  std::int64_t load = 0;     ///< length of the fetches, ns
  std::int64_t workers = 0;  ///< processes that fetched, without the one that waits
  std::int64_t median_load = 0,
               long_load = 0;  ///< of a batch by a worker, ns; long: nine of ten take no longer
  std::int64_t io = 0;         ///< of them, covered by calls, ns
  std::int64_t threads = 0;    ///< most threads of a process with calls in one fetch
  std::int64_t calls = 0, time = 0, read = 0;
  std::int64_t hdf5_time = 0;                ///< of `time`, in calls of HDF5
  std::int64_t opens = 0, opening_time = 0;  ///< open and close
  std::int64_t asks = 0, asking_time = 0;    ///< stat, directories, names
  std::int64_t reads = 0;
  std::int64_t stored = 0, stored_time = 0;  ///< reads that the page cache did not answer
  std::string group;                         ///< of files, with most time
  std::int64_t group_files = 0;              ///< opened or asked about per batch, of that group
  /// The group with most bytes that were read before: of reads with a recorded offset.
  std::string again_group;
  std::int64_t again_files = 0, again_opens = 0, again_read = 0;  ///< read: bytes
  std::int64_t again_distinct = 0;                                ///< bytes, each once
  std::int64_t again_handled = 0;  ///< sum of calls on it and of what lies between them, ns, see Handling
  std::int64_t locks = 0, lock_time = 0;      ///< see derive::IoKind::lock
  std::string locked;                         ///< the group of files with most of `lock_time`
  std::int64_t syncs = 0, sync_time = 0;      ///< fsync and its like
  std::int64_t changes = 0, change_time = 0;  ///< of `asks`: rename, unlink, mkdir
  /// Calls of HDF5 that read: the outermost ones.
  std::int64_t hdf5_reads = 0, hdf5_load = 0;  ///< hdf5_load: of `load`, covered by them, ns
  std::int64_t hdf5_asked = 0, hdf5_read = 0;  ///< bytes for the program; read from files meanwhile
  std::int64_t hdf5_io = 0;                    ///< sum of the file system's calls in them, ns
  std::string hdf5_call;  ///< the function with most time, its file and dataset: "H5Dread of /a.h5 (/x)"
};

/// A process. `time`: covered by its calls, ns.
struct IoProcess {
  std::int64_t rank;
  std::string process;
  std::int64_t threads, calls, files, read, written, time;
  double share;  ///< of the window
};

/// Reads or writes of a size class.
struct IoSize {
  std::int64_t rank;
  bool writes;
  std::int64_t least, below;  ///< bytes asked for, below: kNoInt for the last class
  std::int64_t calls, bytes, time;
};

/// Reads and writes by how long they took: the page cache and storage are populations of their own.
struct IoLatency {
  std::int64_t rank;
  std::int64_t least;  ///< ns, a power of 2; up to twice that
  std::int64_t reads, writes, time;
};

/// Calls of one function of HDF5 or MPI-IO. Their bytes and times are in no other sum.
struct IoLibraryCalls {
  std::int64_t rank;
  derive::IoLibrary library;
  std::string_view function;
  std::int64_t calls = 0, failed = 0, time = 0;
  std::int64_t bytes = 0;                         ///< between the program and the library
  std::int64_t io = 0, io_bytes = 0;              ///< of the file system's calls in them
  std::int64_t median = 0, p95 = 0, longest = 0;  ///< ns
};

/// What called: the innermost operator, Python function or range around the calls. `time` is a sum.
struct IoCaller {
  std::int64_t rank;
  std::string caller;
  std::string_view
      layer;  ///< "operator", "Python", "range", "I/O library"; "" if nothing is recorded around the call
  std::int64_t calls, time, bytes;
};

/// A wait for a batch, and the I/O of whoever made it: a worker's while it fetched the batch, or the waiting
/// thread's own. Times in ns.
struct LateBatch {
  std::int64_t rank;
  std::int64_t step;  ///< kNoInt outside all steps
  std::int64_t start, wait;
  std::int64_t exposed;                ///< of the wait: no device works; kNoInt without a device
  std::string worker{};                ///< "" if the waiting thread loads, or if it is not recorded who did
  std::int64_t load = report::kNoInt;  ///< length of the fetch; kNoInt: not recorded
  std::int64_t io = 0;                 ///< of the fetch, covered by its calls
  std::int64_t calls = 0, files = 0, read = 0;
  std::int64_t metadata = 0;  ///< calls about names: open, close, stat, directories
  std::string slowest{};      ///< file with most of `io`
  std::int64_t slowest_time = 0;
};

/// A file that the main process wrote, from its opening to its closing; at least kSavedBytes. Times in ns.
struct SavedFile {
  std::int64_t rank;
  std::int64_t step;  ///< in which it began; kNoInt outside all steps
  std::int64_t start;
  std::string file;
  std::int64_t written, calls;
  std::int64_t
      stall;        ///< from call to call of the main thread, where they follow each other within kSavingGap
  std::int64_t io;  ///< of that, covered by the calls
  std::int64_t sync;     ///< of that, in fsync and its like
  std::int64_t exposed;  ///< of the stall: no device works; kNoInt without a device
  std::string
      line{};  ///< of the program, that makes most of the calls on all these files; "" without Python stacks
};
inline constexpr std::int64_t kSavedBytes = 1 << 20;
inline constexpr std::int64_t kSavingGap = 20'000'000;  ///< ns: tensors are gathered between writes

/// A file that the main thread writes in small pieces, or waits for: without the episodes of SavedFile. Times
/// in ns.
struct FlushedFile {
  std::int64_t rank;
  std::string file;
  std::int64_t writes = 0, written = 0, flushes = 0;  ///< flushes: fsync and its like, not fflush
  std::int64_t stall = 0;                 ///< covered by the main thread's writes, flushes and fsyncs
  std::int64_t exposed = report::kNoInt;  ///< of it: no device works; kNoInt without a device
  report::Moment longest{};               ///< its longest call
  std::string line{};                     ///< as SavedFile::line
};

/// A group of files that the steps wait for: the main thread handles them itself, or waits for a thread of
/// its process that does. Without loaders of batches and SavedFiles. Times in ns, while nothing computes.
struct HoldingFiles {
  std::int64_t rank = -1;
  std::string group;
  std::int64_t files = 0, calls = 0, opens = 0, reads = 0, writes = 0, syncs = 0;
  std::int64_t asks = 0;                       ///< about names: stat, directories, changes
  std::int64_t read = 0, written = 0;          ///< bytes
  std::int64_t placed_read = 0, distinct = 0;  ///< bytes read where offsets are recorded; each byte once
  std::int64_t io = 0;                         ///< covered by calls
  std::int64_t time = 0;                       ///< covered by calls and what lies between them, see Handling
  std::int64_t line_time = 0;                  ///< the same, with all time of the lines that handle the files
  bool beside = false;                         ///< mostly on another thread, for which the main thread waits
  std::string line{};          ///< of the program, that handles them; "" without Python stacks
  std::string waiting_line{};  ///< in which the main thread waits for `line`
  report::Moment longest{};
};

/// A part of the window.
struct IoMoment {
  std::int64_t rank;
  std::int64_t start, length;  ///< ns from the first event
  std::int64_t calls;          ///< that begin in it
  std::int64_t read, written;  ///< bytes, by the end of their call
  double busy;                 ///< share of it in which at least one call is open
};

struct Io {
  std::vector<IoOverlap> overlap;
  std::vector<IoOfKind> kinds;  ///< by rank, most time first
  std::vector<IoFile> files;    ///< by rank, most time first
  std::vector<IoGroup> groups;  ///< by rank, most time first
  std::vector<FetchIo> fetching;
  std::vector<IoProcess> processes;  ///< by rank, most time first
  std::vector<IoSize> sizes;
  std::vector<IoLatency> latencies;
  std::vector<IoLibraryCalls> libraries;  ///< by rank, most time first
  std::vector<IoCaller> callers;          ///< by rank, most time first
  std::vector<IoMoment> moments;
  std::vector<LateBatch> batches;     ///< by rank, longest wait first
  std::vector<SavedFile> saved;       ///< by rank, by start
  std::vector<FlushedFile> flushed;   ///< by rank, longest stall first
  std::vector<HoldingFiles> holding;  ///< by rank, longest time first
  std::vector<std::string> notes;
};
const Io& io_answer(const Derived& derived);

/// Adds one rank's rows; each is in a file of its own.
void add_io_overlap(Io& of, const trace::Trace& trace, const trace::Rank& rank, const RankIo& io);
void add_io_kinds(Io& of, const trace::Rank& rank, const RankIo& io);
void add_io_files(Io& of, const trace::Trace& trace, const trace::Rank& rank, const RankIo& io);
void add_io_sizes(Io& of, const trace::Rank& rank, const RankIo& io);
void add_io_libraries(Io& of, const trace::Trace& trace, const trace::Rank& rank, const RankIo& io);
void add_io_callers(Io& of, const trace::Trace& trace, const trace::Rank& rank, const RankIo& io);
void add_late_batches(Io& of, const Derived& derived, const trace::Rank& rank, const RankIo& io);
void add_saved_files(Io& of, const trace::Trace& trace, const trace::Rank& rank, const RankIo& io);
void add_holding_files(Io& of, const trace::Trace& trace, const trace::Rank& rank, const RankIo& io);

}  // namespace stepscope::analyze
