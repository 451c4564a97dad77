#include <fmt/format.h>

#include "make_trace/file/event_writer.h"

namespace stepscope::make_trace {
namespace {

constexpr std::int64_t kDeviceSortIndex = 5'000'000;
constexpr std::int64_t kSpanSortIndex = 0x20000000;
constexpr int kDevicesNamed = 8;

}  // namespace

void EventWriter::process(std::int64_t at, std::string_view pid, std::string_view name,
                          std::string_view label, std::int64_t sort_index) {
  const auto one = [&](const char* what, const std::string& args) {
    begin_event();
    out_ << "\"name\": \"" << what << "\", \"ph\": \"M\", \"ts\": ";
    stamp(at);
    out_ << ",\n    \"pid\": " << pid << ", \"tid\": 0,\n    \"args\": {\n      " << args << "\n    }\n  }";
  };
  if (!name.empty()) one("process_name", fmt::format("\"name\": \"{}\"", name));
  if (!label.empty()) one("process_labels", fmt::format("\"labels\": \"{}\"", label));
  one("process_sort_index", fmt::format("\"sort_index\": {}", sort_index));
}

void EventWriter::thread(std::int64_t at, std::string_view place, std::string_view name,
                         std::int64_t sort_index) {
  const auto one = [&](const char* what, const std::string& args) {
    begin_event();
    out_ << "\"name\": \"" << what << "\", \"ph\": \"M\", \"ts\": ";
    stamp(at);
    out_ << ",\n    " << place << ",\n    \"args\": {\n      " << args << "\n    }\n  }";
  };
  one("thread_name", fmt::format("\"name\": \"{}\"", name));
  one("thread_sort_index", fmt::format("\"sort_index\": {}", sort_index));
}

void EventWriter::metadata(std::int64_t at) {
  process(at, fmt::format("{}", who_.pid), "python3", "CPU", who_.pid);
  for (int device = 0; device < kDevicesNamed; ++device) {
    process(at, fmt::format("{}", device), "python3", fmt::format("GPU {}", device),
            kDeviceSortIndex + device);
  }
  const auto quoted = [&](std::string_view text) {
    return d_.string_tids ? fmt::format("\"{}\"", text) : std::string(text);
  };
  const int streams = o_.ranks > 1 ? program_.comm_stream + program_.comm_streams : program_.streams;
  for (int stream = 0; stream < streams; ++stream) {
    const int id = stream_id(stream);
    const std::string tid = d_.string_tids ? fmt::format("\"stream {}\"", id) : fmt::format("{}", id);
    thread(at, fmt::format("\"pid\": {}, \"tid\": {}", who_.device, tid), fmt::format("stream {} ", id), id);
  }
  for (const auto& [tid, name] :
       {std::pair{who_.pid, "python3"}, std::pair{who_.backward_tid, "pt_autograd_0"}}) {
    thread(at, fmt::format("\"pid\": {}, \"tid\": {}", who_.pid, quoted(fmt::format("{}", tid))),
           fmt::format("thread {} ({})", tid, name), tid);
  }
  if (!d_.old_args) process(at, "\"Spans\"", "", "", kSpanSortIndex);
}

void EventWriter::program_frame(std::int64_t start, std::int64_t end) {
  if (d_.old_args) return;
  head('X', "python_function", "train.py(52): <module>");
  host_place(kMainThread);
  when(start, end);
  out_ << ",\n    \"args\": {\n      \"Python parent id\": null, \"Python id\": 1, \"Ev Idx\": 0\n    }\n  }";
}

void EventWriter::recording(std::int64_t start, std::int64_t end) {
  begin_event();
  out_ << "\"ph\": \"X\", \"cat\": \"Trace\"";
  when(start, end);
  out_ << ",\n    \"pid\": \"" << (d_.old_args ? "Traces" : "Spans") << "\", \"tid\": \"PyTorch Profiler\","
       << "\n    \"name\": \"PyTorch Profiler (0)\",\n    \"args\": {\n      \"Op count\": 0\n    }\n  }";
  begin_event();
  out_ << "\"name\": \"Iteration Start: PyTorch Profiler\", \"ph\": \"i\", \"s\": \"g\",\n"
       << "    \"pid\": \"Traces\", \"tid\": \"Trace PyTorch Profiler\", \"ts\": ";
  stamp(start);
  out_ << "\n  }";
  begin_event();
  out_ << "\"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",\n    \"pid\": \"\", \"tid\": \"\", "
          "\"ts\": ";
  stamp(end);
  out_ << "\n  }";
}

}  // namespace stepscope::make_trace
