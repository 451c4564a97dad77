// HTA's table of events, for programs that process it further.
#include <algorithm>
#include <set>
#include <type_traits>
#include <variant>

#include "analyze/hta/call_graph.h"
#include "analyze/list.h"
#include "report/sheet.h"

namespace stepscope::analyze::hta {
namespace {

using report::kNoInt;
using report::Role;
using report::Shape;
using report::Tag;
using report::Unit;
using trace::ArgReader;
using trace::Rank;

/// A column that HTA makes of an arg; `absent` stands for a missing arg.
struct ArgColumn {
  std::string_view name, key;
  std::variant<std::int64_t, double, std::string_view> absent;
};
constexpr ArgColumn kArgColumns[] = {
    {"bytes", "bytes", -1},
    {"memory_bw_gbps", "memory bandwidth (GB/s)", 0.0},
    {"wait_on_stream", "wait_on_stream", -1},
    {"wait_on_cuda_event_record_corr_id", "wait_on_cuda_event_record_corr_id", -1},
    {"input_dims", "Input Dims", "-1"},
    {"input_type", "Input type", "-1"},
    {"input_strides", "Input Strides", "-1"},
    {"external_id", "External id", -1},
    {"python_id", "Python id", -1},
    {"python_parent_id", "Python parent id", -1},
    {"collective_name", "Collective name", ""},
    {"in_msg_nelems", "In msg nelems", 0},
    {"out_msg_nelems", "Out msg nelems", 0},
    {"msg_dtype", "dtype", ""},
    {"group_size", "Group size", 0},
    {"process_rank", "Rank", -1},
    {"in_split_size", "In split size", "[]"},
    {"out_split_size", "Out split size", "[]"},
};

std::int64_t value_or(const ArgReader& arg, Row row, std::int64_t absent) {
  return arg.integer_or(row, absent);
}
double value_or(const ArgReader& arg, Row row, double absent) { return arg.real(row).value_or(absent); }
std::string_view value_or(const ArgReader& arg, Row row, std::string_view absent) {
  return arg.has(row) ? arg.text(row) : absent;
}

report::Column arg_column(const trace::Trace& trace, const std::vector<Table>& ranks,
                          const ArgColumn& column) {
  report::Column out{std::string(column.name), Unit::none, Role::detail, {}};
  std::visit(
      [&](auto absent) {
        using Value = std::conditional_t<std::is_same_v<decltype(absent), std::string_view>, std::string,
                                         decltype(absent)>;
        auto& values = out.values.emplace<std::vector<Value>>();
        for (const Table& of : ranks) {
          const ArgReader arg(trace, *of.rank, column.key);
          for (const Event& event : of.events) values.emplace_back(value_or(arg, event.row, absent));
        }
      },
      column.absent);
  return out;
}

/// Names of the counters of profiled ranges; each becomes a column.
std::set<std::string_view> counters_of(const trace::Trace& trace, const std::vector<Table>& ranks) {
  std::set<trace::SchemaId> schemas;
  for (const Table& of : ranks)
    for (const Event& event : of.events)
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

/// HTA's word for the device, the earliest time that was subtracted (in the file's time base), and the file's
/// base time. Times in ns.
struct Fact {
  std::int64_t rank;
  std::string_view device_type;
  Time earliest;
  std::int64_t base_time;
};
struct CallRow {
  std::int64_t rank, index, parent;
  Node node;
};
struct EventRow {
  std::int64_t rank;
  std::string_view category, name, pid, tid;
  Event event;
};

std::vector<Fact> facts_of(const trace::Trace& trace, const std::vector<Table>& ranks) {
  std::vector<Fact> rows;
  for (const Table& of : ranks)
    rows.push_back({of.rank->rank, device_type(trace, *of.rank), of.earliest, of.rank->base_ns});
  return rows;
}

std::vector<CallRow> calls_of(const trace::Trace& trace, const std::vector<Table>& ranks) {
  std::vector<CallRow> rows;
  for (const Table& of : ranks) {
    const std::vector<Node> nodes = call_graph(trace, of);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::int32_t parent = nodes[i].parent;
      rows.push_back(
          {of.rank->rank, of.events[i].index, parent < 0 ? kNoInt : of.at(parent).index, nodes[i]});
    }
  }
  return rows;
}

std::vector<EventRow> events_of(const trace::Trace& trace, const std::vector<Table>& ranks) {
  std::vector<EventRow> rows;
  for (const Table& of : ranks) {
    const auto& e = of.rank->events;
    for (const Event& event : of.events) {
      const trace::Track& track = of.rank->tracks[e.track[event.row]];
      rows.push_back({of.rank->rank, trace.text(e.category[event.row]), trace.text(e.name[event.row]),
                      track.pid, track.tid, event});
    }
  }
  return rows;
}

/// A member of a row's Event or Node.
template <auto outer, auto inner>
std::int64_t in(
    const std::conditional_t<std::is_same_v<decltype(outer), Event EventRow::*>, EventRow, CallRow>& row) {
  return row.*outer.*inner;
}
template <auto member>
constexpr auto of_event = &in<&EventRow::event, member>;
template <auto member>
constexpr auto of_node = &in<&CallRow::node, member>;

const report::Sheet<Fact> kFacts{"Ranks",
                                 Shape::table,
                                 {report::rank_field<Fact>(&Fact::rank),
                                  {"device_type", &Fact::device_type, Role::value},
                                  {"earliest", &Fact::earliest, Unit::ns},
                                  {"base_time", &Fact::base_time, Unit::ns}}};
const report::Sheet<CallRow> kCalls{
    "Call graph",
    Shape::table,
    {report::rank_field<CallRow>(&CallRow::rank),
     {"index", &CallRow::index, Unit::none, Tag::of_one_run},
     {"parent", &CallRow::parent, Unit::none},
     {"depth", of_node<&Node::depth>, Unit::none},
     {"height", of_node<&Node::height>, Unit::none},
     {"num_kernels", of_node<&Node::kernels>, Unit::count},
     {"kernel_dur_sum", of_node<&Node::kernel_time>, Unit::ns},
     {"first_kernel_start",
      [](const CallRow& row) { return row.node.kernels == 0 ? kNoInt : row.node.first_kernel; }, Unit::ns},
     {"last_kernel_end",
      [](const CallRow& row) { return row.node.kernels == 0 ? kNoInt : row.node.last_kernel; }, Unit::ns}}};
const report::Sheet<EventRow> kEvents{
    "Events",
    Shape::table,
    {report::rank_field<EventRow>(&EventRow::rank),
     {"index", of_event<&Event::index>, Unit::none, Tag::of_one_run},
     {"cat", &EventRow::category, Role::value},
     {"name", &EventRow::name, Role::value},
     {"pid", &EventRow::pid, Role::detail},
     {"tid", &EventRow::tid, Role::detail},
     {"ts", of_event<&Event::start>, Unit::ns},
     {"dur", of_event<&Event::length>, Unit::ns},
     {"stream", of_event<&Event::stream>, Unit::none},
     {"correlation", of_event<&Event::correlation>, Unit::none},
     {"index_correlation", of_event<&Event::partner>, Unit::none},
     {"iteration",
      [](const EventRow& row) { return row.event.iteration == kNoIteration ? kNoInt : row.event.iteration; },
      Unit::none}}};

constexpr report::ParamSpec kEventsParams[] = {
    {"calls", report::ParamSpec::Type::flag, "", "", "the call graph of the events instead of their columns"},
    {"everything", report::ParamSpec::Type::flag, "", "",
     "keep all steps and all device events, as HTA's TraceDiff does"}};

}  // namespace

constinit const FormParams events_params = kEventsParams;

report::Report events(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  const std::vector<Table>& ranks = tables_of(derived, keep_of(params));
  report::Report report{"events", {tabulate(kFacts, facts_of(trace, ranks), trace.several())}, {}};
  if (params.flag("calls")) {
    report.tables.push_back(tabulate(kCalls, calls_of(trace, ranks), trace.several()));
    return report;
  }
  report::Table& table =
      report.tables.emplace_back(tabulate(kEvents, events_of(trace, ranks), trace.several()));
  for (const ArgColumn& column : kArgColumns) table.columns.push_back(arg_column(trace, ranks, column));
  constexpr std::size_t kMaxCounters = 16;
  std::size_t counters = 0;
  for (const std::string_view counter : counters_of(trace, ranks))
    if (counters++ < kMaxCounters) table.columns.push_back(arg_column(trace, ranks, {counter, counter, -1}));
  if (counters > kMaxCounters) report.notes.emplace_back("Only the first 16 counters are shown.");
  return report;
}

}  // namespace stepscope::analyze::hta
