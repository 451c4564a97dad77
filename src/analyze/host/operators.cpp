#include "analyze/host/operators.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/list.h"

namespace stepscope::analyze {
namespace {

using report::Role;
using report::Shape;
using report::Unit;
using trace::Rank;

OperatorQuestion question_of(const report::Params& params) {
  const std::string_view group = params.text("group", "name");
  return {
      group == "shape"   ? OpGrouping::shape
      : group == "stack" ? OpGrouping::stack
                         : OpGrouping::name,
      params.text("convention", "exact") == "torch" ? derive::Convention::torch : derive::Convention::exact,
      params.text("device-name")};
}

derive::Bound dominant_bound(const OpGroup& g) {
  std::size_t most = 0;
  for (std::size_t i = 1; i < std::size(g.time_by_bound); ++i)
    if (g.time_by_bound[i] > g.time_by_bound[most]) most = i;
  return g.time_by_bound[most] > 0 ? static_cast<derive::Bound>(most) : derive::Bound::unknown;
}

double rate(double amount, double ns) { return ns > 0 ? amount / (ns * 1e-9) : report::kNoReal; }

Operator operator_of(const trace::Trace& trace, const Rank& rank, const OpGroup& g, bool has_device) {
  Operator of;
  of.rank = rank.rank;
  of.name = trace.text(g.name);
  of.detail = trace.text(g.detail);
  of.calls = g.calls;
  of.host_self = g.host_self;
  of.host_total = g.host_total;
  if (has_device) of.device_self = g.device_self;
  if (has_device) of.device_total = g.device_total;
  if (g.claims > 0) of.eligible = g.eligible ? Eligible::yes : Eligible::no;
  if (g.device_self > 0)
    of.matrix_share = std::min(1.0, static_cast<double>(g.matrix_time) / static_cast<double>(g.device_self));
  if (g.flops_known) of.matrix_flops = g.matrix_flops;
  if (g.flops_known) of.flops = g.matrix_flops + g.vector_flops;
  if (g.bytes_known) of.bytes = g.bytes;
  if (g.claims > 0) of.work_time = g.work_time;
  of.flop_rate = rate(g.timed_flops, g.flop_time);
  of.byte_rate = rate(g.timed_bytes, g.byte_time);
  if (g.flops_known && g.bytes > 0) of.intensity = of.flops / g.bytes;
  of.bound = dominant_bound(g);
  if (g.roof_measured > 0) of.share_of_roof = g.roof_time / static_cast<double>(g.roof_measured);
  of.work = g.claims > 0      ? (g.unknown_claims > 0 ? WorkCounted::partly : WorkCounted::here)
            : g.counted_above ? WorkCounted::above
                              : WorkCounted::unknown;
  return of;
}

report::Sheet<Operator> operator_sheet(OpGrouping grouping) {
  using O = Operator;
  report::Sheet<O> sheet{"Operators", Shape::table, {report::rank_field<O>(&O::rank), {"name", &O::name}}};
  if (grouping != OpGrouping::name)
    sheet.fields.push_back({grouping == OpGrouping::shape ? "input_shape" : "call_stack", &O::detail});
  const auto bound = +[](const O& o) {
    return std::string(o.bound == derive::Bound::unknown ? std::string_view{} : name_of(o.bound));
  };
  const std::initializer_list<report::Field<O>> numbers = {
      {"calls", &O::calls, Unit::count},
      {"device_self", &O::device_self, Unit::ns},
      {"device_total", &O::device_total, Unit::ns},
      {"host_self", &O::host_self, Unit::ns},
      {"host_total", &O::host_total, Unit::ns},
      {"tensor_core_eligible", report::named<&O::eligible>, Role::detail},
      {"tensor_core_share", &O::matrix_share, Unit::share, Role::detail},
      {"matrix_flops", &O::matrix_flops, Unit::flop, Role::detail},
      {"flops", &O::flops, Unit::flop, Role::detail},
      {"bytes", &O::bytes, Unit::bytes, Role::detail},
      {"work_time", &O::work_time, Unit::ns, Role::detail},
      {"flop_rate", &O::flop_rate, Unit::flop_per_s},
      {"byte_rate", &O::byte_rate, Unit::bytes_per_s},
      {"intensity", &O::intensity, Unit::flop_per_byte, Role::detail},
      {"bound", bound, Role::value},
      {"share_of_roof", &O::share_of_roof, Unit::share},
      {"work", report::named<&O::work>, Role::detail}};
  for (const report::Field<O>& number : numbers) sheet.fields.push_back(number);  // gcc 12 misjudges insert()
  return sheet;
}

void note_coverage(const Rank& rank, const std::vector<OpGroup>& groups, std::vector<std::string>& notes) {
  std::int64_t device = 0, covered = 0;
  for (const OpGroup& g : groups) {
    device += g.device_self;
    covered += g.work_time;
  }
  bool shapes = false;
  for (const OpGroup& g : groups) shapes |= g.claims > 0;
  if (!shapes && !groups.empty())
    notes.push_back(fmt::format(
        "{}: no shapes were recorded, so FLOPs and bytes are empty. Record with record_shapes=True.",
        rank.path));
  else if (device > 0)
    notes.push_back(fmt::format(
        "{}: FLOPs or bytes are known for {:.1f} % of the device time launched by operators.", rank.path,
        100.0 * static_cast<double>(std::min(covered, device)) / static_cast<double>(device)));
}

/// Adds a note if `--device-name` names no device with known peaks.
void note_unknown_device(std::string_view name, std::vector<std::string>& notes) {
  if (name.empty() || derive::peaks_of(name)) return;
  std::string known;
  for (const derive::PeakRow& row : derive::peak_table()) {
    std::string match(row.match);
    std::replace(match.begin(), match.end(), '*', ' ');
    known += (known.empty() ? "" : ", ") + match;
  }
  notes.push_back(fmt::format(
      "--device-name: no peaks are known for '{}', so bound and share_of_roof are empty. Known devices: {}.",
      name, known));
}

}  // namespace

std::string_view name_of(Eligible eligible) {
  constexpr std::string_view kNames[] = {"", "yes", "no"};
  return kNames[static_cast<std::size_t>(eligible)];
}

std::string_view name_of(WorkCounted counted) {
  constexpr std::string_view kNames[] = {"unknown", "counted here", "partly known", "counted above"};
  return kNames[static_cast<std::size_t>(counted)];
}

Operators operators_of(const Derived& derived, const OperatorQuestion& question) {
  const trace::Trace& trace = derived.trace();
  Operators of;
  note_unknown_device(question.device_name, of.notes);
  for (const Rank& rank : trace.ranks) {
    auto [groups, has_device] = op_groups(trace, rank, derived.choice(), question);
    std::sort(groups.begin(), groups.end(), [&](const OpGroup& a, const OpGroup& b) {
      if (a.device_self != b.device_self) return a.device_self > b.device_self;
      if (a.host_self != b.host_self) return a.host_self > b.host_self;
      if (a.name != b.name) return trace.text(a.name) < trace.text(b.name);
      return trace.text(a.detail) < trace.text(b.detail);
    });
    for (const OpGroup& group : groups) of.operators.push_back(operator_of(trace, rank, group, has_device));
    note_coverage(rank, groups, of.notes);
  }
  return of;
}

constexpr report::ParamSpec kOperatorsParams[] = {
    {"group", report::ParamSpec::Type::choice, "name", "name|shape|stack",
     "a row per operator, or per operator and input shape or call stack"},
    {"convention", report::ParamSpec::Type::choice, "exact", "exact|torch",
     "FLOPs by our formulas, or by torch's FlopCounterMode"},
    {"device-name", report::ParamSpec::Type::text, "", "",
     "the device whose peaks apply, e.g. H100, instead of the recorded device"},
};

constinit const About operators_about = {kOperatorsParams};

report::Report operators(const Derived& derived, const report::Params& params) {
  const OperatorQuestion question = question_of(params);
  Operators of = operators_of(derived, question);
  return {"operators",
          {tabulate(operator_sheet(question.grouping), of.operators, derived.trace().several())},
          std::move(of.notes)};
}

}  // namespace stepscope::analyze
