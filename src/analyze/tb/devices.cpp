#include "analyze/derived.h"
#include "analyze/list.h"
#include "analyze/question.h"
#include "analyze/tb/gpu.h"
#include "analyze/tb/window.h"
#include "report/sheet.h"

namespace stepscope::analyze::tb {
namespace {

using report::Unit;
using timeline::Interval;

constexpr std::int64_t kMaxDevices = 64;

struct Weighted {
  Column<Interval> spans;
  std::vector<double> weights;
};

struct DeviceKernels {
  Column<Interval> spans;
  Weighted blocks;  ///< kernels with more than 0 blocks per SM
  bool blocks_recorded = false;
  Weighted occupancy;  ///< kernels with an occupancy of 0 or more
};

std::map<std::int64_t, DeviceKernels> kernels_by_device(const Events& events) {
  const trace::ArgReader device(events.trace, events.rank, "device");
  const trace::ArgReader blocks(events.trace, events.rank, "blocks per SM");
  const trace::ArgReader occupancy(events.trace, events.rank, "est. achieved occupancy %");
  std::map<std::int64_t, DeviceKernels> devices;
  for (const Row row : events.order) {
    if (events.type[row] != Type::kernel) continue;
    const std::int64_t id = device.integer_or(row, -1);
    if (id < 0 || id >= kMaxDevices) continue;
    DeviceKernels& kernels = devices[id];
    const Interval span = events.span(row);
    kernels.spans.push_back(span);
    if (const auto value = blocks.real(row)) {
      kernels.blocks_recorded = true;
      if (*value > 0) kernels.blocks.spans.push_back(span), kernels.blocks.weights.push_back(*value);
    }
    if (const auto value = occupancy.real(row); value && *value >= 0)
      kernels.occupancy.spans.push_back(span), kernels.occupancy.weights.push_back(*value);
  }
  return devices;
}

/// Concurrent kernels' blocks per SM add up, and more than one block per SM counts as a full device.
double sm_efficiency(const DeviceKernels& kernels, Interval window) {
  if (!kernels.blocks_recorded) return report::kNoReal;
  double busy = 0;
  for (const timeline::Level& level : timeline::sum_levels(kernels.blocks.spans, kernels.blocks.weights))
    busy += std::min(level.value, 1.0) * static_cast<double>(timeline::overlap(level.span, window));
  return busy / static_cast<double>(window.length());
}

double mean_occupancy(const DeviceKernels& kernels, Interval window) {
  double sum = 0, time = 0;
  for (std::size_t i = 0; i < kernels.occupancy.spans.size(); ++i) {
    const auto inside = static_cast<double>(timeline::overlap(kernels.occupancy.spans[i], window));
    sum += kernels.occupancy.weights[i] * inside;
    time += inside;
  }
  return time == 0 ? report::kNoReal : sum / time / 100.0;
}

/// Time of the kernels that operators launched themselves, ns.
struct KernelTime {
  std::int64_t all = 0, tensor = 0;
};

std::map<std::int64_t, KernelTime> operator_kernel_time(const Forest& forest) {
  const Events& events = forest.events;
  const trace::ArgReader device(events.trace, events.rank, "device");
  std::map<std::int64_t, KernelTime> times;
  for (const NodeId id : forest.preorder()) {
    const Node& node = forest.nodes[id];
    if (!forest.is_operator(node)) continue;
    forest.each_own_kernel(node, [&](Row row) {
      KernelTime& time = times[device.integer_or(row, -1)];
      add_to(time.all, events.span(row).length());
      if (events.is(row, kTensorCoreKernel)) add_to(time.tensor, events.span(row).length());
    });
  }
  return times;
}

const report::Sheet<DeviceMetrics> kDevices{
    "Devices as the TensorBoard plugin rates them",
    report::Shape::table,
    {report::rank_field<DeviceMetrics>(&DeviceMetrics::rank),
     {"device", &DeviceMetrics::device, Unit::none, report::Role::key},
     {"utilization", &DeviceMetrics::utilization, Unit::share, report::Role::share},
     {"sm_efficiency", &DeviceMetrics::sm_efficiency, Unit::share, report::Role::share},
     {"occupancy", &DeviceMetrics::occupancy, Unit::share, report::Role::share},
     {"tensor_core_share", &DeviceMetrics::tensor_core_share, Unit::share, report::Role::share}}};

}  // namespace

std::vector<DeviceMetrics> device_metrics(const Forest& forest, Interval window) {
  std::vector<DeviceMetrics> metrics;
  std::map<std::int64_t, KernelTime> launched = operator_kernel_time(forest);
  for (auto& [id, kernels] : kernels_by_device(forest.events)) {
    DeviceMetrics& m = metrics.emplace_back(DeviceMetrics{forest.events.rank.rank, id});
    if (window.length() > 0) {
      m.sm_efficiency = sm_efficiency(kernels, window);
      m.occupancy = mean_occupancy(kernels, window);
      m.utilization =
          ratio(timeline::IntervalSet::of(std::move(kernels.spans)).length_in(window), window.length());
    }
    m.tensor_core_share = report::ratio(launched[id].tensor, launched[id].all);
  }
  return metrics;
}

TensorCoreRatios tensor_core_ratios(const Forest& forest) {
  const Events& events = forest.events;
  std::int64_t all = 0, tensor = 0, of_operators = 0, of_eligible = 0;
  for (const Row row : events.order) {
    if (events.type[row] != Type::kernel) continue;
    add_to(all, events.rank.events.duration(row));
    if (events.is(row, kTensorCoreKernel)) add_to(tensor, events.rank.events.duration(row));
  }
  const std::vector<NodeId> order = forest.preorder();
  std::vector<bool> eligible_below(forest.nodes.size());  // the node or a descendant is an eligible operator
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    const Node& node = forest.nodes[*id];
    bool below = false;
    for (NodeId c = node.first_child; c != kNoNode; c = forest.nodes[c].next)
      below = below || eligible_below[c];
    const bool listed = forest.is_operator(node);
    std::int64_t time = 0;
    if (listed) forest.each_own_kernel(node, [&](Row row) { add_to(time, events.span(row).length()); });
    add_to(of_operators, time);
    if (listed && node.eligible && !below) add_to(of_eligible, time);
    eligible_below[*id] = below || (listed && node.eligible);
  }
  return {ratio(tensor, all), ratio(of_eligible, of_operators)};
}

report::Report devices(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  std::vector<DeviceMetrics> rows;
  for (const trace::Rank& rank : trace.ranks) {
    const Events events(trace, rank);
    const Forest forest(events);
    for (const DeviceMetrics& row : device_metrics(forest, step_windows(events, forest.links).all()))
      rows.push_back(row);
  }
  report::Report report{"devices", {tabulate(kDevices, rows, trace.several())}, {}};
  if (rows.empty())
    report.notes.push_back(
        "No kernel states its device. Record with ProfilerActivity.CUDA (or the device's own activity) to "
        "see devices.");
  note_step_choice(params, report);
  return report;
}

}  // namespace stepscope::analyze::tb
