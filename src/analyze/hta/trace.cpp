// HTA's table of events, for programs that go on from it.
#include <algorithm>
#include <set>

#include "analyze/derived.h"
#include "analyze/hta/call_graph.h"
#include "analyze/list.h"
#include "analyze/question.h"

namespace stepscope::analyze {
namespace {

using report::kNoInt;
using report::Role;
using report::Shape;
using report::Unit;
using trace::ArgReader;
using trace::Rank;

/// A column that HTA makes of an arg, with what stands for an absent one.
struct ArgColumn {
  std::string_view name, key;
  enum class Type : std::uint8_t { integer, real, text } type;
  std::string_view absent = "";
};
constexpr ArgColumn kArgColumns[] = {
    {"bytes", "bytes", ArgColumn::Type::integer, "-1"},
    {"memory_bw_gbps", "memory bandwidth (GB/s)", ArgColumn::Type::real, "0"},
    {"wait_on_stream", "wait_on_stream", ArgColumn::Type::integer, "-1"},
    {"wait_on_cuda_event_record_corr_id", "wait_on_cuda_event_record_corr_id", ArgColumn::Type::integer,
     "-1"},
    {"input_dims", "Input Dims", ArgColumn::Type::text, "-1"},
    {"input_type", "Input type", ArgColumn::Type::text, "-1"},
    {"input_strides", "Input Strides", ArgColumn::Type::text, "-1"},
    {"external_id", "External id", ArgColumn::Type::integer, "-1"},
    {"python_id", "Python id", ArgColumn::Type::integer, "-1"},
    {"python_parent_id", "Python parent id", ArgColumn::Type::integer, "-1"},
    {"collective_name", "Collective name", ArgColumn::Type::text, ""},
    {"in_msg_nelems", "In msg nelems", ArgColumn::Type::integer, "0"},
    {"out_msg_nelems", "Out msg nelems", ArgColumn::Type::integer, "0"},
    {"msg_dtype", "dtype", ArgColumn::Type::text, ""},
    {"group_size", "Group size", ArgColumn::Type::integer, "0"},
    {"process_rank", "Rank", ArgColumn::Type::integer, "-1"},
    {"in_split_size", "In split size", ArgColumn::Type::text, "[]"},
    {"out_split_size", "Out split size", ArgColumn::Type::text, "[]"},
};

void add_arg(report::Table& table, const trace::Trace& trace, const std::vector<hta::Table>& ranks,
             const ArgColumn& column) {
  const std::string name(column.name);
  const auto each = [&](auto add) {
    for (const hta::Table& of : ranks) {
      const ArgReader arg(trace, *of.rank, column.key);
      for (const hta::Event& event : of.events) add(arg, event.row);
    }
  };
  if (column.type == ArgColumn::Type::text) {
    auto& values = table.texts(name, Role::detail);
    each([&](const ArgReader& arg, trace::Row row) {
      values.emplace_back(arg.has(row) ? arg.text(row) : column.absent);
    });
  } else if (column.type == ArgColumn::Type::real) {
    auto& values = table.reals(name, Unit::none, Role::detail);
    each([&](const ArgReader& arg, trace::Row row) { values.push_back(arg.real(row).value_or(0)); });
  } else {
    const std::int64_t absent = column.absent == "0" ? 0 : -1;
    auto& values = table.ints(name, Unit::none, Role::detail);
    each([&](const ArgReader& arg, trace::Row row) { values.push_back(arg.integer_or(row, absent)); });
  }
}

/// The counters of replayed ranges, as columns of their own.
std::set<std::string_view> counters_of(const trace::Trace& trace, const std::vector<hta::Table>& ranks) {
  std::set<trace::SchemaId> schemas;
  for (const hta::Table& of : ranks)
    for (const hta::Event& event : of.events)
      if (of.rank->events.kind[event.row] == trace::Kind::range_metrics)
        schemas.insert(of.rank->events.schema[event.row]);
  std::set<std::string_view> names;
  for (const trace::SchemaId schema : schemas)
    for (const trace::ArgField& field : trace.schemas.fields(schema)) names.insert(trace.text(field.key));
  return names;
}

std::string_view device_type(const trace::Trace& trace, const Rank& rank) {
  if (rank.backend.find("mtia:hccl") != std::string::npos) return "MTIA";
  const auto holds = [&](std::string_view name) {
    const trace::StringId id = trace.strings.find(name);
    const auto& names = rank.events.name;
    return id != trace::kEmptyString && std::find(names.begin(), names.end(), id) != names.end();
  };
  if (holds("cudaLaunchKernel")) return "NVIDIA GPU";
  if (holds("hipLaunchKernel")) return "AMD GPU";
  return holds("runFunction - job_prep_and_submit_for_execution") ? "MTIA" : "UNKNOWN GPU";
}

report::Table facts(const trace::Trace& trace, const std::vector<hta::Table>& ranks) {
  report::Table table{"Ranks", Shape::table, {}};
  RankColumn rank(table, trace);
  auto& device = table.texts("device_type", Role::value);
  auto& earliest = table.ints("earliest", Unit::ns);
  auto& base = table.ints("base_time", Unit::ns);
  for (const hta::Table& of : ranks) {
    rank.add(*of.rank);
    device.emplace_back(device_type(trace, *of.rank));
    earliest.push_back(of.earliest);
    base.push_back(of.rank->base_ns);
  }
  return table;
}

report::Table calls(const trace::Trace& trace, const std::vector<hta::Table>& ranks) {
  report::Table table{"Call graph", Shape::table, {}};
  RankColumn rank(table, trace);
  auto& index = table.ints("index", Unit::none, Role::key);
  auto& parent = table.ints("parent", Unit::none);
  auto& depth = table.ints("depth", Unit::none);
  auto& height = table.ints("height", Unit::none);
  auto& kernels = table.ints("num_kernels", Unit::count);
  auto& time = table.ints("kernel_dur_sum", Unit::ns);
  auto& first = table.ints("first_kernel_start", Unit::ns);
  auto& last = table.ints("last_kernel_end", Unit::ns);
  for (const hta::Table& of : ranks) {
    const std::vector<hta::Node> nodes = hta::call_graph(trace, of);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const hta::Node& node = nodes[i];
      rank.add(*of.rank);
      index.push_back(of.events[i].index);
      parent.push_back(node.parent < 0 ? kNoInt : of.events[static_cast<std::size_t>(node.parent)].index);
      depth.push_back(node.depth);
      height.push_back(node.height);
      kernels.push_back(node.kernels);
      time.push_back(node.kernel_time);
      first.push_back(node.kernels == 0 ? kNoInt : node.first_kernel);
      last.push_back(node.kernels == 0 ? kNoInt : node.last_kernel);
    }
  }
  return table;
}

constexpr report::ParamSpec kHtaTraceParams[] = {
    {"calls", report::ParamSpec::Type::flag, "", "", "the call graph of the events instead of their columns"},
    {"everything", report::ParamSpec::Type::flag, "", "",
     "keep all steps and all device events, as HTA's TraceDiff does"},
    {"hta-last-step", report::ParamSpec::Type::flag, "", "", "keep the last step, which HTA drops"}};

}  // namespace

constinit const About hta_trace_about = {kHtaTraceParams, false, Needs::all_ranks};

report::Report hta_trace(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  const std::vector<hta::Table>& ranks = derived.hta(hta::keep_of(params));
  report::Report report{"hta_trace", {}, {}};
  report.tables.push_back(facts(trace, ranks));
  if (params.flag("calls")) {
    report.tables.push_back(calls(trace, ranks));
    return report;
  }
  report::Table& table = report.tables.emplace_back(report::Table{"Events", Shape::table, {}});
  RankColumn rank(table, trace);
  auto& index = table.ints("index", Unit::none, Role::key);
  auto& category = table.texts("cat", Role::value);
  auto& name = table.texts("name", Role::value);
  auto& pid = table.texts("pid", Role::detail);
  auto& tid = table.texts("tid", Role::detail);
  auto& start = table.ints("ts", Unit::ns);
  auto& duration = table.ints("dur", Unit::ns);
  auto& stream = table.ints("stream", Unit::none);
  auto& correlation = table.ints("correlation", Unit::none);
  auto& partner = table.ints("index_correlation", Unit::none);
  auto& iteration = table.ints("iteration", Unit::none);
  for (const hta::Table& of : ranks) {
    const auto& e = of.rank->events;
    for (const hta::Event& event : of.events) {
      rank.add(*of.rank);
      index.push_back(event.index);
      category.emplace_back(trace.text(e.category[event.row]));
      name.emplace_back(trace.text(e.name[event.row]));
      pid.push_back(of.rank->tracks[e.track[event.row]].pid);
      tid.push_back(of.rank->tracks[e.track[event.row]].tid);
      start.push_back(event.start);
      duration.push_back(event.length);
      stream.push_back(event.stream);
      correlation.push_back(event.correlation);
      partner.push_back(event.partner);
      iteration.push_back(event.iteration == hta::kNoIteration ? kNoInt : event.iteration);
    }
  }
  for (const ArgColumn& column : kArgColumns) add_arg(table, trace, ranks, column);
  constexpr std::size_t kMaxCounters = 16;
  std::size_t counters = 0;
  for (const std::string_view counter : counters_of(trace, ranks))
    if (counters++ < kMaxCounters)
      add_arg(table, trace, ranks, {counter, counter, ArgColumn::Type::integer, "-1"});
  if (counters > kMaxCounters) report.notes.emplace_back("Only the first 16 counters are columns.");
  return report;
}

}  // namespace stepscope::analyze
