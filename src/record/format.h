// The layout of a recording: the file that a collector maps while its program runs, and that is whole up to
// the last committed record whenever the program ends, killed or not.
//
// A page of header, then segments of equal size. A thread claims the next segment and fills it alone, so
// there is no lock between threads. Names and signatures are told once per segment, before their first use in
// it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace stepscope::record {

inline constexpr char kMagic[8] = {'S', 'T', 'E', 'P', 'R', 'E', 'C', '\n'};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint32_t kHeaderBytes = 4096;
inline constexpr std::uint32_t kSegmentBytes = 1U << 20;

/// What a tick of the recording's clock is.
enum class Clock : std::uint32_t { monotonic_ns = 0, tsc = 1 };

/// The same instant on three clocks; ticks of other instants follow by lines from pair to pair.
struct ClockPair {
  std::uint64_t tick;
  std::int64_t monotonic_ns, realtime_ns;
};

struct Header {
  char magic[8];
  std::uint32_t version, header_bytes, segment_bytes, segment_limit;
  std::atomic<std::uint32_t> claimed;  ///< segments; may exceed the limit, which no segment does
  std::uint32_t pid;
  Clock clock;
  std::uint32_t flags;                 ///< of Recorded
  std::atomic<std::uint64_t> dropped;  ///< records that found no room
  ClockPair loaded, begin, end;  ///< `loaded`: of the collector; `end` is zero until the recording is stopped
  char host[64];
  std::uint32_t parent, worker;  ///< of a data loader's worker: the process that it works for (0: it is
                                 ///< none), and its number
  std::atomic<std::uint32_t> disk_was_full;  ///< 1: that is why records found no room
  std::uint32_t unused;
};
static_assert(sizeof(Header) <= kHeaderBytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// What the recording was asked for.
enum Recorded : std::uint32_t {
  kShapes = 1,
  kMemory = 2,
  kStacks = 4,
  kFlops = 8,
  kModules = 16,
  kOverloads = 32
};

struct SegmentHeader {
  std::atomic<std::uint32_t> committed;  ///< bytes of the segment that are whole, this header included
  std::uint32_t thread;                  ///< the kernel's id
  std::uint64_t torch_thread;            ///< the number by which PyTorch calls it; 0: not known
  char thread_name[16];
};

/// Every record is a multiple of 8 bytes and begins with this.
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
  std::uint16_t units;  ///< of 8 bytes, this header included
  std::uint32_t value;  ///< of a text, signature or op_name its id in the segment; op: of its name; sample:
                        ///< the thread
};
static_assert(sizeof(Record) == 8);
inline constexpr std::uint32_t kMaxMetadata = 512'000;

/// Bytes of a name, of a signature (see signature.h), or `key=value` of metadata; op_name: of an op's name,
/// a zero, and the name of its overload.
struct Text : Record {
  std::uint32_t length;
  char bytes[4];  ///< and what follows, with a zero behind the last
};
inline constexpr std::uint32_t kTextBytes = sizeof(Record) + sizeof(std::uint32_t);  ///< before the bytes

enum OpFlags : std::uint8_t { kHasSequence = 1, kAsync = 2, kEndedLate = 4, kOtherThread = 8 };

/// An op, or a range that the program marked, written when it ends.
struct Op : Record {
  std::uint64_t begin, end;  ///< ticks
  std::uint32_t signature;   ///< 0: none; of an nn.Module call: the text of its path
  std::uint8_t scope;        ///< at::RecordScope, or one of those from kPythonScope on
  std::uint8_t flags;
  std::uint16_t depth;  ///< of a Python call: how many of them are around it
};
static_assert(sizeof(Op) == 32);

/// With kHasSequence, or with kOtherThread.
struct SequencedOp : Op {
  std::int64_t sequence;
  std::uint64_t
      forward_thread;  ///< PyTorch's number; 0: this is no backward op. kOtherThread: the kernel's id
};

/// Memory that was allocated (bytes > 0) or freed. `value` of Record: the device's type, 256 times its index
/// + 1, and kNotInTotal where it was allocated before the recording began.
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

/// An instant that belongs to one in another process: `value` is 1 where the flow begins, 0 where it ends.
struct Flow : Record {
  std::uint64_t tick, id;
};

/// A number that the program tells. `value` of Record: its name.
struct Counter : Record {
  std::uint64_t tick;
  double number;
};
static_assert(sizeof(Counter) == 24);

/// What a thread was in at an instant, seen from another thread: `count` ids of texts follow, innermost
/// first.
struct Sample : Record {
  std::uint64_t tick;
  std::uint32_t period_us;  ///< how far apart samples are meant to be
  std::uint32_t count;
};
static_assert(sizeof(Sample) == 24);

/// PyTorch's at::RecordScope, as far as it matters here.
inline constexpr std::uint8_t kFunctionScope = 0, kBackwardScope = 1, kUserScope = 7;
/// Calls of Python functions, of functions written in C, of nn.Modules.
inline constexpr std::uint8_t kPythonScope = 100, kPythonCScope = 101, kModuleScope = 102;

}  // namespace stepscope::record
