// What was recorded, on what, how long a step takes, and the facts that decide what the recording can prove.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "analyze/tb/tb.h"
#include "derive/capture.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::Capture;
using derive::DeviceBusy;
using report::Role;
using report::Shape;
using report::Unit;
using timeline::Interval;
using timeline::IntervalSet;
using trace::Rank;

struct Configuration {
  explicit Configuration(const trace::Trace& trace)
      : rank(table, trace), what(table.texts("what")), value(table.texts("value", Role::value)) {}
  report::Table table{"Configuration", Shape::table, {}};
  RankColumn rank;
  report::Texts &what, &value;
  void add(const Rank& r, std::string w, std::string v) {
    if (v.empty()) return;
    rank.add(r);
    what.push_back(std::move(w));
    value.push_back(std::move(v));
  }
};

struct Facts {
  Facts(const trace::Trace& trace, std::string title, const char* column, Unit unit)
      : table{std::move(title), Shape::table, {}},
        rank(table, trace),
        fact(table.texts("fact")),
        value(table.ints(column, unit)) {}
  report::Table table;
  RankColumn rank;
  report::Texts& fact;
  report::Ints& value;
  void add(const Rank& r, const char* name, std::int64_t v) {
    rank.add(r);
    fact.emplace_back(name);
    value.push_back(v);
  }
};

std::string devices_text(const Rank& rank, const std::vector<DeviceBusy>& used) {
  std::string text;
  for (const DeviceBusy& busy : used) {
    const auto about = std::find_if(rank.devices.begin(), rank.devices.end(),
                                    [&](const trace::Device& d) { return d.id == busy.device; });
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", busy.device,
                        about != rank.devices.end() && !about->name.empty() ? about->name : "unnamed device");
  }
  return text.empty() ? "none used" : text;
}

void describe(Configuration& out, const Rank& rank, const std::vector<DeviceBusy>& used) {
  out.add(rank, "file", rank.path);
  out.add(rank, "devices", devices_text(rank, used));
  if (rank.rank >= 0)
    out.add(rank, "rank",
            rank.world_size > 0 ? fmt::format("{} of {}", rank.rank, rank.world_size)
                                : std::to_string(rank.rank));
  out.add(rank, "distributed backend", rank.backend);
  std::string steps;
  for (const trace::Step& step : rank.steps)
    if (step.row != trace::kNoRow && steps.size() < 60)
      steps += fmt::format("{}{}", steps.empty() ? "" : ", ", step.number);
  out.add(rank, "steps", steps.empty() ? "not marked" : steps);
}

void count(Facts& out, const Rank& rank, const Capture& c, std::int64_t complete_steps) {
  out.add(rank, "ops", c.ops);
  out.add(rank, "annotations", c.annotations);
  out.add(rank, "python_calls", c.python_calls);
  out.add(rank, "module_calls", c.module_calls);
  out.add(rank, "runtime_calls", c.runtime_calls);
  out.add(rank, "kernels", c.kernels);
  out.add(rank, "copies", c.copies);
  out.add(rank, "fills", c.fills);
  out.add(rank, "memory_records", c.memory_records);
  out.add(rank, "ops_with_shapes", c.with_shapes);
  out.add(rank, "ops_with_stacks", c.with_stacks);
  out.add(rank, "ops_for_backward", c.for_backward);
  out.add(rank, "range_metrics", c.range_metrics);
  out.add(rank, "unknown_category", c.foreign);
  out.add(rank, "launches", c.launches);
  out.add(rank, "launches_without_device", c.launches_without_device);
  out.add(rank, "device_without_launch", c.device_without_launch);
  out.add(rank, "unlinked_in_window", c.unlinked_in_window);
  out.add(rank, "device_before_launch", c.device_before_launch);
  out.add(rank, "data_parallel_calls", c.data_parallel_calls);
  out.add(rank, "ddp_calls", c.ddp_calls);
  out.add(rank, "graph_launches", c.graph_launches);
  out.add(rank, "complete_steps", complete_steps);
  out.add(rank, "lost_stretches", rank.reading.losses);
  out.add(rank, "clamped_times", rank.reading.clamped_times);
  out.add(rank, "document_complete", rank.reading.complete ? 1 : 0);
  if (rank.reading.only_critical) out.add(rank, "only_critical", 1);
}

std::vector<std::int64_t> device_lengths(const Rank& rank, const StepChoice& choice) {
  std::vector<std::int64_t> lengths;
  for (const StepSpan& s : step_spans(rank))
    if (choice.includes(rank.steps[s.index]) && !s.partial) lengths.push_back(s.span.length());
  return lengths;
}

/// Times of the devices' work; all empty where no device event is recorded.
void measure_devices(Facts& out, const Rank& rank, const std::vector<DeviceBusy>& devices, Interval window) {
  const auto of_all = [&](IntervalSet DeviceBusy::* part) {
    Column<Interval> all;
    for (const DeviceBusy& device : devices)
      all.insert(all.end(), (device.*part).parts().begin(), (device.*part).parts().end());
    return IntervalSet::of(std::move(all));
  };
  const IntervalSet compute = of_all(&DeviceBusy::compute),
                    communication = of_all(&DeviceBusy::communication), copy = of_all(&DeviceBusy::copy);
  const IntervalSet kernels = unite(compute, communication), busy = unite(kernels, copy);
  const auto add = [&](const char* name, std::int64_t time) {
    out.add(rank, name, devices.empty() ? report::kNoInt : time);
  };
  add("compute", compute.length_in(window));
  add("communication", communication.length_in(window));
  add("exposed_communication", subtract(communication, compute).length_in(window));
  add("exposed_copy", subtract(copy, kernels).length_in(window));
  add("busy", busy.length_in(window));
  add("idle", busy.gaps(window).length());
}

void measure(Facts& out, const Rank& rank, const Capture& c, const std::vector<DeviceBusy>& devices,
             std::vector<std::int64_t> lengths, Interval window) {
  out.add(rank, "window", window.length());
  const std::int64_t first = lengths.empty() ? report::kNoInt : lengths.front();
  out.add(rank, "step_median", report::quantile(lengths, 0.5));
  out.add(rank, "step_shortest", report::quantile(lengths, 0));
  out.add(rank, "step_longest", report::quantile(lengths, 1));
  out.add(rank, "first_step", first);
  measure_devices(out, rank, devices, window);
  out.add(rank, "host_data_loading", c.host_data_loading);
  out.add(rank, "host_span", c.host_span);
  out.add(rank, "profiler_estimate", c.profiler);
  out.add(rank, "device_lag", devices.empty() ? report::kNoInt : c.device_lag);
  out.add(rank, "warm_up", c.warm_up);
  out.add(rank, "blind_wait", c.blind_wait);
  out.add(rank, "unseen", c.unseen);
  out.add(rank, "largest_lead", devices.empty() ? report::kNoInt : c.largest_lead);
}

void note_reading(const Rank& rank, report::Report& report) {
  const trace::Reading& r = rank.reading;
  for (const trace::Loss& loss : r.first_losses) report.notes.push_back(rank.path + ": " + loss.text());
  if (r.losses > static_cast<std::int64_t>(r.first_losses.size()))
    report.notes.push_back(fmt::format("{}: {} damaged stretches in all; the first {} are named.", rank.path,
                                       r.losses, r.first_losses.size()));
  if (r.only_critical)
    report.notes.push_back(
        rank.path +
        ": only the events of a critical path are in this copy; no total or share of it is "
        "that of the recording.");
  if (!r.complete)
    report.notes.push_back(fmt::format(
        "{}: the document does not end as it should; what was read up to there is shown.", rank.path));
  if (r.clamped_times > 0)
    report.notes.push_back(
        fmt::format("{}: {} events had a missing, negative or absurd time; it was set to zero length or the "
                    "event left out.",
                    rank.path, r.clamped_times));
  if (r.unmatched_ends > 0)
    report.notes.push_back(fmt::format("{}: {} end event{} (ph E) without a begin {} left out.", rank.path,
                                       r.unmatched_ends, r.unmatched_ends == 1 ? "" : "s",
                                       r.unmatched_ends == 1 ? "is" : "are"));
  if (r.open_begins > 0)
    report.notes.push_back(fmt::format(
        "{}: {} begin event{} (ph B) without an end {} taken to last until their thread's last event.",
        rank.path, r.open_begins, r.open_begins == 1 ? "" : "s", r.open_begins == 1 ? "is" : "are"));
}

}  // namespace

constexpr report::ParamSpec kParams[] = {
    {"tb-compat", report::ParamSpec::Type::flag, "", "", "the TensorBoard plugin's recommendations instead"}};

constinit const About overview_about = {kParams};

report::Report overview(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  if (params.flag("tb-compat")) return tb_recommendations(trace, params);
  const StepChoice& choice = derived.choice();
  report::Report report{"overview", {}, {}};
  Configuration configuration(trace);
  Facts counts(trace, "What was recorded", "count", Unit::count),
      times(trace, "Times of the window", "time", Unit::ns);
  report.notes = trace.notes;
  for (const std::string& reason : trace.unread) report.notes.push_back("Not read: " + reason);
  for (const Rank& rank : trace.ranks) {
    const auto& devices = derived.busy(rank);
    const Interval window = window_of(rank, choice);
    const Capture capture = derive::capture_of(trace, rank, devices, window);
    const auto lengths = device_lengths(rank, choice);
    describe(configuration, rank, devices);
    count(counts, rank, capture,
          rank.steps.empty() || rank.steps.front().row == trace::kNoRow
              ? 0
              : static_cast<std::int64_t>(lengths.size()));
    measure(times, rank, capture, devices, lengths, window);
    note_reading(rank, report);
  }
  report.tables.push_back(std::move(configuration.table));
  report.tables.push_back(std::move(times.table));
  report.tables.push_back(std::move(counts.table));
  return report;
}

}  // namespace stepscope::analyze
