#include "make_trace/file/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "make_trace/model/pipeline.h"
#include "make_trace/run/hardware.h"

namespace stepscope::make_trace {
namespace {

constexpr std::size_t kFlushAbove = 1 << 20;

bool is_gzip(const Options& o) { return o.gzip || o.out.ends_with(".gz"); }

}  // namespace

bool writes_one_file(const Options& options) {
  return options.ranks == 1 && (options.out.ends_with(".json") || options.out.ends_with(".gz"));
}

std::string trace_path(const Options& options, int rank) {
  if (writes_one_file(options)) return options.out;
  const char* ending = options.gzip ? ".pt.trace.json.gz" : ".pt.trace.json";
  return (std::filesystem::path(options.out) / fmt::format("rank{}{}", rank, ending)).string();
}

TraceFile::TraceFile(const Options& options, const Program& program, int rank)
    : o_(options),
      who_(identity_of(options, rank)),
      sink_(trace_path(options, rank), is_gzip(options)),
      writer_(options, program, rank, text_) {}

void TraceFile::begin(std::int64_t at) {
  window_start_ = at;
  header();
}

void TraceFile::step(const StepRows& rows) {
  writer_.rows(rows);
  flush(kFlushAbove);
}

void TraceFile::end(const HostRow& drain) {
  writer_.drain(drain);
  if (o_.stacks) writer_.program_frame(window_start_, drain.end);
  writer_.metadata(window_start_);
  writer_.recording(window_start_, drain.end);
  text_ << "\n  ],\n  \"traceName\": \"rank" << who_.rank << ".pt.trace.json\"\n}\n";
  flush(0);
  sink_.close();
}

void TraceFile::flush(std::size_t above) {
  if (text_.size() <= above) return;
  sink_.write(text_.view());
  text_.clear();
}

void TraceFile::header() {
  const Dialect dialect = dialect_of(o_.dialect);
  text_ << "{\n  \"schemaVersion\": 1,\n  \"stepscope_generated\": true,\n";
  device_properties();
  if (o_.ranks > 1) distributed_info();
  if (o_.shapes) text_ << "  \"record_shapes\": 1,\n";
  if (o_.stacks) text_ << "  \"with_stack\": 1,\n";
  if (o_.memory) text_ << "  \"profile_memory\": 1,\n";
  if (!dialect.old_args) text_ << "  \"host_name\": \"" << who_.host << "\",\n";
  if (dialect.base_ns != 0) {
    text_ << "  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": " << dialect.base_ns << ",\n";
  }
  text_ << "  \"traceEvents\": [";
}

void TraceFile::device_properties() {
  const Hardware& hw = hardware_of(o_.vendor);
  const int first = who_.rank / o_.ranks_per_host * o_.ranks_per_host;
  const int devices = std::min(o_.ranks_per_host, o_.ranks - first);
  text_ << "  \"deviceProperties\": [";
  for (int id = 0; id < devices; ++id) {
    text_ << (id > 0 ? ",\n" : "\n");
    if (o_.vendor == VendorKind::xpu) {
      text_ << fmt::format(
          "    {{\"id\": {}, \"name\": \"{}\", \"totalGlobalMem\": {}, \"maxComputeUnits\": {}, "
          "\"maxWorkGroupSize\": 1024, \"maxClockFrequency\": 1600, \"maxMemAllocSize\": {}, "
          "\"localMemSize\": {}}}",
          id, hw.name, hw.memory_bytes, hw.sms, hw.memory_bytes, hw.shared_per_sm);
      continue;
    }
    text_ << fmt::format(
        "    {{\"id\": {}, \"name\": \"{}\", \"totalGlobalMem\": {}, \"computeMajor\": {}, \"computeMinor\": "
        "{}, "
        "\"maxThreadsPerBlock\": 1024, \"maxThreadsPerMultiprocessor\": {}, \"regsPerBlock\": {}, "
        "\"warpSize\": {}, "
        "\"sharedMemPerBlock\": 49152, \"numSms\": {}, ",
        id, hw.name, hw.memory_bytes, hw.major, hw.minor, hw.max_threads_per_sm, hw.registers_per_sm, hw.warp,
        hw.sms);
    text_ << (o_.vendor == VendorKind::rocm
                  ? fmt::format("\"maxSharedMemoryPerMultiProcessor\": {}}}", hw.shared_per_sm)
                  : fmt::format("\"regsPerMultiprocessor\": {}, \"sharedMemPerBlockOptin\": {}, "
                                "\"sharedMemPerMultiprocessor\": {}}}",
                                hw.registers_per_sm, hw.shared_optin, hw.shared_per_sm));
  }
  text_ << "\n  ],\n";
}

void TraceFile::distributed_info() {
  const char* backend = o_.vendor == VendorKind::xpu ? "xccl" : "nccl";
  text_ << "  \"distributedInfo\": {\"backend\": \"" << backend << "\", \"rank\": " << who_.rank
        << ", \"world_size\": " << o_.ranks;
  if (o_.dialect == DialectKind::ns) {
    const std::vector<Group> groups = groups_of(o_, who_.rank);
    text_ << ", \"pg_count\": " << static_cast<std::int64_t>(groups.size()) << ", \"pg_config\": [";
    const char* separator = "";
    for (const Group& group : groups) {
      text_ << separator << "{\"pg_name\": \"" << group.name << "\", \"pg_desc\": \"" << group.description
            << "\", \"backend_config\": \"" << (o_.vendor == VendorKind::xpu ? "xpu:xccl" : "cuda:nccl")
            << "\", \"pg_size\": " << group.members.count << ", \"ranks\": [";
      for (int i = 0; i < group.members.count; ++i) text_ << (i > 0 ? ", " : "") << group.members.at(i);
      text_ << "]}";
      separator = ", ";
    }
    text_ << "]";
    if (o_.vendor != VendorKind::xpu) text_ << ", \"nccl_version\": \"2.27.3\"";
  }
  text_ << "},\n";
}

}  // namespace stepscope::make_trace
