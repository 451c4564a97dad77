// The recording that all collectors of a process write: one at a time, each thread into its own segment. The
// functions with C names are for plugins and Python; they never throw. Records without room are counted.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "collect/clock.h"
#include "record/format.h"

namespace stepscope::collect {

inline constexpr std::uint32_t kMaxText = 8192;         ///< bytes of a name or signature; the rest is cut off
inline constexpr std::uint32_t kMargin = 3 * kMaxText;  ///< room in a segment that one event may need

/// An op or range that has begun. Its name and signature are in some segment of the thread, or are written
/// when it ends.
struct Frame {
  const void* key;
  std::uint64_t begin;
  std::int64_t sequence;
  std::uint64_t forward_thread;
  const record::Text *name, *signature;  ///< name null: not written yet; signature null: none
  std::uint8_t scope, flags;
};

/// Texts in the thread's segment, by hash of their bytes, and also by the address of a name.
struct Known {
  static constexpr std::uint32_t kSlots = 2048;
  struct Slot {
    std::uint64_t key;
    const record::Text* text;  ///< null: free
  };
  Slot slots[kSlots];
  std::uint32_t used = 0;
};

struct Thread;

/// One recording. Never freed: a thread may still be in a callback when the recording ends.
struct Recorder {
  record::Header* header;
  char* segments;
  record::Clock clock;
  std::uint32_t flags;
  int file;                            ///< -1: opened again at `path` when it is needed
  const char* path;                    ///< with kIo; else null
  ino_t inode;                         ///< with `path`
  std::uint32_t reserved;              ///< units at the end of the file, for metadata
  std::atomic<std::size_t> bytes;      ///< that are mapped to the file, from the header on
  std::atomic<std::uint64_t> session;  ///< new at each start; ops and ranges open before are dropped
  bool is_closed;                      ///< header and file are gone; guarded by the mutex `claims`
  std::size_t scratch;                 ///< bytes of its addresses that are still mapped after it was closed
  Thread* notes;                       ///< with kNewest: the place for metadata, which is never replaced

  Recorder* before;  ///< the previous recorder; keeps all reachable
};

/// A thread's state in the active recording. Never freed; a new thread reuses that of an ended one.
struct Thread {
  static constexpr std::uint32_t kDeepest = 512;
  std::atomic<Recorder*> recorder = nullptr;  ///< in which it may write or read
  Thread* next_place = nullptr;               ///< the next of all places
  std::uint64_t session = 0;  ///< the recorder's session when the thread last used it; 0: never
  char* segment = nullptr;
  std::uint32_t used = 0, end = 0;  ///< bytes of the segment
  std::uint32_t mapped = 0;         ///< bytes of the segment that have pages
  std::uint32_t segments = 0;       ///< that it has begun in this recording
  Thread* next_left = nullptr;      ///< the next place that its thread has left
  std::uint64_t clock = 0;          ///< tick of the segment's last clock record
  std::uint32_t depth = 0, next_text = 1;
  std::uint32_t ended_ops = 0, ops_with_shapes = 0;
  std::uint64_t torch_thread = 0;
  void* python = nullptr;          ///< the open Python calls; owned by collect/python
  std::uint32_t python_depth = 0;  ///< number of open Python calls
  bool python_is_known = false;    ///< `python` includes the calls that were open when the recording began
  Known known;
  Frame frames[kDeepest];

  record::Header& header() const { return *recorder.load(std::memory_order_relaxed)->header; }
};

#pragma GCC visibility push(default)
extern "C" {
/// The active recording, or null. A thread sees a change at its next event.
extern std::atomic<Recorder*> stepscope_recorder;

/// Creates a recording's file. `megabytes`: its maximum size. 0, or an errno; EBUSY: a recording is open.
int stepscope_open(const char* path, std::uint32_t megabytes, std::uint32_t flags);
/// The same with an empty file that is open for reading and writing; the recording has a descriptor of its
/// own.
int stepscope_open_file(int file, std::uint32_t megabytes, std::uint32_t flags);
/// Marks the open recording as that of data loader worker `worker` of process `parent`. 0, or an errno.
int stepscope_worker_of(std::uint32_t parent, std::uint32_t worker);
/// Events are recorded between start and stop, which may be repeated until the recording is closed. 0, or an
/// errno.
int stepscope_start(void);
int stepscope_stop(void);
/// Finishes the file. Returns the number of records for which there was no room.
std::uint64_t stepscope_close(void);

/// For thread_of() only. A single pointer: a library that is loaded late gets little room for thread-locals.
extern __attribute__((tls_model("initial-exec"))) constinit thread_local Thread* stepscope_this_thread;
Thread* stepscope_thread(Recorder* recorder);
/// For has_room() only. Adds pages or a new segment. False: no segment is left; one record is counted as
/// dropped.
bool stepscope_more_room(Thread* thread, std::uint32_t bytes);
/// Returns the text in the thread's segment, writing it if needed; there must be room for it.
const record::Text* stepscope_text(Thread* thread, record::Type type, const char* bytes,
                                   std::uint32_t length);

/// Writes a clock record; there must be room for it.
void stepscope_tell_clock(Thread* thread);

/// A range that the program marks, on the calling thread. An end closes the innermost open range.
void stepscope_range_begin(const char* name, std::uint32_t length);
void stepscope_range_end(void);
/// Now, for stepscope_range(); 0: nothing is recorded.
std::uint64_t stepscope_tick(void);
/// A range from `begin` until now, in any order with others. `members`: of a JSON object, without its braces:
/// the range's args; left out if they are longer than kMaxText. Does nothing for a `begin` before the
/// recording.
void stepscope_range(std::uint64_t begin, const char* name, std::uint32_t length, const char* members,
                     std::uint32_t bytes);
/// A number that changes over time.
void stepscope_counter(const char* name, std::uint32_t length, double value);
/// Memory that was allocated (bytes > 0) or freed; `device` -1: main memory. For programs whose allocator is
/// not observed.
void stepscope_memory(std::uint64_t address, std::int64_t bytes, int device);
/// One end, here and now, of a flow whose other end is in another process.
void stepscope_flow(std::uint64_t id, int begins);
/// Writes `key=JSON` into the recording.
int stepscope_metadata(const char* text, std::uint32_t length);
}
#pragma GCC visibility pop

/// The calling thread's place in `recorder`; null: out of memory.
inline Thread* thread_of(Recorder& recorder) {
  Thread* thread = stepscope_this_thread;
  if (thread != nullptr && thread->session == recorder.session.load(std::memory_order_relaxed)) [[likely]]
    return thread;
  return stepscope_thread(&recorder);
}

inline bool has_room(Thread& thread, std::uint32_t bytes = kMargin) {
  return thread.used + bytes <= thread.mapped || stepscope_more_room(&thread, bytes);
}

/// Makes everything written so far part of the recording.
inline void commit(Thread& thread) {
  reinterpret_cast<record::SegmentHeader*>(thread.segment)
      ->committed.store(thread.used, std::memory_order_release);
  // Fresh memory is not in the cache: without this, the program's next locked instruction waits for our
  // store.
  __builtin_prefetch(thread.segment + thread.used + 512, 1);
}

/// The next record, to be filled in place; there must be room. Filling it elsewhere and copying it costs
/// more, because the copy's wide loads wait for narrow stores.
template <class What>
What& next(Thread& thread, record::Type type) {
  auto& what = *reinterpret_cast<What*>(thread.segment + thread.used);
  what.type = type;
  what.units = sizeof what / 8;
  return what;
}

/// Makes the filled record part of the recording.
inline void commit(Thread& thread, const record::Record& what) {
  thread.used += what.units * 8U;
  commit(thread);
}

/// A frame for an op or range that begins now. Null if too many are open; it is counted as dropped.
inline Frame* next_frame(Thread& thread) {
  if (thread.depth < Thread::kDeepest) [[likely]]
    return &thread.frames[thread.depth++];
  thread.header().dropped.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

inline std::uint32_t mixed(std::uint64_t key) {
  return static_cast<std::uint32_t>((key * 0x9E3779B97F4A7C15ULL) >> 53);  // 11 bits: kSlots
}

/// The slot to check first for a zero-terminated name: by its address, which rarely changes.
inline Known::Slot& slot_of(Thread& thread, const char* name) {
  return thread.known.slots[mixed(reinterpret_cast<std::uint64_t>(name))];
}

inline bool holds(const Known::Slot& slot, const char* name) {
  return slot.text != nullptr && slot.key == reinterpret_cast<std::uint64_t>(name) &&
         std::strcmp(slot.text->bytes, name) == 0;
}

inline const record::Text* name_of(Thread& thread, const char* name) {
  Known::Slot& slot = slot_of(thread, name);
  if (holds(slot, name)) return slot.text;
  const record::Text* text =
      stepscope_text(&thread, record::Type::text, name, static_cast<std::uint32_t>(std::strlen(name)));
  slot = {reinterpret_cast<std::uint64_t>(name), text};
  return text;
}

/// The same text in the thread's current segment.
inline const record::Text* retold(Thread& thread, const record::Text* text) {
  const char* at = reinterpret_cast<const char*>(text);
  if (text == nullptr || (at >= thread.segment && at < thread.segment + thread.end)) return text;
  return stepscope_text(&thread, text->type, text->bytes, text->length);
}

inline bool is_short(const Frame& frame) {
  return (frame.flags == 0 && frame.scope == record::kFunctionScope) ||
         (frame.flags == record::kHasSequence && frame.scope <= record::kBackwardScope &&
          static_cast<std::uint64_t>(frame.sequence) < 1ULL << 48 && frame.forward_thread < 1U << 16);
}

inline void write_short_op(Thread& thread, const Frame& frame, std::uint32_t names, std::uint64_t end) {
  const bool forward = frame.scope == record::kFunctionScope;
  auto& op = next<record::SequencedShortOp>(
      thread, forward ? record::Type::short_op : record::Type::short_backward_op);
  op.value = names;
  op.begin = static_cast<std::uint32_t>(frame.begin - thread.clock);
  op.duration = static_cast<std::uint32_t>(end - frame.begin);
  if (frame.flags != 0)
    op.sequence = static_cast<std::uint64_t>(frame.sequence) | frame.forward_thread << 48;
  else
    op.units = sizeof(record::ShortOp) / 8;
  commit(thread, op);
}

inline void write_long_op(Thread& thread, const Frame& frame, const record::Text& name,
                          const record::Text* signature, std::uint64_t end) {
  auto& op = next<record::SequencedOp>(thread, record::Type::op);
  op.value = name.value;
  op.begin = frame.begin;
  op.end = end;
  op.signature = signature == nullptr ? 0 : signature->value;
  op.scope = frame.scope;
  op.flags = frame.flags;
  op.depth = 0;
  if ((frame.flags & record::kHasSequence) != 0) {
    op.sequence = frame.sequence;
    op.forward_thread = frame.forward_thread;
  } else {
    op.units = sizeof(record::Op) / 8;
  }
  commit(thread, op);
}

/// Writes an op that ends at `end`. Its name is `frame.name`, or `name` if that is null.
inline void write_op(Thread& thread, const Frame& frame, const char* name, std::uint64_t end) {
  constexpr std::uint64_t kLongest = UINT32_MAX;
  if (!has_room(thread)) return;
  const record::Text* text = frame.name != nullptr ? retold(thread, frame.name) : name_of(thread, name);
  const record::Text* signature = retold(thread, frame.signature);
  if (frame.begin > thread.clock + kLongest) [[unlikely]]
    stepscope_tell_clock(&thread);
  if (frame.begin >= thread.clock && end - frame.begin <= kLongest && is_short(frame)) [[likely]]
    write_short_op(thread, frame, text->value | (signature == nullptr ? 0 : signature->value << 16), end);
  else
    write_long_op(thread, frame, *text, signature, end);
}

}  // namespace stepscope::collect
