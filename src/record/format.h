// The layout of a recording: the file that a collector maps while its program runs. The file is complete up
// to the last committed record even if the program is killed.
//
// A page of header, then segments of equal size. A thread claims the next segment and fills it alone, so
// threads need no lock. Names and signatures are written once per segment, before their first use in it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace stepscope::record {

inline constexpr char kMagic[8] = {'S', 'T', 'E', 'P', 'R', 'E', 'C', '\n'};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint32_t kHeaderBytes = 4096;
inline constexpr std::uint32_t kSegmentBytes = 1U << 20;

/// The unit of a tick.
enum class Clock : std::uint32_t { monotonic_ns = 0, tsc = 1 };

/// One instant on three clocks. Ticks between two pairs are interpolated linearly.
struct ClockPair {
  std::uint64_t tick;
  std::int64_t monotonic_ns, realtime_ns;
};

struct Header {
  char magic[8];
  std::uint32_t version, header_bytes, segment_bytes, segment_limit;
  std::atomic<std::uint32_t> claimed;  ///< segments, up to segment_limit; larger values count as the limit
  std::uint32_t pid;
  Clock clock;
  std::uint32_t flags;                 ///< bits of Recorded
  std::atomic<std::uint64_t> dropped;  ///< records for which there was no room
  ClockPair loaded, begin, end;        ///< `loaded`: when the collector was loaded; `end`: 0 until stopped
  char host[64];
  std::uint32_t parent, worker;  ///< of a data loader's worker: its parent's pid (else 0), and its number
  std::atomic<std::uint32_t> disk_was_full;  ///< 1: records were dropped because the disk was full
  std::uint32_t unused;
};
static_assert(sizeof(Header) <= kHeaderBytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// Options of the recording.
enum Recorded : std::uint32_t {
  kShapes = 1,
  kMemory = 2,
  kStacks = 4,
  kFlops = 8,
  kModules = 16,
  kOverloads = 32,
  kShapesWhileCheap = 64  ///< with kShapes: of all ops only while that costs little, else in windows
};

struct SegmentHeader {
  std::atomic<std::uint32_t> committed;  ///< valid bytes of the segment, this header included
  std::uint32_t thread;                  ///< kernel id
  std::uint64_t torch_thread;            ///< PyTorch's number of the thread; 0: not known
  char thread_name[16];
};

/// Type of a record. Every record begins with a `Record` and is a multiple of 8 bytes long.
enum class Type : std::uint16_t {
  text = 1,
  signature,
  op,
  memory,
  clock,
  metadata,
  flow,
  op_name,
  sample = 20,
  counter,
  device_session = 32,
  device_clock,
  device_attributes,
  device_context,
  kernel,
  memcpy,
  memset,
  api_call,
  synchronization,
  event_record,
  overhead,
  device_counts
};

struct Record {
  Type type;
  std::uint16_t units;  ///< length in 8 bytes, this header included
  std::uint32_t value;  ///< text, signature, op_name: id in the segment; op: id of its name; sample: thread
};
static_assert(sizeof(Record) == 8);
inline constexpr std::uint32_t kMaxMetadata = 512'000;

/// A name, a signature (see signature.h) or `key=value` of metadata. op_name: an op's name, a zero byte, and
/// the name of its overload.
struct Text : Record {
  std::uint32_t length;
  char bytes[4];  ///< `length` bytes, then a zero
};
inline constexpr std::uint32_t kTextBytes = sizeof(Record) + sizeof(std::uint32_t);  ///< before `bytes`

enum OpFlags : std::uint8_t { kHasSequence = 1, kAsync = 2, kEndedLate = 4, kOtherThread = 8 };

/// An op, or a range that the program marked, written when it ends.
struct Op : Record {
  std::uint64_t begin, end;  ///< ticks
  std::uint32_t signature;   ///< 0: none; of an nn.Module call: id of its path
  std::uint8_t scope;        ///< at::RecordScope, or kPythonScope and above
  std::uint8_t flags;
  std::uint16_t depth;  ///< of a Python call: number of Python calls around it
};
static_assert(sizeof(Op) == 32);

/// An op with kHasSequence or kOtherThread.
struct SequencedOp : Op {
  std::int64_t sequence;
  std::uint64_t forward_thread;  ///< PyTorch's number; 0: no backward op. kOtherThread: kernel id
};

/// Memory that was allocated (bytes > 0) or freed. Record::value: device type | (device index + 1) << 8, and
/// kNotInTotal if it was allocated before the recording began.
struct Memory : Record {
  std::uint64_t tick, address;
  std::int64_t bytes;

  int device_type() const { return static_cast<int>(value & 0xFFU); }
  int device_index() const { return static_cast<int>(value >> 8U & 0xFFU) - 1; }
};
static_assert(sizeof(Memory) == 32);
inline constexpr std::uint32_t kNotInTotal = 1U << 16;

struct ClockRecord : Record {
  ClockPair pair;
};

/// One end of a flow to or from another process. `value`: 1: the flow begins here; 0: it ends here.
struct Flow : Record {
  std::uint64_t tick, id;
};

/// A value of a counter of the program. Record::value: id of its name.
struct Counter : Record {
  std::uint64_t tick;
  double number;
};
static_assert(sizeof(Counter) == 24);

/// The stack of a thread at one instant, sampled by another thread: `count` ids of texts follow, innermost
/// first.
struct Sample : Record {
  std::uint64_t tick;
  std::uint32_t period_us;  ///< intended interval between samples
  std::uint32_t count;
};
static_assert(sizeof(Sample) == 24);

/// The values of PyTorch's at::RecordScope that are used here.
inline constexpr std::uint8_t kFunctionScope = 0, kBackwardScope = 1, kUserScope = 7;
/// Calls of Python functions, of C functions, of nn.Modules.
inline constexpr std::uint8_t kPythonScope = 100, kPythonCScope = 101, kModuleScope = 102;

}  // namespace stepscope::record
