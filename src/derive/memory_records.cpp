#include "derive/memory_records.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>
#include <unordered_map>

#include "base/sort_runs.h"
#include "derive/innermost.h"

namespace stepscope::derive {

using trace::ArgReader;
using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Row;

namespace {

struct Args {
  Args(const trace::Trace& trace, const trace::Rank& rank)
      : type(trace, rank, "Device Type"),
        id(trace, rank, "Device Id"),
        bytes(trace, rank, "Bytes"),
        address(trace, rank, "Addr"),
        allocated(trace, rank, "Total Allocated"),
        reserved(trace, rank, "Total Reserved"),
        index(trace, rank, "Ev Idx") {}
  ArgReader type, id, bytes, address, allocated, reserved, index;
};

/// The innermost host range around each memory record, indexed like `records`. One walk over each track: a
/// range that has ended is never visited again.
Column<Row> ranges_of_records(const trace::Rank& rank, const Column<Row>& records) {
  const EventTable& e = rank.events;
  Column<Row> ranges(records.size(), kNoRow);
  std::size_t next = 0;  // records are in row order
  for (const trace::Track& track : rank.tracks) {
    Row open = kNoRow;
    for (Row row = track.begin; row < track.end && next < records.size(); ++row) {
      if (row == records[next]) {
        open = open_at(e, open, e.start[row]);
        ranges[next++] = open;
      } else if (is_host_range(e.kind[row])) {
        open = row;
      }
    }
  }
  return ranges;
}

/// The records of one memory while they are collected.
struct OneMemory {
  MemoryRecords records;
  Column<std::int64_t> addresses;
  std::size_t expected = 0;
  std::int64_t moved = 0;  ///< sum of the sizes of all allocations and frees

  void reserve() {
    records.row.reserve(expected), records.range.reserve(expected), records.bytes.reserve(expected);
    records.allocated.reserve(expected), records.reserved.reserve(expected), records.change.reserve(expected);
    addresses.reserve(expected);
  }
};

bool absurd(std::int64_t bytes) { return bytes > kMaxBytes || bytes < -kMaxBytes; }

/// The recorded total. If it is missing or damaged: the previous total plus `change`, if there is a previous
/// total.
std::int64_t total_after(const ArgReader& recorded, Row row, const Column<std::int64_t>& before,
                         std::int64_t change) {
  const std::int64_t total = recorded.integer_or(row, MemoryRecords::kAbsent);
  if (!absurd(total)) return total;
  const std::int64_t last = before.empty() ? MemoryRecords::kAbsent : before.back();
  return last == MemoryRecords::kAbsent || absurd(last + change) ? last : last + change;
}

void pair_frees(MemoryRecords& records, const Column<std::int64_t>& addresses) {
  std::unordered_map<std::int64_t, std::uint32_t> open;
  records.freed.assign(records.size(), MemoryRecords::kNever);
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    if (addresses[i] == MemoryRecords::kAbsent) continue;
    records.addressed = true;
    const auto found = open.find(addresses[i]);
    if (found != open.end()) records.freed[found->second] = i;
    if (records.bytes[i] > 0)
      open[addresses[i]] = i;
    else if (found != open.end())
      open.erase(found);
  }
}

}  // namespace

std::string MemoryDevice::name() const {
  if (host()) return "host";
  // CUDA, HIP, XPU, HPU, MTIA and out-of-tree devices: a program uses only one of these types.
  const bool usual = type == 1 || type == 6 || type == 12 || type == 15 || type == 19 || type == 20;
  return (usual ? "" : "type " + std::to_string(type) + " ") + "device " + std::to_string(id);
}

std::vector<MemoryRecords> memory_records(const trace::Trace& trace, const trace::Rank& rank) {
  const EventTable& e = rank.events;
  const Args args(trace, rank);
  Column<Row> rows;
  for (const Row row : rank.host_rows())
    if (e.kind[row] == Kind::memory) rows.push_back(row);
  const Column<Row> ranges = ranges_of_records(rank, rows);
  struct When {
    std::int64_t time, index;
    std::uint32_t source, at;  // position in rows
  };
  Column<When> order;
  order.reserve(rows.size());
  for (std::uint32_t i = 0; i < rows.size(); ++i)
    order.push_back({e.start[rows[i]], args.index.integer_or(rows[i], -1), e.source[rows[i]], i});
  sort_runs(order, [](const When& a, const When& b) {
    return std::tie(a.time, a.index, a.source) < std::tie(b.time, b.index, b.source);
  });

  std::map<std::pair<std::int64_t, std::int64_t>, OneMemory> devices;
  for (const Row row : rows) ++devices[{args.type.integer_or(row, 0), args.id.integer_or(row, -1)}].expected;
  for (auto& [key, device] : devices) device.reserve();
  for (const When& when : order) {
    const Row row = rows[when.at];
    const auto bytes = args.bytes.integer(row);
    const MemoryDevice device{args.type.integer_or(row, 0), args.id.integer_or(row, -1)};
    auto& [records, addresses, expected, moved] = devices[{device.type, device.id}];
    records.device = device;
    if (trace.name(rank, row) == "[OutOfMemory]") {
      ++records.out_of_memory;
      continue;
    }
    if (!bytes || *bytes == 0) continue;
    if (absurd(*bytes) || std::abs(*bytes) > kMaxMoved - moved) {
      ++records.absurd;
      continue;
    }
    moved += std::abs(*bytes);
    records.row.push_back(row);
    records.range.push_back(ranges[when.at]);
    records.bytes.push_back(*bytes);
    records.allocated.push_back(total_after(args.allocated, row, records.allocated, *bytes));
    records.reserved.push_back(total_after(args.reserved, row, records.reserved, 0));
    records.change.push_back((records.change.empty() ? 0 : records.change.back()) + *bytes);
    addresses.push_back(args.address.integer_or(row, MemoryRecords::kAbsent));
  }
  std::vector<MemoryRecords> out;
  for (auto& [key, device] : devices) {
    pair_frees(device.records, device.addresses);
    out.push_back(std::move(device.records));
  }
  std::stable_partition(out.begin(), out.end(),
                        [](const MemoryRecords& records) { return !records.device.host(); });
  return out;
}

}  // namespace stepscope::derive
