// Where collectors of one process write: one recording at a time, a segment of it per thread. The functions
// with C names are what plugins and Python call; they never throw, and what finds no room is counted.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#include "collect/clock.h"
#include "record/format.h"

namespace stepscope::collect {

inline constexpr std::uint32_t kMaxText = 8192;         ///< bytes of a name or signature; the rest is cut off
inline constexpr std::uint32_t kMargin = 3 * kMaxText;  ///< left in a segment for what one event adds

/// An op or range that has begun. What it is called and its signature were told in some segment of the
/// thread, or are told when it ends.
struct Frame {
  const void* key;
  std::uint64_t begin;
  std::int64_t sequence;
  std::uint64_t forward_thread;
  const record::Text *name, *signature;  ///< null: not told yet; none
  std::uint8_t scope, flags;
};

/// Texts that the thread's segment holds, by hash of their bytes, and by address where those stay.
struct Known {
  static constexpr std::uint32_t kSlots = 2048;
  struct Slot {
    std::uint64_t key;
    const record::Text* text;  ///< null: free
  };
  Slot slots[kSlots];
  std::uint32_t used = 0;
};

struct Recorder;

/// A thread's place in the recording that is on. Never freed; a thread that ends leaves it to a new one.
struct Thread {
  static constexpr std::uint32_t kDeepest = 512;
  Recorder* recorder = nullptr;
  std::uint64_t session = 0;  ///< of the recorder, when the thread was last in it; 0: of none
  char* segment = nullptr;
  std::uint32_t used = record::kSegmentBytes;  ///< bytes of the segment
  std::uint32_t mapped = 0;                    ///< of those, what the kernel has given pages
  std::uint32_t depth = 0, next_text = 1;
  std::uint64_t torch_thread = 0;
  void* python = nullptr;          ///< the Python calls that are open: of collect/python
  std::uint32_t python_depth = 0;  ///< how many
  bool python_is_known = false;    ///< what was open when the recording began is among them
  Known known;
  Frame frames[kDeepest];
};

/// One recording. Never freed: a thread may still be inside a callback when it ends.
struct Recorder {
  record::Header* header;
  char* segments;
  record::Clock clock;
  std::uint32_t flags;
  int file;
  std::atomic<std::uint64_t> session;  ///< another one from each start on: what was open before is given up
  bool is_closed;                      ///< its header and its file are gone; guarded by the mutex of claims

  Recorder* before;  ///< the one that was made before it: all stay within reach
};

#pragma GCC visibility push(default)
extern "C" {
/// The recording that is on, or null: a thread sees a change at its next event.
extern std::atomic<Recorder*> stepscope_recorder;

/// Makes the file of a recording. `megabytes`: what it may hold. 0, or an errno; EBUSY: there is one.
int stepscope_open(const char* path, std::uint32_t megabytes, std::uint32_t flags);
/// The recording that is open is of this worker of a data loader of `parent`. 0, or an errno.
int stepscope_worker_of(std::uint32_t parent, std::uint32_t worker);
/// Events are kept from here on, and up to there; may come again until the recording is closed. 0, or an
/// errno.
int stepscope_start(void);
int stepscope_stop(void);
/// Leaves the file as it is. Returns how many records found no room.
std::uint64_t stepscope_close(void);

/// For thread_of() only. One pointer, as little more than that finds room where a library is loaded late.
extern __attribute__((tls_model("initial-exec"))) constinit thread_local Thread* stepscope_this_thread;
Thread* stepscope_thread(Recorder* recorder);
/// For has_room() only. Pages, or a new segment; false: none is left, one record is counted as dropped.
bool stepscope_more_room(Thread* thread, std::uint32_t bytes);
/// The text in the thread's segment, which has room for it.
const record::Text* stepscope_text(Thread* thread, record::Type type, const char* bytes,
                                   std::uint32_t length);

/// A range that the program marks, on the calling thread: an end is that of the last begin.
void stepscope_range_begin(const char* name, std::uint32_t length);
void stepscope_range_end(void);
/// A number that changes over time.
void stepscope_counter(const char* name, std::uint32_t length, double value);
/// Memory that was allocated (bytes > 0) or freed; `device` -1: main memory. For programs that have no
/// observer of their allocator.
void stepscope_memory(std::uint64_t address, std::int64_t bytes, int device);
/// Here and now begins or ends what has its other end in another process.
void stepscope_flow(std::uint64_t id, int begins);
/// `key=JSON` into the recording.
int stepscope_metadata(const char* text, std::uint32_t length);
}
#pragma GCC visibility pop

/// The calling thread's place in `recorder`; null: there is no memory for it.
inline Thread* thread_of(Recorder& recorder) {
  Thread* thread = stepscope_this_thread;
  if (thread != nullptr && thread->session == recorder.session.load(std::memory_order_relaxed)) [[likely]]
    return thread;
  return stepscope_thread(&recorder);
}

inline bool has_room(Thread& thread, std::uint32_t bytes = kMargin) {
  return thread.used + bytes <= thread.mapped || stepscope_more_room(&thread, bytes);
}

/// The last bytes of what was told become part of the recording.
inline void commit(Thread& thread) {
  reinterpret_cast<record::SegmentHeader*>(thread.segment)
      ->committed.store(thread.used, std::memory_order_release);
  // Fresh memory is in no cache: the program's next locked instruction would wait for a store to it.
  __builtin_prefetch(thread.segment + thread.used + 512, 1);
}

/// A record to be filled in its place, for which there is room: what is put together elsewhere and copied
/// costs more, as wide loads wait for narrow stores.
template <class What>
What& next(Thread& thread, record::Type type) {
  auto& what = *reinterpret_cast<What*>(thread.segment + thread.used);
  what.type = type;
  what.units = sizeof what / 8;
  return what;
}

/// That record, filled, becomes part of the recording.
inline void commit(Thread& thread, const record::Record& what) {
  thread.used += what.units * 8U;
  commit(thread);
}

/// For what begins now; null, and counted as dropped, where too much is open.
inline Frame* next_frame(Thread& thread) {
  if (thread.depth < Thread::kDeepest) [[likely]]
    return &thread.frames[thread.depth++];
  thread.recorder->header->dropped.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

inline std::uint32_t mixed(std::uint64_t key) {
  return static_cast<std::uint32_t>((key * 0x9E3779B97F4A7C15ULL) >> 53);  // 11 bits: kSlots
}

/// Where the text of a name with an end is looked for first: by its address, where it mostly stays.
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

/// The same text in the thread's present segment.
inline const record::Text* retold(Thread& thread, const record::Text* text) {
  const char* at = reinterpret_cast<const char*>(text);
  if (text == nullptr || (at >= thread.segment && at < thread.segment + record::kSegmentBytes)) return text;
  return stepscope_text(&thread, text->type, text->bytes, text->length);
}

/// Writes an op that ends now. Its name is `frame.name`, or else `name`.
inline void write_op(Thread& thread, const Frame& frame, const char* name, std::uint64_t end) {
  if (!has_room(thread)) return;
  const record::Text* text = frame.name != nullptr ? retold(thread, frame.name) : name_of(thread, name);
  const record::Text* signature = retold(thread, frame.signature);
  auto& op = next<record::SequencedOp>(thread, record::Type::op);
  op.value = text->value;
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

}  // namespace stepscope::collect
