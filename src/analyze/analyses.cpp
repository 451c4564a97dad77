#include "analyze/analyses.h"

#include "analyze/list.h"

namespace stepscope::analyze {
namespace {

using report::ParamSpec;

constexpr ParamSpec kTbCompat = {"tb-compat", ParamSpec::Type::flag, "", "", "the TensorBoard plugin's own numbers, its defects included"};

constexpr ParamSpec kStepsParams[] = {kTbCompat};

constexpr ParamSpec kKernelsParams[] = {
    {"group", ParamSpec::Type::choice, "name", "name|properties", "one row per kernel name, or per name, op and launch properties"}};

constexpr ParamSpec kCallTreeParams[] = {
    {"depth", ParamSpec::Type::integer, "0", "", "levels to show; 0 shows all"},
    {"min-share", ParamSpec::Type::text, "0.1", "", "hide rows under this percentage of both host and device time"}};


constexpr ParamSpec kPythonStacksParams[] = {
    {"metric", ParamSpec::Type::choice, "host", "host|device", "time in the frame itself on the host, or of the device events launched from it"}};


constexpr ParamSpec kMemoryEventsParams[] = {
    {"points", ParamSpec::Type::integer, "2000", "", "most points of each memory's curve; lows and highs are kept"}};


constexpr ParamSpec kEventParams[] = {
    {"id", ParamSpec::Type::integer, "", "", "position in the file's list of events, from 0; needed"},
    {"rank", ParamSpec::Type::integer, "", "", "only in this rank"}};


constexpr Analysis kAll[] = {
    {"overview", "what was recorded, and the facts that decide what it can prove", R"(doc)", {}, overview},
    {"devices", "how busy each device was, and how full when busy", R"(doc)", {}, devices},
    {"idle", "why each device was idle, gap by gap", R"(doc)", {}, idle},
    {"kernels", "which kernels ran, for how long, and how well they fill the device", R"(
Kernels only; copies and fills have a table of their own. With `--step`, events launched in that step.

**Kernels by name**, or by name, op and launch properties with `--group properties`; longest total first.

| column | meaning |
|---|---|
| name, op, grid, block, registers, shared_memory | what makes a row. Op: the innermost operator that launched it, empty if unknown. Registers per thread, shared memory in bytes per block |
| count | kernels |
| total | sum of their durations, ns. Kernels that run at the same time count each |
| share | total / total of all kernels of the rank |
| mean, p50, p95, min, max | of the durations, ns; p50 and p95 are nearest-rank |
| blocks_per_sm | mean blocks per multiprocessor, weighted with duration, over the kernels that record it |
| occupancy | mean estimated achieved occupancy (0 … 1), weighted likewise; an estimate the recorder makes at launch, not a measurement, and 0 where it fails or rounds down |
| tensor_cores | whether the kernel uses matrix units, by its name; empty when the name does not tell |

**Short kernels**: `count` kernels shorter than `below`, `share` of all kernels, their `total` time and its `time_share` of all kernel time.
The rows include each other.

**Copies and fills**: `bytes` as recorded, `bytes_per_s` = bytes / time of those copies whose size is recorded.)", kKernelsParams, kernels},
    {"launches", "how far the host runs ahead of the device, what launching costs, where the device waits for it", R"(
Device events are kernels, copies and fills; a launch is the runtime call with the same correlation id.

**Launch delay and queue by stream**

| column | meaning |
|---|---|
| events | device events on the stream |
| launches | distinct calls that launched them; events without a recorded call are left out of all that follows |
| delay_p50, delay_p90, delay_max | event start − launch end, ns, 0 when the event started earlier. For graph launches from the launch's start |
| queue_empty | events with a delay of at most 10 µs / events with a launch: the device had nothing else to do |
| max_depth | most launches that had been called and not started on the stream, the newest included; a graph launch counts once |
| blocked | ns inside launch calls that waited for the device: blocking calls, copy calls over 50 µs that returned when half of their copy or more was done, launches of over 10 × the median while 900 or more were queued |

**Launch calls by name**: calls that start device work; `total`, `mean`, `p50`, `max` of their durations, `events` they launched.

**Host-bound stretches**: at least 1 ms in which a device did nothing and its next event had not been launched; longest first.
`start` from the first event of the file. `cause`: what took most of it (see `idle`). `host`: the innermost host range that covers at least
half of it, on the `thread` that launches next, else on another launching thread; `op`: the operator it is or is in. `next`: the event that
ended it.

**Graph launches**: `events` launched by `count` graph launches of one `graph` id (where recorded); `call_time` in the calls, `device_time`
the sum of the events' durations.)", {}, launches},
    {"synchronizations", "every call that waits for the device, from where, and what the wait costs", R"(
The length of a wait is not its cost: a host that waits while the device works loses nothing. What is lost is the time in which the device
has nothing to do, during the wait and after it.

Waiting calls of at least 1 µs: stream, event, device and context synchronisation, plain copies, and asynchronous copies from or to pageable
(or unknown) host memory that returned when half of the copy or more was done. Launches that wait because the queue is full are in `launches`.
One row per call, op and source line; highest cost first.

| column | meaning |
|---|---|
| call | the runtime call |
| op | the innermost operator it served, empty if none |
| source | `file(line): function` of the nearest Python frame outside the framework, else the nearest frame; needs stacks |
| count, total, max | calls, and their durations, ns |
| busy | part of `total` in which some device of the rank worked |
| refill | idle time of all devices from the return until device work started or the next waiting call began, without time spent loading data, ns; none after the last device event |
| cost | idle time from the end of the last device work in a call until its return (all of the call when there was none), and the refill, ns. Gaps between work that had been launched before are not the call's |)", {}, synchronizations},
    {"input_wait", "how long each step waited for data, and how much of that the device was idle", R"(
A wait is an outermost range named `enumerate(DataLoader)#…` or `enumerate(DataPipe)#…` on any thread; where there is none, a `__next__` frame
of `dataloader.py`. With `num_workers=0` it is the loading itself.

**Waiting for data by step**

| column | meaning |
|---|---|
| loader | single-process, multi-process (worker processes load), several, or empty when not known |
| count, max | waits that began in the step, the longest of them |
| total | time covered by waits between the step's host start and end, ns; waits of several threads at once count once |
| share | total / host length of the step |
| exposed | the part of `total` in which no device of the rank worked, ns; empty without device activity |
| exposed_share | exposed / host length of the step |

**Loaders**: the waits by name; **Each wait**: one row each, `start` from the first event of the file. `exposed` is the part of the wait
itself in which no device worked.)", {}, input_wait},
    {"call_tree", "where host and device time went, down the nesting of host ranges", R"(
Operators, annotations, runtime calls and, when recorded, Python frames, merged by path: ranges of one name below the same path are one row.
Roots are kinds of threads: the main thread (it has the step marks), backward threads (they run autograd's functions), other threads. All
steps are one node. Rows come in pre-order, siblings by host time; a row is identified by its names from the root down.

| column | meaning |
|---|---|
| calls | ranges merged; of a root, threads |
| host_total | sum of their durations, ns |
| host_self | host_total less the ranges directly below, ns |
| device_self | sum of the durations of the device events launched from the range itself, ns; what a runtime call launches is its caller's. Events that run at the same time count each |
| device_total | device_self and that of all rows below |

With `--step`, ranges that begin in that step and device events launched in it.)", kCallTreeParams, call_tree},
    {"python_stacks", "folded Python stacks with their time, for flame graphs", R"(
One row per stack, outermost frame first, joined by `;` (a `;` inside a frame becomes `:`), longest time first; stacks without time are left out.
Frames are Python ranges as they nest on their thread; where none are recorded, the `Call stack` of operators.

| column | meaning |
|---|---|
| time | `--metric host`: time in the innermost frame itself, without the Python frames below it, ns (with `Call stack`: time of the operators with that stack, without operators inside them that have a stack of their own). `--metric device`: sum of the durations of the device events launched from that frame, ns |
| calls | ranges merged |

The lines of `time` add up to the host time of the outermost frames, or to the device time launched below frames.)", kPythonStacksParams, python_stacks},
    {"modules", "what each nn.Module took on the host and on the device, forward and backward", R"(
Modules are Python ranges named `nn.Module: …`, nested as they called each other; where there are none, the `Module Hierarchy` of operators.
Rows come in pre-order, siblings by device time (host time without a device); a row is identified by its names from the root down.

| column | meaning |
|---|---|
| module, class | instance name with its number, and the name without |
| calls | calls merged; empty with `Module Hierarchy` |
| host_self | time in the calls without the modules called, ns; with `Module Hierarchy` the time of the module's own operators |
| host_total | host_self and that of all modules below |
| device_self | sum of the durations of the device events launched inside the calls and not inside a module called, ns; a module that runs again in the backward pass (recomputation) counts where it ran in the forward pass. Events that run at the same time count each |
| device_total | device_self and that of all modules below |
| backward_device_self | the same of events launched by backward operators outside any module, by the module of their forward operator (equal `Sequence number`; of several the one that started last) |
| backward_device | backward_device_self and that of all modules below |
| device_share | (device_total + backward_device) / sum of the durations of all device events of the rank |)", {}, modules},
    {"memory_events", "what the allocator held over time, what was alive at the peak, who allocated, what stayed", R"(
From the `[memory]` records of `profile_memory=True`. A memory is the host's or a device's. A record belongs to the innermost operator that is
open on its own thread (start ≤ time < end). A free belongs to the last allocation at its address in the same memory. Times count from the
first event of the file. With `--step`, records in that step.

**Peak of each memory**

| column | meaning |
|---|---|
| peak_allocated | most bytes in use, as recorded by the allocator, with what was allocated before the recording; empty if not recorded |
| peak_reserved | most bytes held from the device, as recorded |
| capacity, reserved_share | memory of the device; peak_reserved / capacity |
| peak_time, step | when peak_allocated (else peak_change) was reached first |
| peak_change, end_change | highest and last sum of all bytes allocated and freed since the first record |
| allocations, frees, out_of_memory | records; failed allocations of the whole recording |

**Alive at the peak**: allocations not freed at peak_time by operator, `share` of what was allocated then. What was there before the recording
is one row. Operators that only make an empty tensor are shown in their caller: `caller (aten::empty)`.

**Operators**, by self_size_increase

| column | meaning |
|---|---|
| calls | all calls of the operator, allocating or not |
| size_increase, self_size_increase | bytes allocated less bytes freed while the operator ran, with and without operators inside it |
| allocation_count, allocation_size, and self_… | allocations and their bytes, with and without operators inside it |
| never_freed | bytes of its own allocations without a free in the recording |

An operator inside one of the same name is not counted again in the columns without self.

**Never freed**: allocations without a free in the recording, largest first; `event` is the record's id.

**Memory over time**: after each record, thinned to `--points`; `change` is the sum of bytes since the first record.)", kMemoryEventsParams, memory_events},
    {"event", "all that is known of one event", R"(
One row per fact. `part` is `event` (what every event has; `start` and `end` count from the first event of the file, `start_in_file` is the
recorded time), `derived` (what it belongs to: other events by id and name) or `arg`: each arg with its key, value and `type`, lists and objects
as JSON text from the file.)", kEventParams, event},
    {"steps", "where each step's time went, part by part", R"(Every nanosecond of a step has exactly one role; the parts add up to `total`.)", kStepsParams, steps},
};

}  // namespace

std::span<const Analysis> all() { return kAll; }

const Analysis* find(std::string_view name) {
  for (const Analysis& analysis : all())
    if (analysis.name == name) return &analysis;
  return nullptr;
}

report::Report run(const Analysis& analysis, const trace::Trace& trace, const report::Params& params) {
  report::Report report = analysis.run(trace, params);
  const auto top = static_cast<std::size_t>(params.integer("top"));
  const std::string_view sort = params.text("sort");
  for (report::Table& table : report.tables) {
    if (sort.empty()) report::cut(table, top);
    else if (!report::sort_and_cut(table, sort, top)) report::cut(table, top);
  }
  return report;
}

}  // namespace stepscope::analyze
