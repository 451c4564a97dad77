// What was recorded, on which devices, how long a step takes, and the facts that decide what it can prove.
#include "analyze/overview.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/list.h"
#include "derive/idle/host_pieces.h"
#include "derive/replay/host_scale.h"
#include "derive/shape_windows.h"
#include "derive/steps/gradient_shapes.h"
#include "derive/work/padding.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::DeviceBusy;
using report::Shape;
using report::Unit;
using timeline::Interval;
using timeline::IntervalSet;
using trace::Rank;

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

std::string place_text(const Rank& rank) {
  if (rank.rank < 0) return "";
  return rank.world_size > 0 ? fmt::format("{} of {}", rank.rank, rank.world_size)
                             : std::to_string(rank.rank);
}

std::string steps_text(const Rank& rank) {
  std::string steps;
  for (const trace::Step& step : rank.steps)
    if (step.row != trace::kNoRow && steps.size() < 60)
      steps += fmt::format("{}{}", steps.empty() ? "" : ", ", step.number);
  if (!rank.step_border.empty())
    return fmt::format("not marked; {} found, counted by {}", rank.steps.size(), rank.step_border);
  return steps.empty() ? "not marked" : steps;
}

std::vector<std::int64_t> device_lengths(const Rank& rank, const StepChoice& choice) {
  std::vector<std::int64_t> lengths;
  for (const StepSpan& s : step_spans(rank))
    if (choice.includes(rank.steps[s.index]) && !s.partial) lengths.push_back(s.span.length());
  return lengths;
}

void measure_devices(RankFacts& facts, const std::vector<DeviceBusy>& devices, Interval window) {
  const auto of_all = [&](IntervalSet DeviceBusy::* part) {
    Column<Interval> all;
    for (const DeviceBusy& device : devices)
      all.insert(all.end(), (device.*part).parts().begin(), (device.*part).parts().end());
    return IntervalSet::of(std::move(all));
  };
  const IntervalSet compute = of_all(&DeviceBusy::compute),
                    communication = of_all(&DeviceBusy::communication), copy = of_all(&DeviceBusy::copy);
  const IntervalSet kernels = unite(compute, communication), busy = unite(kernels, copy);
  facts.compute = compute.length_in(window);
  facts.communication = communication.length_in(window);
  facts.exposed_communication = subtract(communication, compute).length_in(window);
  facts.exposed_copy = subtract(copy, kernels).length_in(window);
  facts.busy = busy.length_in(window);
  facts.idle = busy.gaps(window).length();
}

/// Collections of Python's garbage collector, which stepscope and torch.profiler record as calls.
void add_collections(RankFacts& facts, const trace::Trace& trace, const Rank& rank, Interval window) {
  const trace::StringId name = trace.strings.find("Python GC");
  const auto main = derive::main_thread(trace, rank);
  if (name == trace::kNoString || !main) return;
  const trace::EventTable& e = rank.events;
  facts.collecting = 0;
  for (trace::Row row = rank.tracks[*main].begin; row < rank.tracks[*main].end; ++row) {
    if (e.name[row] != name) continue;
    const timeline::Time inside = std::min(e.end[row], window.end) - std::max(e.start[row], window.begin);
    if (inside <= 0) continue;
    ++facts.collections;
    report::add_to(facts.collecting, inside);
  }
}

RankFacts facts_of(const Derived& derived, const Rank& rank) {
  const std::vector<DeviceBusy>& devices = derived.busy(rank);
  const Interval window = window_of(rank, derived.choice());
  RankFacts facts;
  static_cast<derive::Capture&>(facts) = derive::capture_of(derived.trace(), rank, devices, window);
  std::vector<std::int64_t> lengths = device_lengths(rank, derived.choice());
  const bool counted = !rank.steps.empty() && rank.steps.front().counts();
  facts.rank = rank.rank;
  facts.complete_steps = counted ? static_cast<std::int64_t>(lengths.size()) : 0;
  facts.lost_stretches = rank.reading.losses;
  if (rank.full.dropped > 0) {
    facts.dropped = rank.full.dropped;
    facts.full_after = rank.full.after;
    facts.full_limit = static_cast<std::int64_t>(rank.full.limit);
    facts.lost_stretches =
        std::max<std::int64_t>(0, facts.lost_stretches - rank.full.recordings);  // those are no damage
  }
  if (rank.kept_from > 0) facts.kept_from = rank.kept_from;
  facts.clamped_times = rank.reading.clamped_times;
  facts.document_complete = rank.reading.complete ? 1 : 0;
  if (rank.reading.only_critical) facts.only_critical = 1;
  const auto if_known = [](std::int64_t value) { return value < 0 ? report::kNoInt : value; };
  facts.accelerators = if_known(rank.machine.accelerators);
  facts.cores = if_known(rank.machine.cores);
  facts.op_threads = if_known(rank.machine.threads);
  facts.gradients_by_shape = !rank.training.seen;
  if (rank.training.seen) {
    facts.anomaly = rank.training.anomaly;
    facts.deterministic = rank.training.deterministic;
    if (rank.training.groups > 0) {
      facts.parameter_groups = rank.training.groups;
      facts.different_groups = rank.training.different_groups;
    }
    facts.input_tensors = rank.training.input_tensors;
    facts.input_gradients = rank.training.input_elements;
    facts.input_shape = rank.training.input_shape;
  }
  const trace::Training seen =
      rank.training.seen ? rank.training : derive::gradients_by_shape(derived.trace(), rank, window);
  if (seen.seen) {
    facts.gradients = seen.gradients;
    facts.unread_parameters = seen.unread_parameters;
    facts.unread_gradients = seen.unread_elements;
    facts.unread_names = seen.unread_names;
    facts.embeddings = seen.embeddings;
  }
  if (const derive::Padding of = derive::padding_of(derived.trace(), rank, window); of.elements > 0) {
    facts.padded = of.elements;
    facts.padding = of.padding;
  }
  if (const trace::TokenPadding& of = rank.padding; of.elements > 0) {
    facts.looked_up = of.elements;
    facts.looked_up_padding = of.padding;
    facts.shared_padding = of.shared;
    facts.largest_lookup = of.largest;
  }
  facts.window = window.length();
  add_collections(facts, derived.trace(), rank, window);
  if (rank.shapes_cost > 0) facts.shapes_cost = derive::scaled(facts.window, rank.shapes_cost);
  if (!lengths.empty()) facts.first_step = lengths.front();
  facts.step_median = report::quantile(lengths, 0.5);
  facts.step_shortest = report::quantile(lengths, 0);
  facts.step_longest = report::quantile(lengths, 1);
  if (devices.empty())
    facts.device_lag = facts.largest_lead = report::kNoInt;
  else
    measure_devices(facts, devices, window);
  facts.file = rank.path;
  facts.devices = devices_text(rank, devices);
  if (devices.empty() && facts.launches == 0 && rank.machine.accelerators > 0 && !rank.devices.empty())
    facts.unused_device = rank.devices.front().name.empty() ? "accelerator" : rank.devices.front().name;
  facts.place = place_text(rank);
  facts.backend = rank.backend;
  facts.steps = steps_text(rank);
  return facts;
}

report::Table configuration(const std::vector<RankFacts>& ranks, bool several) {
  struct RankLine {
    std::int64_t rank;
    std::string_view what, value;
  };
  constexpr std::pair<std::string_view, std::string RankFacts::*> kLines[] = {
      {"file", &RankFacts::file},
      {"devices", &RankFacts::devices},
      {"rank", &RankFacts::place},
      {"distributed backend", &RankFacts::backend},
      {"steps", &RankFacts::steps}};
  static const report::Sheet<RankLine> kSheet{"Configuration",
                                              Shape::table,
                                              {report::rank_field<RankLine>(&RankLine::rank),
                                               {"what", &RankLine::what},
                                               {"value", &RankLine::value, report::Role::value}}};
  std::vector<RankLine> rows;
  for (const RankFacts& facts : ranks)
    for (const auto& [what, line] : kLines)
      if (!(facts.*line).empty()) rows.push_back({facts.rank, what, facts.*line});
  return tabulate(kSheet, rows, several);
}

void note_reading(const Rank& rank, std::vector<std::string>& notes) {
  const trace::Reading& r = rank.reading;
  for (const trace::Loss& loss : r.first_losses) notes.push_back(rank.path + ": " + loss.text());
  if (r.losses > static_cast<std::int64_t>(r.first_losses.size()))
    notes.push_back(fmt::format("{}: {} damaged stretches in total; the first {} are listed.", rank.path,
                                r.losses, r.first_losses.size()));
  if (r.only_critical)
    notes.push_back(
        rank.path +
        ": this copy holds only the events of a critical path; its totals and shares are not those "
        "of the recording.");
  if (!r.complete)
    notes.push_back(fmt::format(
        "{}: the document is incomplete; the results cover the part before the damage.", rank.path));
  if (r.clamped_times > 0)
    notes.push_back(
        fmt::format("{}: {} with a missing, negative or absurd time {} set to zero length or left out.",
                    rank.path, r.clamped_times == 1 ? "an event" : fmt::format("{} events", r.clamped_times),
                    r.clamped_times == 1 ? "was" : "were"));
  if (r.crowded_args > 0)
    notes.push_back(
        fmt::format("{}: the args of {} events are kept as one text, \"(more args)\": the file has too many "
                    "different keys, or an event "
                    "over 256. Ids and shapes in them are not used.",
                    rank.path, r.crowded_args));
  if (r.aggregated > 0)
    notes.push_back(fmt::format(
        "{}: {} record{} of DFTracer each stand{} for many calls. They have no time of their own; counts and "
        "sums are in their args.",
        rank.path, r.aggregated, r.aggregated == 1 ? "" : "s", r.aggregated == 1 ? "s" : ""));
  if (r.ambiguous_hashes > 0)
    notes.push_back(fmt::format(
        "{}: {} stand{} for several names in this file. An event gets the last name before it, which may be "
        "that of another file.",
        rank.path, r.ambiguous_hashes == 1 ? "a hash" : fmt::format("{} hashes", r.ambiguous_hashes),
        r.ambiguous_hashes == 1 ? "s" : ""));
  if (r.unknown_hashes > 0)
    notes.push_back(fmt::format("{}: {} event{} a file by a hash that nothing in the file explains.",
                                rank.path, r.unknown_hashes, r.unknown_hashes == 1 ? " names" : "s name"));
  if (r.unmatched_ends > 0)
    notes.push_back(fmt::format("{}: {} end event{} (ph E) without a begin {} left out.", rank.path,
                                r.unmatched_ends, r.unmatched_ends == 1 ? "" : "s",
                                r.unmatched_ends == 1 ? "is" : "are"));
  if (r.open_begins > 0)
    notes.push_back(fmt::format(
        "{}: {} begin event{} (ph B) without an end {} taken to last until their thread's last event.",
        rank.path, r.open_begins, r.open_begins == 1 ? "" : "s", r.open_begins == 1 ? "is" : "are"));
}

}  // namespace

const report::FactSheet<RankFacts> kRecordedCounts{
    "What was recorded",
    "count",
    Unit::count,
    {{"ops", &RankFacts::ops},
     {"annotations", &RankFacts::annotations},
     {"python_calls", &RankFacts::python_calls},
     {"module_calls", &RankFacts::module_calls},
     {"runtime_calls", &RankFacts::runtime_calls},
     {"kernels", &RankFacts::kernels},
     {"copies", &RankFacts::copies},
     {"fills", &RankFacts::fills},
     {"memory_records", &RankFacts::memory_records},
     {"ops_with_shapes", &RankFacts::with_shapes},
     {"ops_with_stacks", &RankFacts::with_stacks},
     {"ops_for_backward", &RankFacts::for_backward},
     {"range_metrics", &RankFacts::range_metrics},
     {"unknown_category", &RankFacts::foreign},
     {"launches", &RankFacts::launches},
     {"launches_without_device", &RankFacts::launches_without_device},
     {"device_without_launch", &RankFacts::device_without_launch},
     {"unlinked_in_window", &RankFacts::unlinked_in_window},
     {"device_before_launch", &RankFacts::device_before_launch},
     {"data_parallel_calls", &RankFacts::data_parallel_calls},
     {"ddp_calls", &RankFacts::ddp_calls},
     {"graph_launches", &RankFacts::graph_launches},
     {"complete_steps", &RankFacts::complete_steps},
     {"lost_stretches", &RankFacts::lost_stretches},
     {"clamped_times", &RankFacts::clamped_times},
     {"document_complete", &RankFacts::document_complete},
     {"only_critical", &RankFacts::only_critical, true},
     {"dropped", &RankFacts::dropped, true},
     {"accelerators", &RankFacts::accelerators, true},
     {"cores", &RankFacts::cores, true},
     {"op_threads", &RankFacts::op_threads, true},
     {"anomaly", &RankFacts::anomaly, true},
     {"deterministic", &RankFacts::deterministic, true},
     {"parameter_groups", &RankFacts::parameter_groups, true},
     {"different_groups", &RankFacts::different_groups, true},
     {"gradients", &RankFacts::gradients, true},
     {"unread_parameters", &RankFacts::unread_parameters, true},
     {"unread_gradients", &RankFacts::unread_gradients, true},
     {"input_tensors", &RankFacts::input_tensors, true},
     {"input_gradients", &RankFacts::input_gradients, true},
     {"padded", &RankFacts::padded, true},
     {"padding", &RankFacts::padding, true},
     {"looked_up", &RankFacts::looked_up, true},
     {"looked_up_padding", &RankFacts::looked_up_padding, true},
     {"shared_padding", &RankFacts::shared_padding, true}}};

const report::FactSheet<RankFacts> kWindowTimes{"Times of the window",
                                                "time",
                                                Unit::ns,
                                                {{"window", &RankFacts::window},
                                                 {"step_median", &RankFacts::step_median},
                                                 {"step_shortest", &RankFacts::step_shortest},
                                                 {"step_longest", &RankFacts::step_longest},
                                                 {"first_step", &RankFacts::first_step},
                                                 {"compute", &RankFacts::compute},
                                                 {"communication", &RankFacts::communication},
                                                 {"exposed_communication", &RankFacts::exposed_communication},
                                                 {"exposed_copy", &RankFacts::exposed_copy},
                                                 {"busy", &RankFacts::busy},
                                                 {"idle", &RankFacts::idle},
                                                 {"host_data_loading", &RankFacts::host_data_loading},
                                                 {"host_span", &RankFacts::host_span},
                                                 {"profiler_estimate", &RankFacts::profiler},
                                                 {"full_after", &RankFacts::full_after, true},
                                                 {"kept_from", &RankFacts::kept_from, true},
                                                 {"collecting", &RankFacts::collecting, true},
                                                 {"shapes_cost", &RankFacts::shapes_cost, true},
                                                 {"device_lag", &RankFacts::device_lag},
                                                 {"warm_up", &RankFacts::warm_up},
                                                 {"blind_wait", &RankFacts::blind_wait},
                                                 {"unseen", &RankFacts::unseen},
                                                 {"largest_lead", &RankFacts::largest_lead}}};

Overview overview_of(const Derived& derived) {
  const trace::Trace& trace = derived.trace();
  Overview overview{{}, trace.notes};
  for (const std::string& reason : trace.unread) overview.notes.push_back("Not read: " + reason);
  for (const Rank& rank : trace.ranks) {
    overview.ranks.push_back(facts_of(derived, rank));
    note_reading(rank, overview.notes);
  }
  return overview;
}

constinit const About overview_about = {};

report::Report overview(const Derived& derived, const report::Params& /*params*/) {
  const trace::Trace& trace = derived.trace();
  Overview of = overview_of(derived);
  const bool several = trace.several();
  return {"overview",
          {configuration(of.ranks, several), tabulate(kWindowTimes, of.ranks, several),
           tabulate(kRecordedCounts, of.ranks, several)},
          std::move(of.notes)};
}

}  // namespace stepscope::analyze
