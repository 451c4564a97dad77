#include "python/recorded.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "derive/growth/category_walk.h"
#include "derive/work/op_args.h"
#include "derive/work/work.h"
#include "python/ask.h"
#include "python/describe.h"
#include "read/open.h"
#include "record/events/function_averages.h"
#include "record/events/function_events.h"
#include "record/recording_file.h"
#include "write/kineto.h"

namespace nb = nanobind;

namespace stepscope::python {
namespace {

using Unlocked = nb::call_guard<nb::gil_scoped_release>;
using Columns = std::map<std::string, std::vector<std::int64_t>>;

struct Recorded {
  record::FunctionEvents events;
  std::vector<std::int64_t> flops;  // per event; empty unless the recording has with_flops
  std::vector<std::string> notes;
};

/// FLOPs per event, computed once for ops with the same name and inputs.
std::vector<std::int64_t> flops_of(const record::FunctionEvents& events) {
  std::vector<std::int64_t> out;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> known;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto [at, added] = known.try_emplace({events.name[i], events.inputs[i]}, 0);
    if (added && events.inputs[i] != 0) {
      const auto& told = events.inputs_told[static_cast<std::size_t>(events.inputs[i])];
      const auto args = derive::parse_op_args(told.dims, told.types, told.strides, told.concrete);
      at->second =
          derive::profiler_flops_of(events.texts[static_cast<std::size_t>(events.name[i])], args).value_or(0);
    }
    out.push_back(at->second);
  }
  return out;
}

std::string path_of(const nb::bytes& path) { return {path.c_str(), path.size()}; }

std::shared_ptr<Recorded> read_recordings(const std::vector<nb::bytes>& given) {
  std::vector<std::string> paths;
  for (const nb::bytes& path : given) paths.push_back(path_of(path));
  const nb::gil_scoped_release unlocked;
  auto out = std::make_shared<Recorded>();
  std::vector<record::RecordingFile> files;
  std::vector<const record::Recording*> recordings;
  bool with_flops = false;
  for (const std::string& path : paths) {
    auto file = record::RecordingFile::open(path);
    if (!file) throw Refusal("Error", file.error().text());
    files.push_back(std::move(*file));
  }
  for (const record::RecordingFile& file : files) {
    const record::Recording& recording = file.recording();
    recordings.push_back(&recording);
    out->notes.insert(out->notes.end(), recording.notes().begin(), recording.notes().end());
    with_flops |= (recording.flags() & record::kFlops) != 0;
  }
  out->events = record::function_events(recordings);
  if (with_flops) out->flops = flops_of(out->events);
  return out;
}

Columns columns_of(const Recorded& recorded) {
  const record::FunctionEvents& e = recorded.events;
  return {{"begin_ns", e.begin_ns},
          {"end_ns", e.end_ns},
          {"self_ns", e.self_ns},
          {"parent", e.parent},
          {"name", e.name},
          {"trace_name", e.trace_name},
          {"overload", e.overload},
          {"inputs", e.inputs},
          {"stack", e.stack},
          {"thread", e.thread},
          {"forward_thread", e.forward_thread},
          {"sequence", e.sequence},
          {"scope", e.scope},
          {"is_async", e.is_async},
          {"cpu_bytes", e.cpu_bytes},
          {"device_bytes", e.device_bytes},
          {"self_cpu_bytes", e.self_cpu_bytes},
          {"self_device_bytes", e.self_device_bytes},
          {"device", e.device},
          {"stream", e.stream},
          {"launcher", e.launcher},
          {"device_ns", e.device_ns},
          {"self_device_ns", e.self_device_ns},
          {"flops", recorded.flops.empty() ? std::vector<std::int64_t>(e.size()) : recorded.flops}};
}

/// Each group's sums, and other columns from its first event.
Columns averages_of(const Recorded& recorded, bool by_shapes, std::int64_t stack_depth, bool by_overload) {
  const record::FunctionEvents& e = recorded.events;
  const auto a = record::function_averages(e, recorded.flops, {by_shapes, stack_depth, by_overload});
  Columns out = {{"first", a.first},
                 {"count", a.count},
                 {"total_ns", a.total_ns},
                 {"self_ns", a.self_ns},
                 {"device_ns", a.device_ns},
                 {"self_device_ns", a.self_device_ns},
                 {"cpu_bytes", a.cpu_bytes},
                 {"device_bytes", a.device_bytes},
                 {"self_cpu_bytes", a.self_cpu_bytes},
                 {"self_device_bytes", a.self_device_bytes},
                 {"flops", a.flops}};
  const std::pair<const char*, const std::vector<std::int64_t>*> told[] = {
      {"name", &e.name},   {"overload", &e.overload}, {"parent", &e.parent}, {"inputs", &e.inputs},
      {"stack", &e.stack}, {"is_async", &e.is_async}, {"scope", &e.scope},   {"device", &e.device}};
  for (const auto& [name, column] : told) {
    auto& firsts = out[name];
    for (const std::int64_t first : a.first) firsts.push_back((*column)[static_cast<std::size_t>(first)]);
  }
  return out;
}

template <std::string record::InputTexts::* kText>
std::vector<std::string> inputs_of(const Recorded& recorded) {
  std::vector<std::string> out;
  for (const record::InputTexts& inputs : recorded.events.inputs_told) out.push_back(inputs.*kText);
  return texts(out);
}

/// Writes a recording as Kineto's JSON. Returns losses as sentences.
std::vector<std::string> export_recording(const nb::bytes& recording, const nb::bytes& output,
                                          const std::vector<std::string>& metadata) {
  const std::string from = path_of(recording), to = path_of(output);
  const nb::gil_scoped_release unlocked;
  auto written = write::kineto(from, to, metadata);
  if (!written) throw Refusal("Error", written.error().text());
  return std::move(written->notes);
}

void export_execution_trace(const nb::bytes& recording, const nb::bytes& output,
                            const std::string& process_groups) {
  const std::string from = path_of(recording), to = path_of(output);
  const nb::gil_scoped_release unlocked;
  if (auto error = write::execution_trace(from, to, process_groups)) throw Refusal("Error", error->text());
}

/// Blocks of memory in the order of their records. Times are ns since 1970; begin -1: from before the
/// recording, end -1: not freed in it.
class Blocks {
 public:
  Blocks(const trace::Trace& trace, const trace::Rank& rank) : rank_(rank), address_(trace, rank, "Addr") {
    const derive::TensorDegrees degrees(trace, rank, {});
    for (const derive::MemoryRecords& records : derive::memory_records(trace, rank))
      add(records, judged_records(trace, rank, records, degrees).uses);
  }
  Columns columns;

 private:
  void add(const derive::MemoryRecords& records, const std::vector<derive::MemoryUse>& uses) {
    constexpr std::uint32_t kNever = derive::MemoryRecords::kNever;
    std::vector<bool> ends(records.size());
    for (const std::uint32_t freed : records.freed)
      if (freed != kNever) ends[freed] = true;
    for (std::uint32_t i = 0; i < records.size(); ++i) {
      const bool made = records.bytes[i] > 0;
      if (!made && ends[i]) continue;
      const std::uint32_t end = made ? records.freed[i] : i;
      columns["begin_ns"].push_back(made ? time(records.row[i]) : -1);
      columns["end_ns"].push_back(end == kNever ? -1 : time(records.row[end]));
      columns["address"].push_back(address_.integer_or(records.row[i], 0));
      columns["bytes"].push_back(std::abs(records.bytes[i]));
      columns["device_type"].push_back(records.device.type);
      columns["device_index"].push_back(records.device.id);
      columns["use"].push_back(static_cast<std::int64_t>(uses[i]));
    }
  }
  std::int64_t time(trace::Row row) const { return rank_.base_ns + rank_.events.start[row]; }

  const trace::Rank& rank_;
  const trace::ArgReader address_;
};

Columns memory_blocks(const nb::bytes& recording) {
  const std::string paths[] = {path_of(recording)};
  const nb::gil_scoped_release unlocked;
  const auto trace = read::open(paths);
  if (!trace) throw Refusal("Error", trace.error().text());
  Columns out;
  for (const char* column : {"begin_ns", "end_ns", "address", "bytes", "device_type", "device_index", "use"})
    out[column];
  for (const trace::Rank& rank : trace->ranks)
    for (auto& [column, values] : Blocks(*trace, rank).columns)
      out[column].insert(out[column].end(), values.begin(), values.end());
  return out;
}

}  // namespace

void bind_recorded(nb::module_& module) {
  nb::class_<Recorded>(module, "Recorded")
      .def("__len__", [](const Recorded& r) { return r.events.size(); })
      .def_prop_ro("notes", [](const Recorded& r) { return texts(r.notes); })
      .def_prop_ro("has_devices", [](const Recorded& r) { return r.events.has_devices; })
      .def("texts", [](const Recorded& r) { return texts(r.events.texts); })
      .def("shapes", inputs_of<&record::InputTexts::tensor_dims>)
      .def("structured_shapes", inputs_of<&record::InputTexts::dims>)
      .def("strides", inputs_of<&record::InputTexts::strides>)
      .def("types", inputs_of<&record::InputTexts::types>)
      .def("keywords", inputs_of<&record::InputTexts::keywords>)
      .def("concrete_inputs", inputs_of<&record::InputTexts::concrete>)
      .def("stacks", [](const Recorded& r) { return r.events.stacks; })
      .def("columns", columns_of)
      .def("averages", averages_of, nb::arg("by_shapes"), nb::arg("stack_depth"), nb::arg("by_overload"),
           Unlocked());
  module.def("read_recordings", read_recordings, nb::arg("paths"));
  module.def("export_recording", export_recording, nb::arg("recording"), nb::arg("output"),
             nb::arg("metadata"));
  module.def("memory_blocks", memory_blocks, nb::arg("recording"));
  module.def("export_execution_trace", export_execution_trace, nb::arg("recording"), nb::arg("output"),
             nb::arg("process_groups"));
}

}  // namespace stepscope::python
