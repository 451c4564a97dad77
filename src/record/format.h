// The layout of a recording: the file that a collector maps while its program runs. The file is complete up
// to the last committed record even if the program is killed.
//
// A page of header, then segments, each behind the one before it. A thread fills its segments alone, so
// threads need no lock. The first segment of a thread is short, later ones are longer; what an ended thread
// has left of its segment becomes a segment of another thread. Names and signatures are written once per
// segment, before their first use in it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace stepscope::record {

inline constexpr char kMagic[8] = {'S', 'T', 'E', 'P', 'R', 'E', 'C', '\n'};
inline constexpr std::uint32_t kVersion = 2;
inline constexpr std::uint32_t kHeaderBytes = 4096;
inline constexpr std::uint32_t kUnitBytes = 1U << 16;     ///< what threads claim of the file, one or more
inline constexpr std::uint32_t kSegmentBytes = 1U << 20;  ///< most bytes of a segment

/// The unit of a tick.
enum class Clock : std::uint32_t { monotonic_ns = 0, tsc = 1 };

/// What left no room for records.
enum class Limit : std::uint32_t {
  recording = 0,  ///< its own size
  disk = 1,
  file_size = 2,  ///< the program's limit of it
  access = 3      ///< the program may no longer open the file
};

/// One instant on three clocks. Ticks between two pairs are interpolated linearly.
struct ClockPair {
  std::uint64_t tick;
  std::int64_t monotonic_ns, realtime_ns;
};

struct Header {
  char magic[8];
  std::uint32_t version, header_bytes, unit_bytes, unit_limit;
  std::atomic<std::uint32_t> claimed;  ///< units, up to unit_limit; larger values count as the limit
  std::uint32_t pid;
  Clock clock;
  std::uint32_t flags;                 ///< bits of Recorded
  std::atomic<std::uint64_t> dropped;  ///< records for which there was no room
  ClockPair loaded, begin, end;        ///< `loaded`: when the collector was loaded; `end`: 0 until stopped
  char host[64];
  std::uint32_t parent, worker;  ///< of a data loader's worker: its parent's pid (else 0), and its number
  std::atomic<Limit> limit;      ///< why records were dropped for which there was no room
  std::uint32_t unused;
  std::atomic<std::uint64_t> full_at;  ///< tick at which an event first found no room; 0: all did
  std::atomic<std::uint64_t>
      kept_from;  ///< with kNewest: all events since this tick are kept; 0: since begin
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
  kShapesWhileCheap = 64,  ///< with kShapes: of all ops only while that costs little, else in windows
  kNewest = 128,           ///< new events replace the oldest when the file is full
  kIo = 256                ///< of the I/O collector: its process may have another recording
};

inline constexpr std::uint32_t kSegmentAlignment = 64;
struct SegmentHeader {
  std::atomic<std::uint32_t> committed;  ///< valid bytes of the segment, this header included
  std::atomic<std::uint32_t> bytes;      ///< from here to the next segment: a multiple of kSegmentAlignment
  std::uint32_t thread;                  ///< kernel id
  std::uint32_t unused;
  std::uint64_t torch_thread;  ///< PyTorch's number of the thread; 0: not known
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
  short_op,           ///< an op whose times and numbers are small: ShortOp
  short_backward_op,  ///< likewise, of the backward pass
  sample = 20,
  counter,
  graph_node,
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
  device_counts,
  io_path = 64,
  io_call,
  long_io_call
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

/// An op, or a range that the program marked, written when it ends. The signature of a range (kUserScope) may
/// be the id of a text: the members of a JSON object, without its braces, which are the range's args.
struct Op : Record {
  std::uint64_t begin, end;  ///< ticks
  std::uint32_t signature;   ///< 0: none; id of a text: of an nn.Module call, its path; of a range, see below
  std::uint8_t scope;        ///< at::RecordScope, or kPythonScope and above
  std::uint8_t flags;
  std::uint16_t depth;  ///< of a Python call: number of Python calls around it
};
static_assert(sizeof(Op) == 32);

/// An op of kFunctionScope or kBackwardScope without other flags than kHasSequence. Record::value: id of its
/// name | signature << 16; a segment holds fewer texts than 2^16, as each takes 16 bytes or more.
struct ShortOp : Record {
  std::uint32_t begin;     ///< ticks after the last clock record before it in the segment
  std::uint32_t duration;  ///< ticks
};
static_assert(sizeof(ShortOp) == 16);
static_assert(kSegmentBytes / 16 <= 1U << 16);

/// A short op with kHasSequence.
struct SequencedShortOp : ShortOp {
  std::uint64_t sequence;  ///< sequence | forward_thread << 48
};
static_assert(sizeof(SequencedShortOp) == 24);

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

/// Memory of a device as its allocator reports it, with the bytes that are then allocated and reserved.
struct DeviceMemory : Memory {
  std::uint64_t allocated, reserved;
};
static_assert(sizeof(DeviceMemory) == 48);

/// A node of a CUDA graph that a call of this thread made. Device work names the node that it ran for.
struct GraphNode : Record {
  std::uint64_t tick, node;
  std::uint64_t original;  ///< 0; of a node that was copied with its graph: the node that it was copied from
};
static_assert(sizeof(GraphNode) == 32);

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
