// One training step as a flat list of instructions. The same program runs in every step, on every rank or on
// those that hold the same stage of the model; differences (noise, stragglers, waiting) arise when it is
// executed. A host can stop at any instruction of a flat list and resume there: this is how it waits for a
// device time that is not known yet.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "make_trace/run/hardware.h"

namespace stepscope::make_trace {

enum class Act : std::uint8_t {
  think,            // host time outside any record of its own
  open,             // span `info` begins; `ns` passes inside it
  close,            // `ns` passes, then the innermost span of the thread ends
  call,             // runtime call `info` without device work
  launch,           // runtime call that queues work `info`
  blocking_copy,    // the same for a copy whose call returns when the copy has ended
  record_event,     // event `slot` := the last work queued on stream `stream`
  wait_event,       // later work on `stream` starts after event `slot`
  synchronize,      // the host waits for `stream` (−1: all streams)
  take_batch,       // waits for the loader (workers or own work)
  lag,              // extra time of a straggler in phase `slot`
  allocate,         // allocates tensor `slot` of `bytes`
  release,          // releases tensor `slot`
  empty_cache,      // waits for the device, returns cached memory
  on_thread,        // next instructions run on thread `slot`
  only_in,          // skips the next `slot` instructions unless the step is one of `steps`
  restart_workers,  // loader workers restart and are ready `ns` later
};

enum Thread : std::uint8_t { kMainThread = 0, kBackwardThread = 1, kThreads = 2 };

/// The recorded step `first` alone, or with `every` > 0 each step, warm-up counted, whose number modulo
/// `every` is `first`.
struct Steps {
  int first = 0;
  int every = 0;
};

/// Ranks that do something together: `count` ranks from `first` on, `stride` apart.
struct Members {
  int first = 0, stride = 1, count = 1;
  bool message = false;  ///< a message from the first of two members to the second

  int at(int i) const { return first + i * stride; }
  std::size_t place(int rank) const { return static_cast<std::size_t>((rank - first) / stride); }
  friend auto operator<=>(const Members&, const Members&) = default;
};

/// A process group as it appears in a trace.
struct Group {
  std::string name = "0", description = "default_pg";
  Members members;
  std::uint64_t salt = 0;  ///< makes its ids differ from other groups'
};

struct Instr {
  Act act = Act::think;
  std::int16_t stream = 0;
  std::uint32_t info = 0;
  std::uint32_t slot = 0;
  std::int64_t ns = 0;
  std::int64_t bytes = 0;
  Steps steps = {};
  std::uint64_t key = 0;  ///< identifies this instruction for the jitter, whatever is planted around it
};

enum class SpanKind : std::uint8_t { op, annotation, python };

struct SpanInfo {
  SpanKind kind = SpanKind::op;
  std::string name;        ///< JSON-escaped
  std::string shape_args;  ///< JSON members, empty or ending in a comma
  std::string comm_args;   ///< members of a collective, empty or ending in a comma
  Group group;             ///< for a collective
  std::string call_stack;  ///< JSON-escaped, innermost first
  int sequence = -1;       ///< number of the autograd node within the step, −1 none
  int module = -1;         ///< nn.Module call: its id
  bool backward = false;   ///< runs the node: end of the forward-backward flow
  bool numbered = false;   ///< the step number follows the name
  bool loader = false;     ///< fetching a batch
};

struct CallInfo {
  std::string name;
  int cbid = 0;
  bool starts_flow = false;
};

enum class WorkKind : std::uint8_t { kernel, copy, fill, collective };

struct WorkInfo {
  WorkKind kind = WorkKind::kernel;
  std::string name;  ///< JSON-escaped
  std::uint32_t call = 0;
  std::int64_t device_ns = 0;
  std::int64_t bytes = 0;
  KernelShape shape;
  std::string comm_args;
  Members members;         ///< of a collective: the ranks that take part
  std::uint64_t salt = 0;  ///< of the collective's group
};

struct Program {
  std::vector<Instr> instrs;
  std::vector<SpanInfo> spans;
  std::vector<CallInfo> calls;
  std::vector<WorkInfo> works;
  int streams = 1;  ///< compute streams 0 … streams−1; `comm_stream` follows
  int comm_stream = 1;
  int comm_streams = 1;
  int sequences = 0;              ///< autograd nodes per step
  int events = 0;                 ///< event slots
  int tensors = 0;                ///< tensor slots
  std::uint32_t device_sync = 0;  ///< index of the call that waits for the whole device
  std::int64_t device_ns = 0;     ///< sum of all kernels
  std::int64_t collective_bytes = 0;
};

/// The programs of all ranks: one for all, or one for each.
class Programs {
 public:
  explicit Programs(std::vector<Program> programs) : programs_(std::move(programs)) {}
  const Program& of(int rank) const { return programs_[static_cast<std::size_t>(rank) % programs_.size()]; }

 private:
  std::vector<Program> programs_;
};

}  // namespace stepscope::make_trace
