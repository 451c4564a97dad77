
#include "write/sqlite.h"

namespace stepscope::write {
namespace {

constexpr ColumnNote kEvent[] = {
    {"rank", "INTEGER", "rank that recorded the event"},
    {"id", "INTEGER", "position in the file's event list"},
    {"name", "TEXT", "as in the file"},
    {"category", "TEXT", "as in the file"},
    {"kind", "TEXT", "op, annotation, python, runtime, kernel, memcpy, memset, ..."},
    {"track", "INTEGER", "track.id"},
    {"start_ns", "INTEGER", "in the file's time base; add rank.base_ns for Unix time"},
    {"end_ns", "INTEGER", "as start_ns"},
    {"duration_ns", "INTEGER", "end_ns - start_ns"},
    {"parent", "INTEGER", "id of the innermost host range around the event on its track"},
    {"depth", "INTEGER", "number of host ranges around the event on its track"},
    {"launch", "INTEGER", "device events: id of the runtime call that launched them"},
    {"op", "INTEGER", "runtime calls and device events: id of the innermost op that caused them"},
    {"step", "INTEGER", "number of the profiler step"},
};
constexpr ColumnNote kArg[] = {
    {"rank", "INTEGER", "event.rank"},
    {"event", "INTEGER", "event.id"},
    {"key", "TEXT", "name of the arg"},
    {"value", "", "number or text; lists and objects as JSON text"},
};
constexpr ColumnNote kTrack[] = {
    {"rank", "INTEGER", ""},
    {"id", "INTEGER", "event.track"},
    {"side", "TEXT", "host or device"},
    {"pid", "TEXT", "as in the file"},
    {"tid", "TEXT", "as in the file"},
    {"device", "INTEGER", "device tracks: number of the device"},
    {"stream", "INTEGER", "device tracks: number of the stream"},
    {"name", "TEXT", "name of the thread or stream"},
    {"process", "TEXT", ""},
    {"events", "INTEGER", "number of events"},
};
constexpr ColumnNote kRank[] = {
    {"rank", "INTEGER", ""},
    {"path", "TEXT", "path of the file"},
    {"world_size", "INTEGER", "number of ranks in the job"},
    {"backend", "TEXT", "backend of the collectives, e.g. nccl"},
    {"base_ns", "INTEGER", "Unix time of the file's time 0"},
    {"format", "TEXT", ""},
    {"events", "INTEGER", "number of its rows in event"},
    {"complete", "INTEGER", "1 if the file is complete, else 0"},
};
constexpr ColumnNote kStep[] = {
    {"rank", "INTEGER", ""},
    {"step", "INTEGER", "number of the profiler step"},
    {"name", "TEXT", ""},
    {"start_ns", "INTEGER", "start on the host"},
    {"end_ns", "INTEGER", "end on the host"},
    {"device_end_ns", "INTEGER", "end of the last device event launched in the step"},
};
constexpr ColumnNote kDevice[] = {
    {"rank", "INTEGER", ""},         {"id", "INTEGER", "track.device"},  {"name", "TEXT", ""},
    {"memory_bytes", "INTEGER", ""}, {"multiprocessors", "INTEGER", ""},
};
constexpr ColumnNote kFlow[] = {
    {"rank", "INTEGER", ""},
    {"id", "INTEGER", ""},
    {"phase", "TEXT", "s: the arrow starts, t: it passes, f: it ends"},
    {"category", "TEXT", ""},
    {"track", "INTEGER", ""},
    {"time_ns", "INTEGER", ""},
    {"from_event", "INTEGER", "id of the event that the arrow leaves; phase f has a row for each arrow"},
    {"to_event", "INTEGER", "id of the event that the arrow reaches"},
};
constexpr ColumnNote kAllocatorEvent[] = {
    {"rank", "INTEGER", ""},
    {"device", "INTEGER", ""},
    {"event", "INTEGER", "position among the device's events"},
    {"time_ns", "INTEGER", "Unix time"},
    {"action", "TEXT", "alloc, free_requested, free_completed, segment_alloc, segment_free, oom, ..."},
    {"address", "INTEGER", ""},
    {"size_bytes", "INTEGER", "asked for, not rounded"},
    {"device_free_bytes", "INTEGER", "of an action oom: what the device had free"},
    {"stream", "INTEGER", "as in the file; 0 is the default one"},
    {"pool", "TEXT", "of a CUDA graph or a MemPool"},
    {"stack", "INTEGER", "allocator_stack.stack"},
    {"partner", "INTEGER", "of an alloc the event that frees it, of a free its alloc"},
    {"requested_bytes", "INTEGER", "allocated after the event, as asked for"},
    {"reserved_bytes", "INTEGER", "in segments after the event"},
    {"metadata", "TEXT", "user_metadata of the file"},
};
constexpr ColumnNote kAllocatorStack[] = {
    {"rank", "INTEGER", ""},
    {"stack", "INTEGER", "0 has no frames"},
    {"place", "TEXT", "innermost line in the program's own files"},
    {"function", "TEXT", "the same without the line"},
    {"frames", "TEXT", "outermost first, with semicolons"},
};
constexpr ColumnNote kAllocatorBlock[] = {
    {"rank", "INTEGER", ""},
    {"device", "INTEGER", ""},
    {"segment", "INTEGER", "address of the segment around it"},
    {"segment_bytes", "INTEGER", ""},
    {"pool", "TEXT", "of a CUDA graph or a MemPool"},
    {"address", "INTEGER", ""},
    {"state", "TEXT", "active, pending_free or inactive"},
    {"size_bytes", "INTEGER", "rounded"},
    {"requested_bytes", "INTEGER", "of an inactive block: of its last user"},
    {"stack", "INTEGER", "allocator_stack.stack"},
};
constexpr ColumnNote kKernel[] = {
    {"rank", "INTEGER", ""},
    {"id", "INTEGER", "event.id"},
    {"name", "TEXT", ""},
    {"device", "INTEGER", "track.device"},
    {"stream", "INTEGER", "track.stream"},
    {"start_ns", "INTEGER", ""},
    {"end_ns", "INTEGER", ""},
    {"duration_ns", "INTEGER", ""},
    {"step", "INTEGER", "number of the profiler step"},
    {"op", "INTEGER", "id of the innermost op that caused it"},
    {"op_name", "TEXT", ""},
    {"launch", "INTEGER", "id of the runtime call that launched it"},
    {"launch_name", "TEXT", ""},
    {"launch_start_ns", "INTEGER", ""},
    {"launch_delay_ns", "INTEGER", "from the start of the launch to that of the kernel"},
};
constexpr std::string_view kKernelView =
    "SELECT k.rank, k.id, k.name, t.device, t.stream, k.start_ns, k.end_ns, k.duration_ns, k.step, k.op, "
    "o.name AS op_name, k.launch, l.name AS launch_name, l.start_ns AS launch_start_ns, "
    "k.start_ns - l.start_ns AS launch_delay_ns FROM event k "
    "JOIN track t ON t.rank = k.rank AND t.id = k.track "
    "LEFT JOIN event o ON o.rank = k.rank AND o.id = k.op "
    "LEFT JOIN event l ON l.rank = k.rank AND l.id = k.launch WHERE k.kind = 'kernel'";
constexpr ColumnNote kRanks[] = {
    {"rank", "INTEGER", ""},
    {"path", "TEXT", "path of the file"},
    {"events", "INTEGER", "number of its rows in event"},
    {"step_count", "INTEGER", ""},
    {"mean_step_ns", "REAL", "mean length of a step on the host"},
    {"kernel_count", "INTEGER", ""},
    {"kernel_ns", "INTEGER", "sum of the kernels' durations"},
};
constexpr std::string_view kRanksView =
    "SELECT r.rank, r.path, r.events, s.step_count, s.mean_step_ns, k.kernel_count, k.kernel_ns FROM rank r "
    "LEFT JOIN (SELECT rank, count(*) AS step_count, avg(end_ns - start_ns) AS mean_step_ns FROM step "
    "GROUP BY rank) s ON s.rank = r.rank "
    "LEFT JOIN (SELECT rank, count(*) AS kernel_count, sum(duration_ns) AS kernel_ns FROM event "
    "WHERE kind = 'kernel' GROUP BY rank) k ON k.rank = r.rank";

constexpr TraceTable kTables[] = {
    {"event", "every event", kEvent},
    {"arg", "every arg of every event", kArg},
    {"track", "host threads and device streams", kTrack},
    {"rank", "ranks, one per file", kRank},
    {"step", "profiler steps", kStep},
    {"device", "devices that the files describe", kDevice},
    {"flow", "ends of flow arrows", kFlow},
    {"allocator_event", "what a memory snapshot's allocator did", kAllocatorEvent},
    {"allocator_stack", "call stacks of a memory snapshot", kAllocatorStack},
    {"allocator_block", "blocks of a memory snapshot, when it was written", kAllocatorBlock},
    {"kernel", "every kernel with its op and its launch", kKernel, kKernelView},
    {"ranks", "steps and kernels of each rank", kRanks, kRanksView},
};

}  // namespace

std::span<const TraceTable> trace_tables() { return kTables; }

std::string table_name(const report::Report& report, std::size_t index) {
  if (index == 0) return report.name;
  std::string name;
  for (const char c : report.tables[index].title) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool capital = c >= 'A' && c <= 'Z';
    if (letter || capital)
      name += capital ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!name.empty() && !name.ends_with('_'))
      name += '_';
  }
  while (name.ends_with('_')) name.pop_back();
  if (!name.starts_with(report.name + "_")) name = report.name + "_" + name;
  const auto same = [&](std::size_t before) { return table_name(report, before) == name; };
  for (std::size_t before = 0; before < index; ++before)
    if (same(before)) return name + "_" + std::to_string(index);
  return name;
}

std::int64_t rank_name(const trace::Trace& trace, const trace::Rank& rank) {
  return rank.rank >= 0 ? rank.rank : &rank - trace.ranks.data();
}

}  // namespace stepscope::write
