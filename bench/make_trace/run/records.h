// What happened in one step on one rank, in true time (ns since the job's start). The writer turns it into a
// trace, the ledger into the truth.
#pragma once

#include <cstdint>
#include <vector>

namespace stepscope::make_trace {

enum class HostKind : std::uint8_t { span, call };

struct HostRow {
  HostKind kind = HostKind::span;
  std::uint8_t thread = 0;
  std::uint32_t info = 0;  ///< index into Program::spans or Program::calls
  std::uint32_t work = 0;  ///< of a call that queued work: 1 + index into Program::works, 0 none
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::uint32_t external = 0;  ///< a span's own id; for a call, the id of its innermost op, 0 none
  std::uint32_t correlation = 0;
  std::uint32_t index = 0;     ///< "Ev Idx" of a span
  std::int64_t sequence = -1;  ///< autograd node, or number of the collective
  std::uint32_t python = 0;    ///< id of a Python call
  std::uint32_t parent = 0;    ///< id of the Python call around it, 0 none
};

struct DeviceRow {
  std::uint32_t work = 0;
  int stream = 0;
  std::int64_t launch_start = 0;
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::uint32_t correlation = 0;
  std::uint32_t external = 0;    ///< id of the innermost op
  std::uint32_t annotation = 0;  ///< 1 + index into StepRows::host of the innermost annotation on that thread
  std::int64_t collective = -1;  ///< number of the collective in the whole run
  std::int64_t sequence = -1;    ///< number of the collective in its process group
};

struct MemoryRow {
  std::uint8_t thread = 0;
  std::uint32_t index = 0;  ///< "Ev Idx"
  std::int64_t time = 0;
  std::int64_t address = 0;
  std::int64_t bytes = 0;  ///< negative: freed
  std::int64_t allocated = 0;
  std::int64_t reserved = 0;
};

/// What the host was doing, for the truth. A wait is blamed on the first of these that applies.
enum class Doing : std::uint8_t { input, sync, alloc, launch, runtime, op, other };

struct Segment {
  std::int64_t start = 0;
  std::int64_t end = 0;
  Doing doing = Doing::other;
};

struct StepRows {
  int step = 0;
  std::int64_t host_start = 0;
  std::int64_t host_end = 0;
  std::vector<HostRow> host;
  std::vector<DeviceRow> device;
  std::vector<MemoryRow> memory;
  std::vector<Segment> segments;

  void clear() {
    host.clear();
    device.clear();
    memory.clear();
    segments.clear();
  }
};

}  // namespace stepscope::make_trace
