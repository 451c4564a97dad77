// GEMM, CONV, SDPA, Normalization, elementwise and reduction sheets: every op that has a model, at any depth.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/tracelens_backward.h"
#include "analyze/tracelens_model.h"
#include "analyze/tracelens_names.h"
#include "trace/asked_once.h"

namespace stepscope::analyze::lens {
namespace {

using report::kNoInt;
using report::Role;
using report::Unit;
using trace::Kind;
using trace::Row;

/// An op and the host range whose device events are its time: itself, or its backward node.
struct Call {
  Row op, timed;
};

/// Calls of the sheet in file order.
std::vector<Call> calls_of(const Lens& lens, std::string_view sheet) {
  std::vector<Call> calls;
  if (sheet.ends_with("_bwd") && sheet != "CONV_bwd")
    for (const BackwardNode& node : backward_nodes(lens))
      if (backward_sheet_of(lens.name(node.forward)) == sheet) calls.push_back({node.forward, node.row});
  trace::AskedOnce belongs(lens.trace.strings, [&](std::string_view op) { return sheet_of(op) == sheet; });
  for (Row row = 0; row < lens.e.size(); ++row) {
    if (lens.e.kind[row] == Kind::op && lens.tree.holds(row) && belongs(lens.e.name[row]))
      calls.push_back({row, row});
  }
  std::sort(calls.begin(), calls.end(),
            [&](const Call& a, const Call& b) { return lens.e.source[a.op] < lens.e.source[b.op]; });
  return calls;
}

struct Group {
  const Model* model;
  std::string_view transpose;
  std::vector<Call> calls;
  Spread time, bytes_per_s, flops_per_s;
};

void measure(const Lens& lens, Group& group) {
  std::vector<double> times, byte_rates, flop_rates;
  const derive::Work& work = group.model->work;
  for (const Call& call : group.calls) {
    const auto ns = static_cast<double>(united(lens.e, lens.tree.below(call.timed)));
    times.push_back(ns);
    if (ns > 0 && work.bytes_known) byte_rates.push_back(static_cast<double>(work.bytes()) / (ns * 1e-9));
    if (ns > 0 && work.flops_known) flop_rates.push_back(static_cast<double>(work.flops()) / (ns * 1e-9));
  }
  group.time = spread_of(std::move(times));
  group.bytes_per_s = spread_of(std::move(byte_rates));
  group.flops_per_s = spread_of(std::move(flop_rates));
}

std::vector<Group> groups_of(const Lens& lens, std::string_view sheet, Models& forward, Models& backward) {
  Keys keys;
  std::vector<Group> groups;
  std::map<std::string_view, std::uint32_t> transposes;
  for (const Call& call : calls_of(lens, sheet)) {
    const Model& model = (call.op == call.timed ? forward : backward).of(call.op);
    if (!model.work.flops_known) continue;  // its models raise an error and the row is lost
    const std::string_view transpose = sheet == "GEMM" ? transpose_below(lens, call.op) : std::string_view{};
    const auto next = static_cast<std::uint32_t>(transposes.size());
    const std::uint32_t group = keys.of({lens.e.name[call.op], model.params_id, lens.recomputed(call.op),
                                         transposes.try_emplace(transpose, next).first->second});
    if (group == groups.size()) groups.push_back({&model, transpose, {}, {}, {}, {}});
    groups[group].calls.push_back(call);
  }
  for (Group& group : groups) measure(lens, group);
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.time.sum > b.time.sum; });
  return groups;
}

struct Columns {
  Columns(const trace::Trace& trace, std::string_view sheet)
      : table{fmt::format("Modelled ops: {}", sheet), report::Shape::table, {}},
        rank(table, trace),
        name(table.texts("name")),
        params(param_columns(table, sheet)),
        recomputed(table.texts("is_recompute")),
        spec(table.texts("compute_spec", Role::detail)),
        calls(table.ints("calls", Unit::count)),
        time_sum(table.ints("kernel_time_sum", Unit::ns)),
        flops(table.ints("flops", Unit::flop)),
        bytes(table.ints("bytes", Unit::bytes)),
        intensity(table.reals("intensity", Unit::flop_per_byte)),
        byte_rate(table, "bytes_per_s", Unit::bytes_per_s),
        flop_rate(table, "flops_per_s", Unit::flop_per_s),
        time(table, "kernel_time", Unit::ns),
        first_event(table.ints("first_event", Unit::none, Role::detail)) {}

  static std::vector<report::Texts*> param_columns(report::Table& table, std::string_view sheet) {
    std::vector<report::Texts*> columns;
    for (const std::string_view param : param_names(sheet))
      columns.push_back(&table.texts(std::string(param)));
    return columns;
  }

  report::Table table;
  RankColumn rank;
  report::Texts& name;
  std::vector<report::Texts*> params;
  report::Texts &recomputed, &spec;
  report::Ints &calls, &time_sum, &flops, &bytes;
  report::Reals& intensity;
  SpreadColumns byte_rate, flop_rate, time;
  report::Ints& first_event;
};

void add_group(const Lens& lens, const Group& group, Columns& out) {
  const Row first = group.calls.front().op;
  const derive::Work& work = group.model->work;
  out.rank.add(lens.rank);
  out.name.emplace_back(lens.name(first));
  for (std::size_t i = 0; i < out.params.size(); ++i) out.params[i]->push_back(group.model->params[i]);
  if (!group.transpose.empty()) out.params.back()->back() = group.transpose;
  out.recomputed.emplace_back(lens.recomputed(first) ? "yes" : "no");
  out.spec.push_back(group.model->spec);
  out.calls.push_back(static_cast<std::int64_t>(group.calls.size()));
  out.time_sum.push_back(static_cast<std::int64_t>(group.time.sum));
  out.flops.push_back(work.flops());
  out.bytes.push_back(work.bytes_known ? work.bytes() : kNoInt);
  const bool both = work.bytes_known && work.bytes() > 0;
  out.intensity.push_back(both ? static_cast<double>(work.flops()) / static_cast<double>(work.bytes())
                               : report::kNoReal);
  out.byte_rate.add(group.bytes_per_s);
  out.flop_rate.add(group.flops_per_s);
  out.time.add(group.time);
  out.first_event.push_back(lens.e.source[first]);
}

}  // namespace

void model_sheet(const trace::Trace& trace, std::string_view sheet, report::Report& report) {
  Columns out(trace, sheet);
  KernelDetails details(trace);
  for (const trace::Rank& rank : trace.ranks) {
    const Lens lens(trace, rank);
    const Arguments arguments(lens);
    Models forward(lens, arguments), backward(lens, arguments, true);
    for (const Group& group : groups_of(lens, sheet, forward, backward)) {
      add_group(lens, group, out);
      std::vector<std::vector<Row>> launched;
      for (const Call& call : group.calls) {
        const auto below = lens.tree.below(call.timed);
        launched.emplace_back(below.begin(), below.end());
      }
      details.add(lens, lens.e.source[group.calls.front().op], launched);
    }
  }
  report.tables.push_back(std::move(out.table));
  report.tables.push_back(details.take());
}

}  // namespace stepscope::analyze::lens
