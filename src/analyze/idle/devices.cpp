#include "analyze/idle/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analyze/list.h"
#include "derive/idle/device_busy.h"
#include "derive/roof/matrix_cores.h"
#include "derive/roof/peaks.h"
#include "report/sheet.h"
#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::analyze {
namespace {

using derive::DeviceBusy;
using report::Role;
using report::Shape;
using report::Tag;
using report::Unit;
using timeline::Interval;
using trace::Kind;
using trace::Rank;
using trace::Row;

/// How full a device's kernels keep it in a window, from their launch parameters.
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
               unknown = 0;  ///< ns; plain: products and convolutions on plain cores, without fp64
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

constexpr std::size_t kBuckets = 100;
constexpr std::size_t kMaxDrawn = 256;  // devices per rank

/// Adds a row per bucket; its time counts from `origin`.
void add_over_time(std::vector<UseOverTime>& out, const Rank& rank, const DeviceBusy& busy, const Fill& fill,
                   Interval window, std::int64_t origin) {
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
    const auto time = static_cast<std::int64_t>(static_cast<double>(b) * width);
    out.push_back({rank.rank, busy.device, window.begin - origin + time, shares[b],
                   fill.resident.empty() ? report::kNoReal : std::min(full[b], 1.0)});
  }
}

/// Sets the shares of compute kernel time by kind of core.
void add_cores(DeviceUse& use, const MatrixUse& time) {
  use.tensor_cores = report::ratio(time.matrix, time.compute);
  if (time.has_units) use.plain_cores = report::ratio(time.plain, time.compute);
  use.unknown_cores = report::ratio(time.unknown, time.compute);
  use.fp64 = report::ratio(time.fp64, time.compute);
}

void add_description(DeviceUse& use, const trace::Device& about) {
  use.name = about.name;
  if (about.total_memory > 0) use.memory = about.total_memory;
  if (about.compute_major > 0) {
    use.compute_major = about.compute_major;
    use.compute_minor = about.compute_minor;
  }
  const auto peaks =
      derive::peaks_of(about.name, about.compute_major, about.compute_minor, static_cast<int>(about.sm_count),
                       static_cast<double>(about.total_memory));
  if (!peaks || peaks->bf16 <= 0) return;
  if (peaks->fp32 > 0) use.plain_gain = peaks->bf16 / peaks->fp32;
  if (peaks->fp64 > 0) use.fp64_gain = peaks->bf16 / peaks->fp64;
}

DeviceUse use_of(const trace::Trace& trace, const Rank& rank, const DeviceBusy& busy, const Streams& streams,
                 const Fill& fill, Interval window) {
  DeviceUse use{rank.rank, busy.device, ""};
  const auto share = [&](const timeline::IntervalSet& part) {
    return report::ratio(part.length_in(window), window.length());
  };
  use.utilization = share(busy.all);
  use.kernels = share(busy.kernels);
  use.exposed_communication = share(subtract(busy.communication, busy.compute));
  use.exposed_copy = share(subtract(busy.copy, busy.kernels));
  use.sm_efficiency = fill.sm_efficiency;
  use.occupancy = fill.occupancy;
  use.busy = busy.all.length_in(window);
  use.window = window.length();
  const auto about = std::find_if(rank.devices.begin(), rank.devices.end(),
                                  [&](const trace::Device& d) { return d.id == busy.device; });
  const bool known = about != rank.devices.end();
  if (known) add_description(use, *about);
  add_cores(use, matrix_use_of(trace, rank, streams,
                               known ? derive::setting_of(*about) : derive::KernelSetting{}, window));
  return use;
}

void add_rank(Devices& of, const Derived& derived, const Rank& rank) {
  const KernelArgs args(derived.trace(), rank);
  const Interval window = window_of(rank, derived.choice());
  const auto by_device = streams_by_device(rank);
  const std::int64_t origin = origin_of(rank);
  std::size_t drawn = 0;
  for (const DeviceBusy& busy : derived.busy(rank)) {
    const Streams& streams = by_device.at(busy.device);
    const Fill fill = fill_of(rank, args, streams, window);
    of.devices.push_back(use_of(derived.trace(), rank, busy, streams, fill, window));
    if (window.length() > 0 && drawn++ < kMaxDrawn)
      add_over_time(of.over_time, rank, busy, fill, window, origin);
  }
  if (drawn > kMaxDrawn)
    of.notes.push_back(fmt::format("{} devices are recorded{}; utilization over time covers the first {}.",
                                   report::format_value(static_cast<std::int64_t>(drawn), Unit::count),
                                   rank.rank < 0 ? "" : fmt::format(" by rank {}", rank.rank), kMaxDrawn));
}

std::string capability_text(const DeviceUse& of) {
  return of.compute_major > 0 ? fmt::format("{}.{}", of.compute_major, of.compute_minor) : "";
}

const report::Sheet<DeviceUse> kDeviceSheet{
    "Devices",
    Shape::table,
    {report::rank_field<DeviceUse>(&DeviceUse::rank),
     {"device", &DeviceUse::device, Unit::none, Role::key},
     {"name", &DeviceUse::name, Role::detail},
     {"utilization", &DeviceUse::utilization, Unit::share, Role::share},
     {"kernel_share", &DeviceUse::kernels, Unit::share, Role::share},
     {"exposed_communication", &DeviceUse::exposed_communication, Unit::share, Role::share},
     {"exposed_copy", &DeviceUse::exposed_copy, Unit::share, Role::share},
     {"sm_efficiency", &DeviceUse::sm_efficiency, Unit::share, Role::share},
     {"occupancy", &DeviceUse::occupancy, Unit::share, Role::share},
     {"tensor_core_share", &DeviceUse::tensor_cores, Unit::share, Role::share},
     {"plain_core_share", &DeviceUse::plain_cores, Unit::share, Role::share},
     {"unknown_core_share", &DeviceUse::unknown_cores, Unit::share, Role::detail},
     {"fp64_share", &DeviceUse::fp64, Unit::share, Role::detail},
     {"plain_gain", &DeviceUse::plain_gain, Unit::none, Role::detail},
     {"fp64_gain", &DeviceUse::fp64_gain, Unit::none, Role::detail},
     {"busy", &DeviceUse::busy, Unit::ns},
     {"window", &DeviceUse::window, Unit::ns},
     {"memory", &DeviceUse::memory, Unit::bytes, Role::detail},
     {"compute_capability", &capability_text, Role::detail}}};

const report::Sheet<UseOverTime> kUtilizationSheet{
    "Utilization over time",
    Shape::curve,
    {report::rank_field<UseOverTime>(&UseOverTime::rank),
     {"device", &UseOverTime::device, Unit::none, Role::key},
     {"time", &UseOverTime::time, Unit::ns, Tag::of_one_run},
     {"utilization", &UseOverTime::utilization, Unit::share},
     {"sm_efficiency", &UseOverTime::sm_efficiency, Unit::share}}};

}  // namespace

Devices devices_of(const Derived& derived) {
  Devices of;
  for (const Rank& rank : derived.trace().ranks) add_rank(of, derived, rank);
  if (of.devices.empty()) of.notes.emplace_back(kNoDeviceNote);
  return of;
}

constinit const About devices_about = {};

report::Report devices(const Derived& derived, const report::Params& /*params*/) {
  const trace::Trace& trace = derived.trace();
  Devices of = devices_of(derived);
  return {"devices",
          {tabulate(kDeviceSheet, of.devices, trace.several()),
           tabulate(kUtilizationSheet, of.over_time, trace.several())},
          std::move(of.notes)};
}

}  // namespace stepscope::analyze
