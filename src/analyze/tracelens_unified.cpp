// unified_perf_summary: every linked device event once, under the outermost op that has a model or launches
// it.
#include <algorithm>

#include "analyze/tracelens_collect.h"
#include "analyze/tracelens_launch.h"
#include "analyze/tracelens_model.h"
#include "analyze/tracelens_names.h"

namespace stepscope::analyze::lens {
namespace {

using report::Role;
using report::Unit;
using trace::Kind;
using trace::kNoRow;
using trace::Row;

struct Group {
  const Model* model;  ///< nullptr without
  std::string_view category;
  std::vector<Collected> calls;
  Spread host, time, bytes_per_s, flops_per_s;
};

void measure(const Lens& lens, Group& group) {
  std::vector<double> host, times, byte_rates, flop_rates;
  for (const Collected& call : group.calls) {
    const auto ns = static_cast<double>(united(lens.e, call.events(lens.tree)));
    host.push_back(static_cast<double>(lens.e.duration(call.op)));
    times.push_back(ns);
    if (group.model == nullptr || ns <= 0) continue;
    const derive::Work& work = group.model->work;
    if (work.bytes_known) byte_rates.push_back(static_cast<double>(work.bytes()) / (ns * 1e-9));
    if (work.flops_known) flop_rates.push_back(static_cast<double>(work.flops()) / (ns * 1e-9));
  }
  group.host = spread_of(std::move(host));
  group.time = spread_of(std::move(times));
  group.bytes_per_s = spread_of(std::move(byte_rates));
  group.flops_per_s = spread_of(std::move(flop_rates));
}

/// Groups calls by name, category, thread and arguments.
class Grouping {
 public:
  Grouping(const Lens& lens, const Arguments& arguments, Models& forward, Models& backward)
      : lens_(lens),
        forward_(forward),
        backward_(backward),
        categories_(lens.trace),
        numbers_(lens, arguments) {}

  std::vector<Group> run() {
    for (const Collected& call : collected_ops(lens_)) add(call);
    for (Group& group : groups_) measure(lens_, group);
    std::stable_sort(groups_.begin(), groups_.end(),
                     [](const Group& a, const Group& b) { return a.time.sum > b.time.sum; });
    return std::move(groups_);
  }

 private:
  void add(const Collected& call) {
    const auto& e = lens_.e;
    const trace::StringId kernel = call.kernel == kNoRow ? trace::kEmptyString : e.name[call.kernel];
    const std::string_view category = call.kernel == kNoRow
                                          ? categories_.of(e.name[call.op], first_kernel(call.op))
                                          : categories_.of(trace::kEmptyString, kernel);
    const std::uint32_t group = numbers_.of(call.op, kernel, category);
    if (group == groups_.size()) groups_.push_back({model_of(call), category, {}, {}, {}, {}, {}});
    groups_[group].calls.push_back(call);
  }

  const Model* model_of(const Collected& call) {
    if (!call.modelled) return nullptr;
    return call.forward == kNoRow ? &forward_.of(call.op) : &backward_.of(call.forward);
  }

  /// The first one that the op launches itself.
  trace::StringId first_kernel(Row op) const {
    for (const Row row : lens_.tree.below(op))
      if (lens_.tree.launcher(row) == op) return lens_.e.name[row];
    return trace::kEmptyString;
  }

  const Lens& lens_;
  Models &forward_, &backward_;
  Categories categories_;
  CallGroups numbers_;
  std::vector<Group> groups_;
};

struct Columns {
  explicit Columns(const trace::Trace& trace)
      : rank(table, trace),
        name(table.texts("name")),
        category(table.texts("category")),
        arguments(table, Role::key),
        recomputed(table.texts("is_recompute")),
        calls(table.ints("calls", Unit::count)),
        time_sum(table.ints("kernel_time_sum", Unit::ns)),
        time(table, "kernel_time", Unit::ns),
        host_sum(table.ints("host_time_sum", Unit::ns)),
        host(table, "host_time", Unit::ns),
        flops(table.ints("flops", Unit::flop)),
        bytes(table.ints("bytes", Unit::bytes)),
        intensity(table.reals("intensity", Unit::flop_per_byte)),
        spec(table.texts("compute_spec", Role::detail)),
        byte_rate(table, "bytes_per_s", Unit::bytes_per_s),
        flop_rate(table, "flops_per_s", Unit::flop_per_s),
        modelled(table.texts("has_perf_model", Role::detail)),
        first_event(table.ints("first_event", Unit::none, Role::detail)),
        share(table) {}
  report::Table table{"All linked device work by op", report::Shape::table, {}};
  RankColumn rank;
  report::Texts &name, &category;
  ArgumentColumns arguments;
  report::Texts& recomputed;
  report::Ints &calls, &time_sum;
  SpreadColumns time;
  report::Ints& host_sum;
  SpreadColumns host;
  report::Ints &flops, &bytes;
  report::Reals& intensity;
  report::Texts& spec;
  SpreadColumns byte_rate, flop_rate;
  report::Texts& modelled;
  report::Ints& first_event;
  ShareColumns share;
};

std::string name_of(const Lens& lens, const Collected& call) {
  std::string name(lens.name(call.op));
  if (call.kernel != kNoRow) name.append("->").append(lens.name(call.kernel)).append(" (Synthetic Op)");
  return name;
}

void add_work(const Model* model, Columns& out) {
  const bool flops = model != nullptr && model->work.flops_known;
  const bool bytes = model != nullptr && model->work.bytes_known;
  out.flops.push_back(flops ? model->work.flops() : report::kNoInt);
  out.bytes.push_back(bytes ? model->work.bytes() : report::kNoInt);
  const bool both = flops && bytes && model->work.bytes() > 0;
  out.intensity.push_back(both ? static_cast<double>(model->work.flops()) /
                                     static_cast<double>(model->work.bytes())
                               : report::kNoReal);
  out.spec.push_back(model == nullptr ? "" : model->spec);
  out.modelled.emplace_back(model == nullptr ? "no" : "yes");
}

void add_group(const Lens& lens, const Arguments& arguments, const Group& group, Columns& out) {
  const Collected& first = group.calls.front();
  out.rank.add(lens.rank);
  out.name.push_back(name_of(lens, first));
  out.category.emplace_back(group.category);
  out.arguments.add(lens, arguments, first.op);
  out.recomputed.emplace_back(lens.recomputed(first.op) ? "yes" : "no");
  out.calls.push_back(static_cast<std::int64_t>(group.calls.size()));
  out.time_sum.push_back(static_cast<std::int64_t>(group.time.sum));
  out.time.add(group.time);
  out.host_sum.push_back(static_cast<std::int64_t>(group.host.sum));
  out.host.add(group.host);
  add_work(group.model, out);
  out.byte_rate.add(group.bytes_per_s);
  out.flop_rate.add(group.flops_per_s);
  out.first_event.push_back(lens.e.source[first.shown()]);
}

}  // namespace

void unified_sheet(const trace::Trace& trace, std::string_view, report::Report& report) {
  Columns out(trace);
  KernelDetails details(trace);
  for (const trace::Rank& rank : trace.ranks) {
    const Lens lens(trace, rank);
    const Arguments arguments(lens);
    Models forward(lens, arguments), backward(lens, arguments, true);
    const std::vector<Group> groups = Grouping(lens, arguments, forward, backward).run();
    double total = 0;
    for (const Group& group : groups) total += group.time.sum;
    out.share.begin(total);
    for (const Group& group : groups) {
      add_group(lens, arguments, group, out);
      out.share.add(group.time.sum);
      std::vector<std::vector<Row>> launched;
      for (const Collected& call : group.calls) {
        const auto events = call.events(lens.tree);
        launched.emplace_back(events.begin(), events.end());
      }
      details.add(lens, lens.e.source[group.calls.front().shown()], launched);
    }
  }
  report.tables.push_back(std::move(out.table));
  report.tables.push_back(details.take());
}

}  // namespace stepscope::analyze::lens
