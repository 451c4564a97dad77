// How busy each device was, and how full when it was busy.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "analyze/tb/tb.h"
#include "derive/idle/device_busy.h"
#include "derive/roof/matrix_cores.h"
#include "derive/roof/peaks.h"
#include "report/units.h"

namespace stepscope::analyze {
namespace {

using derive::DeviceBusy;
using report::Role;
using report::Shape;
using report::Unit;
using timeline::Interval;
using trace::Kind;
using trace::Rank;
using trace::Row;

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? report::kNoReal : static_cast<double>(part) / static_cast<double>(whole);
}

/// What the launch parameters of a device's kernels say, over a window.
struct Fill {
  double sm_efficiency = report::kNoReal, occupancy = report::kNoReal;
  Column<timeline::Level> resident;  ///< blocks per SM, summed over concurrent kernels
};

class KernelArgs {
 public:
  KernelArgs(const trace::Trace& trace, const Rank& rank)
      : blocks_per_sm(trace, rank, "blocks per SM"), occupancy(trace, rank, "est. achieved occupancy %") {}
  trace::ArgReader blocks_per_sm, occupancy;
};

/// The tracks of one device.
using Streams = std::vector<const trace::Track*>;

std::map<std::int64_t, Streams> streams_by_device(const Rank& rank) {
  std::map<std::int64_t, Streams> streams;
  for (const trace::Track& track : rank.tracks)
    if (track.side == trace::Track::Side::device) streams[track.device].push_back(&track);
  return streams;
}

Fill fill_of(const Rank& rank, const KernelArgs& args, const Streams& streams, Interval window) {
  const trace::EventTable& e = rank.events;
  Column<Interval> spans;
  std::vector<double> blocks;
  double occupied = 0, weighed = 0;
  for (const trace::Track* track : streams) {
    for (Row row = track->begin; row < track->end; ++row) {
      if (e.kind[row] != Kind::kernel) continue;
      const Interval span{std::max(e.start[row], window.begin), std::min(e.end[row], window.end)};
      if (span.length() == 0) continue;
      if (const auto per_sm = args.blocks_per_sm.real(row); per_sm && *per_sm > 0) {
        spans.push_back(span);
        blocks.push_back(*per_sm);
      }
      if (const auto percent = args.occupancy.real(row); percent && *percent >= 0) {
        occupied += *percent / 100 * static_cast<double>(span.length());
        weighed += static_cast<double>(span.length());
      }
    }
  }
  Fill fill;
  if (weighed > 0) fill.occupancy = occupied / weighed;
  if (spans.empty() || window.length() == 0) return fill;
  fill.resident = timeline::sum_levels(spans, blocks);
  double full = 0;
  for (const timeline::Level& level : fill.resident)
    full += std::min(level.value, 1.0) * static_cast<double>(level.span.length());
  fill.sm_efficiency = full / static_cast<double>(window.length());
  return fill;
}

/// Time of a device's compute kernels by whether they ran on matrix units.
struct MatrixUse {
  std::int64_t compute = 0, matrix = 0, plain = 0, fp64 = 0,
               unknown = 0;  ///< ns; plain: products and convolutions on plain cores, fp64 aside
  bool has_units = false;
};

MatrixUse matrix_use_of(const trace::Trace& trace, const Rank& rank, const Streams& streams,
                        const derive::KernelSetting& setting, Interval window) {
  const trace::EventTable& e = rank.events;
  std::unordered_map<trace::StringId, std::int64_t> by_name;
  for (const trace::Track* track : streams) {
    for (Row row = track->begin; row < track->end; ++row)
      if (e.work[row] == trace::Work::compute)
        by_name[e.name[row]] += timeline::overlap({e.start[row], e.end[row]}, window);
  }
  MatrixUse use;
  use.has_units = setting.vendor == derive::Vendor::nvidia && setting.compute_major >= 7;
  for (const auto& [name, time] : by_name) {
    const derive::MatrixCoreUse kernel = derive::matrix_cores_of(trace.text(name), setting);
    use.compute += time;
    if (kernel.cores == derive::MatrixCores::yes) use.matrix += time;
    if (kernel.cores == derive::MatrixCores::unknown) use.unknown += time;
    if (derive::is_double_precision(trace.text(name)))
      use.fp64 += time;
    else if (derive::is_plain_matrix_work(kernel))
      use.plain += time;
  }
  use.has_units |= use.matrix > 0;
  return use;
}

struct Summary {
  explicit Summary(const trace::Trace& trace)
      : rank(table, trace),
        device(table.ints("device", Unit::none, Role::key)),
        name(table.texts("name", Role::detail)),
        utilization(table.reals("utilization", Unit::share, Role::share)),
        kernels(table.reals("kernel_share", Unit::share, Role::share)),
        exposed(table.reals("exposed_communication", Unit::share, Role::share)),
        copies(table.reals("exposed_copy", Unit::share, Role::share)),
        sm(table.reals("sm_efficiency", Unit::share, Role::share)),
        occupancy(table.reals("occupancy", Unit::share, Role::share)),
        tensor_core(table.reals("tensor_core_share", Unit::share, Role::share)),
        plain_core(table.reals("plain_core_share", Unit::share, Role::share)),
        unknown_core(table.reals("unknown_core_share", Unit::share, Role::detail)),
        fp64(table.reals("fp64_share", Unit::share, Role::detail)),
        plain_gain(table.reals("plain_gain", Unit::none, Role::detail)),
        fp64_gain(table.reals("fp64_gain", Unit::none, Role::detail)),
        busy(table.ints("busy", Unit::ns)),
        window(table.ints("window", Unit::ns)),
        memory(table.ints("memory", Unit::bytes, Role::detail)),
        compute(table.texts("compute_capability", Role::detail)) {}
  report::Table table{"Devices", Shape::table, {}};
  RankColumn rank;
  report::Ints& device;
  report::Texts& name;
  report::Reals &utilization, &kernels, &exposed, &copies, &sm, &occupancy, &tensor_core, &plain_core,
      &unknown_core, &fp64, &plain_gain, &fp64_gain;
  report::Ints &busy, &window, &memory;
  report::Texts& compute;
};

struct Series {
  explicit Series(const trace::Trace& trace)
      : rank(table, trace),
        device(table.ints("device", Unit::none, Role::key)),
        time(table.ints("time", Unit::ns, Role::key)),
        busy(table.reals("utilization", Unit::share)),
        sm(table.reals("sm_efficiency", Unit::share)) {}
  report::Table table{"Utilization over time", Shape::curve, {}};
  RankColumn rank;
  report::Ints &device, &time;
  report::Reals &busy, &sm;
};

constexpr std::size_t kBuckets = 100;
constexpr std::size_t kMaxDrawn = 256;  // devices of a rank

/// `origin`: the zero of times.
void add_series(Series& out, const Rank& rank, const DeviceBusy& busy, const Fill& fill, Interval window,
                std::int64_t origin) {
  const std::vector<double> shares = timeline::binned_share(busy.all, window, kBuckets);
  std::vector<double> full(kBuckets);
  const double width = static_cast<double>(window.length()) / kBuckets;
  for (const timeline::Level& level : fill.resident) {
    const auto first = static_cast<std::size_t>(static_cast<double>(level.span.begin - window.begin) / width);
    const auto last =
        static_cast<std::size_t>(static_cast<double>(level.span.end - 1 - window.begin) / width);
    for (std::size_t b = first; b <= std::min(last, kBuckets - 1); ++b) {
      const double from =
          std::max(static_cast<double>(level.span.begin - window.begin), static_cast<double>(b) * width);
      const double to =
          std::min(static_cast<double>(level.span.end - window.begin), static_cast<double>(b + 1) * width);
      if (to > from) full[b] += std::min(level.value, 1.0) * (to - from) / width;
    }
  }
  for (std::size_t b = 0; b < kBuckets; ++b) {
    out.rank.add(rank);
    out.device.push_back(busy.device);
    out.time.push_back(window.begin - origin + static_cast<std::int64_t>(static_cast<double>(b) * width));
    out.busy.push_back(shares[b]);
    out.sm.push_back(fill.resident.empty() ? report::kNoReal : std::min(full[b], 1.0));
  }
}

void add_device(Summary& out, const trace::Trace& trace, const Rank& rank, const DeviceBusy& busy,
                const Streams& streams, const Fill& fill, Interval window) {
  const std::int64_t length = window.length();
  out.rank.add(rank);
  out.device.push_back(busy.device);
  const auto about = std::find_if(rank.devices.begin(), rank.devices.end(),
                                  [&](const trace::Device& d) { return d.id == busy.device; });
  const bool known = about != rank.devices.end();
  out.name.push_back(known ? about->name : "");
  out.memory.push_back(known && about->total_memory > 0 ? about->total_memory : report::kNoInt);
  out.compute.push_back(known && about->compute_major > 0
                            ? fmt::format("{}.{}", about->compute_major, about->compute_minor)
                            : "");
  out.utilization.push_back(share(busy.all.length_in(window), length));
  out.kernels.push_back(share(busy.kernels.length_in(window), length));
  out.exposed.push_back(share(subtract(busy.communication, busy.compute).length_in(window), length));
  out.copies.push_back(share(subtract(busy.copy, busy.kernels).length_in(window), length));
  out.sm.push_back(fill.sm_efficiency);
  out.occupancy.push_back(fill.occupancy);
  const MatrixUse use = matrix_use_of(trace, rank, streams,
                                      known ? derive::setting_of(*about) : derive::KernelSetting{}, window);
  out.tensor_core.push_back(share(use.matrix, use.compute));
  out.plain_core.push_back(use.has_units ? share(use.plain, use.compute) : report::kNoReal);
  out.unknown_core.push_back(share(use.unknown, use.compute));
  out.fp64.push_back(share(use.fp64, use.compute));
  const auto peaks =
      known ? derive::peaks_of(about->name, about->compute_major, about->compute_minor,
                               static_cast<int>(about->sm_count), static_cast<double>(about->total_memory))
            : std::nullopt;
  const auto gain = [&](double from) {
    return peaks && from > 0 && peaks->bf16 > 0 ? peaks->bf16 / from : report::kNoReal;
  };
  out.plain_gain.push_back(gain(peaks ? peaks->fp32 : 0));
  out.fp64_gain.push_back(gain(peaks ? peaks->fp64 : 0));
  out.busy.push_back(busy.all.length_in(window));
  out.window.push_back(length);
}

}  // namespace

constexpr report::ParamSpec kParams[] = {kTbCompat};

constinit const About devices_about = {kParams};

report::Report devices(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  if (params.flag("tb-compat")) return tb_devices(trace, params);
  const StepChoice& choice = derived.choice();
  report::Report report{"devices", {}, {}};
  Summary summary(trace);
  Series series(trace);
  for (const Rank& rank : trace.ranks) {
    const KernelArgs args(trace, rank);
    const Interval window = window_of(rank, choice);
    const auto by_device = streams_by_device(rank);
    const std::int64_t origin = origin_of(rank);
    std::size_t drawn = 0;
    for (const DeviceBusy& busy : derived.busy(rank)) {
      const Streams& streams = by_device.at(busy.device);
      const Fill fill = fill_of(rank, args, streams, window);
      add_device(summary, trace, rank, busy, streams, fill, window);
      if (window.length() > 0 && drawn++ < kMaxDrawn) add_series(series, rank, busy, fill, window, origin);
    }
    if (drawn > kMaxDrawn)
      report.notes.push_back(
          fmt::format("{} devices are recorded{}; utilization over time is of the first {}.",
                      report::format_value(static_cast<std::int64_t>(drawn), Unit::count),
                      rank.rank < 0 ? "" : fmt::format(" by rank {}", rank.rank), kMaxDrawn));
  }
  if (summary.table.rows() == 0) report.notes.push_back(kNoDeviceNote);
  report.tables.push_back(std::move(summary.table));
  report.tables.push_back(std::move(series.table));
  return report;
}

}  // namespace stepscope::analyze
