#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "analyze/question.h"
#include "analyze/tb/gpu.h"
#include "analyze/tb/roles.h"
#include "report/sheet.h"

namespace stepscope::analyze::tb {
namespace {

/// Input of the plugin's rules.
struct Overview {
  const Forest& forest;
  Costs sum;  ///< over all steps: ratios of sums are ratios of averages
  std::vector<DeviceMetrics> devices;
  TensorCoreRatios tensor_cores;

  const trace::Rank& rank() const { return forest.events.rank; }
  double share(Role role) const { return ratio(sum[role], sum[kTotal]); }
};

// The advice of each rule, "" if it does not apply.

std::string on_data_loading(const Overview& o) {
  if (o.share(kDataLoader) <= 0.05) return "";
  return fmt::format("{:.1f} % of the step time goes to data loading: raise num_workers of the DataLoader.",
                     100 * o.share(kDataLoader));
}

std::string on_data_parallel(const Overview& o) {
  const Events& events = o.forest.events;
  std::set<std::string_view> used;
  for (const Row row : events.order)
    if (is_device(events.type[row])) used.insert(o.rank().tracks[o.rank().events.track[row]].pid);
  if (!o.forest.data_parallel || used.size() <= 1) return "";
  return "DataParallel drives several devices from one process: use DistributedDataParallel.";
}

std::string on_nccl(const Overview& o) {
  const auto able = [](const trace::Device& d) {
    return d.compute_major > 3 || (d.compute_major == 3 && d.compute_minor >= 5);
  };
  if (!o.forest.distributed_data_parallel || (o.forest.collective_libraries & kNccl) != 0 ||
      std::none_of(o.rank().devices.begin(), o.rank().devices.end(), able))
    return "";
  return "DistributedDataParallel runs without NCCL, the fastest library for it on these devices.";
}

std::string on_communication(const Overview& o) {
  if (o.share(kCommunication) <= 0.10) return "";
  return fmt::format(
      "{:.1f} % of the step time goes to communication: try gradient compression, gradient "
      "accumulation or a larger batch (which changes the effective batch size).",
      100 * o.share(kCommunication));
}

std::string on_utilization(const Overview& o) {
  std::string low;
  for (const DeviceMetrics& m : o.devices)
    if (m.utilization < 0.5) low += fmt::format("{}GPU {}", low.empty() ? "" : ", ", m.device);
  if (low.empty()) return "";
  return low + " is busy less than half of the time: a larger batch may help (it may change convergence).";
}

std::string on_tensor_cores(const Overview& o) {
  const bool able = !o.rank().devices.empty() && o.rank().devices.front().compute_major >= 7;
  if (!able || o.tensor_cores.used != 0.0 || o.tensor_cores.eligible <= 0) return "";
  return fmt::format(
      "{:.1f} % of the kernel time was launched by operators that could use tensor cores, "
      "and none did: enable automatic mixed precision.",
      100 * o.tensor_cores.eligible);
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

/// Compares the host's own peak (id -1) with the memory of the last device, as the plugin does.
std::string on_memory(const Overview& o) {
  const std::vector<trace::Device>& devices = o.rank().devices;
  const auto count = static_cast<std::int64_t>(devices.size());
  for (const auto& [device, peak] : peak_memory(o.forest.events)) {
    const std::int64_t id = device.second == -1 ? count - 1 : device.second;
    if (id < 0 || id >= count || devices[static_cast<std::size_t>(id)].total_memory <= 0) continue;
    const auto total = static_cast<double>(devices[static_cast<std::size_t>(id)].total_memory);
    if (static_cast<double>(peak) <= 0.9 * total) continue;
    return fmt::format(
        "{:.1f} % of device {}'s {:.2f} GB was allocated: use gradient checkpointing or "
        "mixed precision.",
        100 * static_cast<double>(peak) / total, id, total / (1 << 30));
  }
  return "";
}

struct Rule {
  std::string_view name;
  std::string (*advice)(const Overview&);
};
constexpr Rule kRules[] = {{"data_loading", on_data_loading},
                           {"data_parallel", on_data_parallel},
                           {"nccl", on_nccl},
                           {"communication", on_communication},
                           {"utilization", on_utilization},
                           {"tensor_cores", on_tensor_cores},
                           {"memory", on_memory}};

struct Advice {
  std::int64_t rank;
  std::string_view rule;
  std::string text;
};
const report::Sheet<Advice> kAdvice{"Recommendations by the TensorBoard plugin's rules",
                                    report::Shape::table,
                                    {report::rank_field<Advice>(&Advice::rank),
                                     {"rule", &Advice::rule},
                                     {"advice", &Advice::text, report::Role::value}}};

}  // namespace

report::Report recommendations(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  std::vector<Advice> rows;
  for (const trace::Rank& rank : trace.ranks) {
    const Events events(trace, rank);
    const Forest forest(events);
    const StepWindows windows = step_windows(events, forest.links);
    const Overview overview{forest, sum_of(step_costs(events, windows)),
                            device_metrics(forest, windows.all()), tensor_core_ratios(forest)};
    for (const Rule& rule : kRules)
      if (std::string advice = rule.advice(overview); !advice.empty())
        rows.push_back({rank.rank, rule.name, std::move(advice)});
  }
  report::Report report{"recommendations", {tabulate(kAdvice, rows, trace.several())}, {}};
  if (rows.empty()) report.notes.push_back("None of the plugin's seven rules applies.");
  note_step_choice(params, report);
  return report;
}

}  // namespace stepscope::analyze::tb
