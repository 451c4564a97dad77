#include "make_trace/file/event_writer.h"

#include <fmt/format.h>

namespace stepscope::make_trace {
namespace {

constexpr std::uint64_t kCallSalt = 0xca11, kDeviceSalt = 0xdeb1ce, kDropSalt = 0xd409;

}  // namespace

Identity identity_of(const Options& options, int rank) {
  Identity who;
  who.rank = rank;
  who.device = rank % options.ranks_per_host;
  who.pid = 41000 + 97 * rank;
  who.backward_tid = who.pid + 61;
  who.host = fmt::format("generated-host-{}", rank / options.ranks_per_host);
  return who;
}

EventWriter::EventWriter(const Options& options, const Program& program, int rank, Text& out)
    : o_(options),
      program_(program),
      v_(vendor_of(options.vendor)),
      hw_(hardware_of(options.vendor)),
      d_(dialect_of(options.dialect)),
      who_(identity_of(options, rank)),
      clock_(clock_of(options, rank)),
      out_(out),
      flow_source_(program.spans.size(), false) {
  for (const WorkInfo& work : program.works) {
    kernel_args_.push_back(kernel_args(work));
    call_args_.push_back(call_args(work));
  }
  std::map<int, std::size_t> last;
  for (std::size_t i = 0; i < program.spans.size(); ++i) {
    if (program.spans[i].sequence >= 0 && !program.spans[i].backward &&
        !program.spans[i].name.starts_with("autograd::engine")) {
      last[program.spans[i].sequence] = i;
    }
  }
  for (const auto& [sequence, span] : last) flow_source_[span] = true;
}

int EventWriter::stream_id(int stream) const {
  if (stream >= program_.comm_stream) return v_.comm_stream_id + stream - program_.comm_stream;
  return v_.stream_ids[static_cast<std::size_t>(stream)];
}

void EventWriter::begin_event() { out_ << (events_++ > 0 ? ",\n  {\n    " : "\n  {\n    "); }

void EventWriter::head(char phase, std::string_view category, std::string_view name) {
  begin_event();
  out_ << "\"ph\": \"" << phase << "\", \"cat\": \"" << category << "\", \"name\": \"" << name << '"';
}

void EventWriter::host_place(std::uint8_t thread) {
  const int tid = thread == kMainThread ? who_.pid : who_.backward_tid;
  out_ << ", \"pid\": " << who_.pid << ", \"tid\": ";
  if (d_.string_tids) {
    out_ << '"' << tid << '"';
  } else {
    out_ << tid;
  }
}

void EventWriter::device_place(int stream) {
  out_ << ", \"pid\": " << who_.device << ", \"tid\": ";
  if (d_.string_tids) {
    out_ << "\"stream " << stream_id(stream) << '"';
  } else {
    out_ << stream_id(stream);
  }
}

void EventWriter::stamp(std::int64_t at) {
  const std::int64_t ns = clock_.shown(at) + d_.epoch_ns - d_.base_ns;
  if (d_.whole_us) {
    out_ << ns / 1000;
  } else {
    out_.micros(ns);
  }
}

void EventWriter::when(std::int64_t start, std::int64_t end) {
  const std::int64_t from = clock_.shown(start) + d_.epoch_ns - d_.base_ns;
  const std::int64_t to = clock_.shown(end) + d_.epoch_ns - d_.base_ns;
  out_ << ",\n    \"ts\": ";
  if (d_.whole_us) {
    out_ << from / 1000 << ", \"dur\": " << to / 1000 - from / 1000;
  } else {
    out_.micros(from) << ", \"dur\": ";
    out_.micros(to - from);
  }
}

bool EventWriter::left_out(std::uint32_t correlation, double share, std::uint64_t salt) const {
  if (share <= 0) return false;
  return unit(mix(mix(o_.seed ^ salt, static_cast<std::uint64_t>(who_.rank)), correlation)) < share;
}

void EventWriter::rows(const StepRows& rows) {
  for (const HostRow& row : rows.host) {
    if (row.kind == HostKind::call) {
      if (!left_out(row.correlation, o_.sample, kCallSalt)) call(row);
    } else {
      span(row, rows.step);
    }
  }
  for (const DeviceRow& row : rows.device) {
    if (left_out(row.correlation, o_.sample, kDeviceSalt)) continue;
    if (!left_out(row.correlation, o_.drop_device, kDropSalt)) device(row);
  }
  if (d_.device_annotations) device_annotations(rows);
  for (const MemoryRow& row : rows.memory) memory(row);
}

void EventWriter::span(const HostRow& row, int step) {
  const SpanInfo& info = program_.spans[row.info];
  if (info.kind == SpanKind::python) return python_call(row, info);
  head('X', info.kind == SpanKind::op ? d_.op : d_.annotation, info.name);
  if (info.numbered) {  // the number goes inside the closing quote of the name
    out_.drop_last();
    out_ << step + o_.warmup << '"';
  }
  host_place(row.thread);
  when(row.start, row.end);
  out_ << ",\n    \"args\": {\n      ";
  span_args(row, info);
  out_ << "\n    }\n  }";
  if (info.sequence < 0 || !d_.forward_backward) return;
  const auto id = static_cast<std::uint64_t>(row.sequence + 1);
  if (info.backward || flow_source_[row.info]) {
    begin_event();
    out_ << "\"ph\": \"" << (info.backward ? 'f' : 's') << "\", \"id\": " << id;
    host_place(row.thread);
    out_ << ", \"ts\": ";
    stamp(row.start);
    out_ << ",\n    \"cat\": \"fwdbwd\", \"name\": \"fwdbwd\"" << (info.backward ? ", \"bp\": \"e\"" : "")
         << "\n  }";
  }
}

void EventWriter::span_args(const HostRow& row, const SpanInfo& info) {
  if (d_.old_args) {
    out_ << "\"Device\": " << who_.pid << ", \"External id\": " << row.external
         << ", \"Trace name\": \"PyTorch Profiler\", \"Trace iteration\": 0";
    if (!info.shape_args.empty())
      out_ << ", " << std::string_view(info.shape_args).substr(0, info.shape_args.size() - 2);
    if (!info.call_stack.empty()) out_ << ", \"Call stack\": \"" << info.call_stack << '"';
  } else {
    out_ << "\"External id\": " << row.external
         << (d_.record_function ? ",\"Record function id\": 0, " : ", ");
    if (d_.comm_metadata && !info.comm_args.empty()) {
      out_ << info.comm_args << "\"Rank\": " << who_.rank
           << ", \"Global rank start\": " << info.group.members.first
           << ", \"Global rank stride\": " << info.group.members.stride << ", ";
      if (row.sequence >= 0) {
        collective_ids(row.sequence, info.group.salt);
        out_ << ", ";
      }
    }
    out_ << info.shape_args << "\"Ev Idx\": " << row.index;
  }
  if (info.sequence >= 0) {
    const bool backward = row.thread == kBackwardThread;
    out_ << ", \"Sequence number\": " << row.sequence << ", \"Fwd thread id\": " << (backward ? 1 : 0);
  }
}

void EventWriter::collective_ids(std::int64_t sequence, std::uint64_t salt) {
  out_ << "\"Seq\": " << sequence
       << ", \"Comms Id\": " << mix(0x5eed + salt, static_cast<std::uint64_t>(sequence));
}

void EventWriter::python_call(const HostRow& row, const SpanInfo& info) {
  if (d_.old_args) return;  // that profiler wrote stacks on ops instead
  head('X', "python_function", info.name);
  host_place(row.thread);
  when(row.start, row.end);
  out_ << ",\n    \"args\": {\n      \"Python parent id\": " << row.parent
       << ", \"Python id\": " << row.python;
  if (info.module >= 0) out_ << ", \"Python module id\": " << info.module;
  out_ << ", \"Ev Idx\": " << row.index << "\n    }\n  }";
}

void EventWriter::call(const HostRow& row) {
  const CallInfo& info = program_.calls[row.info];
  head('X', d_.runtime != nullptr ? std::string_view(d_.runtime) : v_.runtime_category, info.name);
  host_place(row.thread);
  when(row.start, row.end);
  out_ << ",\n    \"args\": {\n      ";
  if (row.external != 0 && !d_.old_args) out_ << "\"External id\": " << row.external << ", ";
  if (v_.kind == VendorKind::cuda) out_ << "\"cbid\": " << info.cbid << ", ";
  if (v_.kind == VendorKind::rocm) out_ << "\"cid\": " << info.cbid << ", ";
  out_ << "\"correlation\": " << row.correlation;
  if (row.external != 0 && d_.old_args) {
    out_ << ", \"external id\": " << row.external << ", \"external ts\": ";
    stamp(row.start);
  }
  if (row.work > 0) out_ << call_args_[row.work - 1];
  out_ << "\n    }\n  }";
  if (info.starts_flow && (row.work > 0 || !d_.old_args)) {
    begin_event();
    out_ << "\"ph\": \"s\", \"id\": " << row.correlation;
  } else if (!d_.old_args) {
    begin_event();
    out_ << "\"ph\": \"f\", \"id\": " << row.correlation;
  } else {
    return;
  }
  host_place(row.thread);
  out_ << ", \"ts\": ";
  stamp(row.start);
  out_ << ",\n    \"cat\": \"" << d_.flow_category << "\", \"name\": \"" << d_.flow_name
       << (info.starts_flow ? "\"\n  }" : "\", \"bp\": \"e\"\n  }");
}

void EventWriter::drain(const HostRow& row) { call(row); }

void EventWriter::memory(const MemoryRow& row) {
  begin_event();
  out_ << "\"ph\": \"i\"" << (d_.old_args ? "" : ", \"cat\": \"cpu_instant_event\"")
       << ", \"s\": \"t\", \"name\": \"[memory]\"";
  host_place(row.thread);
  out_ << ",\n    \"ts\": ";
  stamp(row.time);
  out_ << ",\n    \"args\": {\n      \"Device Type\": " << (v_.kind == VendorKind::xpu ? 12 : 1)
       << ", \"Device Id\": " << who_.device << ", \"Bytes\": " << row.bytes;
  if (!d_.old_args) {
    out_ << ", \"Ev Idx\": " << row.index << ", \"Addr\": " << row.address
         << ", \"Total Allocated\": " << row.allocated << ", \"Total Reserved\": " << row.reserved;
  }
  out_ << "\n    }\n  }";
}

}  // namespace stepscope::make_trace
