#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "analyze/question.h"
#include "analyze/tb/gpu.h"
#include "analyze/tb/roles.h"

namespace stepscope::analyze::tb {
namespace {

struct Advice {
  std::string rule, text;
};

/// All that the plugin's rules look at.
struct Overview {
  const Forest& forest;
  Costs sum;  ///< of all steps: ratios of sums are ratios of averages
  std::map<std::int64_t, DeviceMetrics> devices;
  TensorCoreRatios tensor_cores;

  const trace::Rank& rank() const { return forest.events.rank; }
  double share(Role role) const {
    return sum[kTotal] > 0 ? static_cast<double>(sum[role]) / static_cast<double>(sum[kTotal]) : 0.0;
  }
};

using Advices = std::vector<Advice>;

void advise_data_loading(const Overview& o, Advices& out) {
  if (o.share(kDataLoader) > 0.05)
    out.push_back(
        {"data_loading",
         fmt::format("{:.1f} % of the step time goes to data loading: raise num_workers of the DataLoader.",
                     100 * o.share(kDataLoader))});
}

void advise_data_parallel(const Overview& o, Advices& out) {
  const Events& events = o.forest.events;
  std::set<std::string_view> used;
  for (const Row row : events.order)
    if (is_device(events.type[row])) used.insert(o.rank().tracks[o.rank().events.track[row]].pid);
  if (o.forest.data_parallel && used.size() > 1)
    out.push_back({"data_parallel",
                   "DataParallel drives several devices from one process: use DistributedDataParallel."});
}

void advise_nccl(const Overview& o, Advices& out) {
  if (!o.forest.distributed_data_parallel || (o.forest.collective_libraries & kNccl) != 0) return;
  const auto able = [](const trace::Device& d) {
    return d.compute_major > 3 || (d.compute_major == 3 && d.compute_minor >= 5);
  };
  if (std::any_of(o.rank().devices.begin(), o.rank().devices.end(), able))
    out.push_back(
        {"nccl", "DistributedDataParallel runs without NCCL, the fastest library for it on these devices."});
}

void advise_communication(const Overview& o, Advices& out) {
  if (o.share(kCommunication) > 0.10)
    out.push_back(
        {"communication",
         fmt::format("{:.1f} % of the step time goes to communication: try gradient compression, gradient "
                     "accumulation or a larger batch (which changes the effective batch size).",
                     100 * o.share(kCommunication))});
}

void advise_utilization(const Overview& o, Advices& out) {
  std::string low;
  for (const auto& [id, m] : o.devices)
    if (m.utilization < 0.5) low += fmt::format("{}GPU {}", low.empty() ? "" : ", ", id);
  if (!low.empty())
    out.push_back(
        {"utilization",
         low + " is busy less than half of the time: a larger batch may help (it may change convergence)."});
}

void advise_tensor_cores(const Overview& o, Advices& out) {
  const bool able = !o.rank().devices.empty() && o.rank().devices.front().compute_major >= 7;
  if (able && o.tensor_cores.used == 0.0 && o.tensor_cores.eligible > 0)
    out.push_back(
        {"tensor_cores", fmt::format("{:.1f} % of the kernel time was launched by operators that could use "
                                     "tensor cores, and none did: enable automatic mixed precision.",
                                     100 * o.tensor_cores.eligible)});
}

/// Highest "Total Allocated" by device type and id.
std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> peak_memory(const Events& events) {
  const trace::ArgReader type(events.trace, events.rank, "Device Type"),
      id(events.trace, events.rank, "Device Id");
  const trace::ArgReader address(events.trace, events.rank, "Addr"),
      total(events.trace, events.rank, "Total Allocated");
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> peaks;
  for (Row row = 0; row < events.type.size(); ++row) {
    if (events.rank.events.kind[row] != trace::Kind::memory || events.name(row) != "[memory]" ||
        !address.has(row))
      continue;
    const auto allocated = total.integer(row), device = id.integer(row);
    if (!allocated || !device) continue;
    std::int64_t& peak = peaks[{type.integer_or(row, 0), *device}];
    peak = std::max(peak, *allocated);
  }
  return peaks;
}

/// The host's own peak (id -1) is held against the last device, as the plugin does.
void advise_memory(const Overview& o, Advices& out) {
  const std::vector<trace::Device>& devices = o.rank().devices;
  const auto count = static_cast<std::int64_t>(devices.size());
  for (const auto& [device, peak] : peak_memory(o.forest.events)) {
    const std::int64_t id = device.second == -1 ? count - 1 : device.second;
    if (id < 0 || id >= count || devices[static_cast<std::size_t>(id)].total_memory <= 0) continue;
    const auto total = static_cast<double>(devices[static_cast<std::size_t>(id)].total_memory);
    if (static_cast<double>(peak) <= 0.9 * total) continue;
    out.push_back({"memory", fmt::format("{:.1f} % of device {}'s {:.2f} GB was allocated: use gradient "
                                         "checkpointing or mixed precision.",
                                         100 * static_cast<double>(peak) / total, id, total / (1 << 30))});
    return;
  }
}

Advices advices_of(const trace::Trace& trace, const trace::Rank& rank) {
  const Events events(trace, rank);
  const Forest forest(events);
  const StepWindows windows = step_windows(events, forest.links);
  const Overview overview{forest, sum_of(step_costs(events, windows)), device_metrics(forest, windows.all()),
                          tensor_core_ratios(forest)};
  Advices advices;
  for (const auto rule : {advise_data_loading, advise_data_parallel, advise_nccl, advise_communication,
                          advise_utilization, advise_tensor_cores, advise_memory})
    rule(overview, advices);
  return advices;
}

}  // namespace

report::Report recommendations(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  report::Report report{"recommendations", {}, {}};
  report::Table table{"Recommendations by the TensorBoard plugin's rules", report::Shape::table, {}};
  RankColumn rank_column(table, trace);
  report::Texts& rule = table.texts("rule");
  report::Texts& text = table.texts("advice", report::Role::value);
  for (const trace::Rank& rank : trace.ranks) {
    for (const Advice& advice : advices_of(trace, rank)) {
      rank_column.add(rank);
      rule.push_back(advice.rule);
      text.push_back(advice.text);
    }
  }
  if (rule.empty()) report.notes.push_back("None of the plugin's seven rules applies.");
  note_step_choice(params, report);
  report.tables.push_back(std::move(table));
  return report;
}

}  // namespace stepscope::analyze::tb
