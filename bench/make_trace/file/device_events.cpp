#include <fmt/format.h>

#include <algorithm>

#include "make_trace/file/event_writer.h"

namespace stepscope::make_trace {

std::string EventWriter::kernel_args(const WorkInfo& work) const {
  const KernelShape& s = work.shape;
  const std::string shape = fmt::format("\"grid\": [{}, {}, {}], \"block\": [{}, {}, {}]", s.grid[0],
                                        s.grid[1], s.grid[2], s.block[0], s.block[1], s.block[2]);
  const bool kernel = work.kind == WorkKind::kernel || work.kind == WorkKind::collective;
  std::string args;
  if (v_.kind == VendorKind::rocm) {
    args = kernel ? ", \"kind\": \"Dispatch Kernel\", " + shape : ", \"kind\": \"HtoD\"";
  } else if (v_.kind == VendorKind::xpu) {
    if (kernel) args = ", \"kernel_id\": 1";
  } else if (kernel) {
    const double blocks = static_cast<double>(s.grid[0]) * s.grid[1] * s.grid[2] / hw_.sms;
    const double warps = blocks * s.block[0] * s.block[1] * s.block[2] / hw_.warp;
    args = fmt::format(
        ", \"registers per thread\": {}, \"shared memory\": {}, \"blocks per SM\": {:.6f}, \"warps per SM\": "
        "{:.6f}, "
        "{}, \"est. achieved occupancy %\": {}",
        s.registers, s.shared_bytes, blocks, warps, shape, occupancy_percent(hw_, s));
  }
  if (d_.comm_metadata && !work.comm_args.empty()) {
    args += ", " + work.comm_args.substr(0, work.comm_args.size() - 2);
  }
  return args;
}

std::string EventWriter::call_args(const WorkInfo& work) const {
  if (v_.kind != VendorKind::rocm) return {};
  if (work.kind == WorkKind::copy) return fmt::format(", \"bytes\": \"{}\", \"kind\": \"1\"", work.bytes);
  const KernelShape& s = work.shape;
  return fmt::format(
      ", \"kernel\": \"{}\", \"grid\": [{}, {}, {}], \"block\": [{}, {}, {}], \"shared memory\": {}",
      work.name, s.grid[0], s.grid[1], s.grid[2], s.block[0], s.block[1], s.block[2], s.shared_bytes);
}

void EventWriter::device(const DeviceRow& row) {
  const WorkInfo& work = program_.works[row.work];
  const char* category = work.kind == WorkKind::copy   ? d_.copy
                         : work.kind == WorkKind::fill ? d_.fill
                                                       : d_.kernel;
  head('X', category, work.name);
  device_place(row.stream);
  when(row.start, row.end);
  out_ << ",\n    \"args\": {\n      ";
  device_args(row);
  out_ << "\n    }\n  }";
  begin_event();
  out_ << "\"ph\": \"f\", \"id\": " << row.correlation;
  device_place(row.stream);
  out_ << ", \"ts\": ";
  stamp(row.start);
  out_ << ",\n    \"cat\": \"" << d_.flow_category << "\", \"name\": \"" << d_.flow_name
       << "\", \"bp\": \"e\"\n  }";
}

void EventWriter::device_args(const DeviceRow& row) {
  const WorkInfo& work = program_.works[row.work];
  if (row.external != 0 && !d_.old_args) out_ << "\"External id\": " << row.external << ", ";
  if (v_.kind == VendorKind::cuda && work.kind != WorkKind::copy) out_ << "\"queued\": 0, ";
  out_ << "\"device\": " << who_.device;
  if (v_.kind != VendorKind::rocm) out_ << ", \"context\": 1";
  if (v_.kind == VendorKind::xpu) {
    out_ << ", \"sycl queue\": " << row.stream << ", \"l0 queue\": " << row.stream;
  } else {
    out_ << ", \"stream\": " << stream_id(row.stream);
  }
  out_ << ", \"correlation\": " << row.correlation;
  if (row.external != 0 && d_.old_args) out_ << ", \"external id\": " << row.external;
  out_ << kernel_args_[row.work];
  if (work.kind == WorkKind::copy || work.kind == WorkKind::fill) {
    out_ << ", \"bytes\": " << work.bytes << ", \"memory bandwidth (GB/s)\": ";
    out_.decimal(static_cast<double>(work.bytes) /
                 static_cast<double>(std::max<std::int64_t>(1, row.end - row.start)));
  }
  if (d_.comm_metadata && row.collective >= 0) {
    out_ << ", ";
    collective_ids(row.sequence, work.salt);
  }
}

void EventWriter::device_annotations(const StepRows& rows) {
  std::map<std::pair<std::uint32_t, int>, std::pair<std::int64_t, std::int64_t>> ranges;
  for (const DeviceRow& row : rows.device) {
    if (row.annotation == 0) continue;
    const auto [range, fresh] = ranges.try_emplace({row.annotation - 1, row.stream}, row.start, row.end);
    if (fresh) continue;
    range->second.first = std::min(range->second.first, row.start);
    range->second.second = std::max(range->second.second, row.end);
  }
  for (const auto& [place, range] : ranges) {
    const HostRow& host = rows.host[place.first];
    const SpanInfo& info = program_.spans[host.info];
    head('X', "gpu_user_annotation", info.name);
    if (info.numbered) {
      out_.drop_last();
      out_ << rows.step + o_.warmup << '"';
    }
    device_place(place.second);
    when(range.first - 1, range.second + 1);
    out_ << ",\n    \"args\": {\n      \"External id\": " << host.external << "\n    }\n  }";
  }
}

}  // namespace stepscope::make_trace
