#include "analyze/kernels/low_occupancy.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "derive/arg_text.h"
#include "derive/kernel_class.h"
#include "derive/kernel_kind.h"
#include "derive/roof/peaks.h"
#include "derive/work/op_args.h"
#include "report/statistics.h"
#include "trace/asked_once.h"

namespace stepscope::analyze {
namespace {

using report::kNoReal;
using report::Role;
using report::Unit;
using trace::ArgReader;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::StringId;
using trace::Trace;

constexpr double kLow = 0.5;

bool is_own(std::string_view kernel) {
  const derive::KernelKind kind = derive::kernel_kind(kernel);
  return (kind == derive::KernelKind::compiled || kind == derive::KernelKind::other) &&
         !derive::is_library_kernel(kernel);
}

/// Kernels of one name. `occupancy` and `blocks` are sums weighted by length over the kernels that record
/// both; `known` is the length of these kernels.
struct OccupancyGroup {
  StringId name;
  std::int64_t count = 0, total = 0, known = 0;
  double occupancy = 0, blocks = 0;
  Row longest = kNoRow;
};

std::int64_t volume_of(std::string_view sizes) {
  constexpr std::int64_t kMaxThreads = 1'024;
  std::int64_t volume = 1;
  for (const std::int64_t size : derive::integer_array(sizes).value_or(std::vector<std::int64_t>{0}))
    volume = std::min(volume * std::clamp<std::int64_t>(size, 0, kMaxThreads), kMaxThreads + 1);
  return volume;
}

const trace::Device* device_of(const Rank& rank, Row kernel) {
  for (const trace::Device& device : rank.devices)
    if (device.id == rank.tracks[rank.events.track[kernel]].device) return &device;
  return nullptr;
}

derive::OccupancyLimit limit_of(const Trace& trace, const Rank& rank, Row kernel) {
  const trace::Device* device = device_of(rank, kernel);
  if (device == nullptr) return derive::OccupancyLimit::unknown;
  const auto number = [&](std::string_view key) { return ArgReader(trace, rank, key).integer_or(kernel, 0); };
  return derive::occupancy_limit({volume_of(ArgReader(trace, rank, "block").text(kernel)),
                                  number("registers per thread"), number("shared memory")},
                                 *device);
}

/// Bytes of all tensors of the kernel's operator / bytes that device memory can move during the kernel.
double bandwidth_share(const Trace& trace, const Rank& rank, Row kernel) {
  const Row op = rank.events.op[kernel];
  const trace::Device* device = device_of(rank, kernel);
  if (op == kNoRow || device == nullptr) return kNoReal;
  const auto text = [&](std::string_view key) { return ArgReader(trace, rank, key).text(op); };
  const derive::OpArgs args = derive::parse_op_args(text("Input Dims"), text("Input type"), "", "");
  double bytes = 0;
  for (const derive::Arg& arg : args.args)
    if (const derive::Amount amount = derive::touched_bytes(arg); arg.is_tensor() && amount.known())
      bytes += static_cast<double>(amount.value());
  const auto peaks =
      derive::peaks_of(device->name, device->compute_major, device->compute_minor,
                       static_cast<int>(device->sm_count), static_cast<double>(device->total_memory));
  const double most = peaks ? peaks->bandwidth * static_cast<double>(rank.events.duration(kernel)) * 1e-9 : 0;
  return bytes > 0 && most > 0 ? bytes / most : kNoReal;
}

std::vector<OccupancyGroup> groups_of(const Trace& trace, const Rank& rank, const StepChoice& choice,
                                      std::int64_t& compute) {
  const trace::EventTable& e = rank.events;
  const ArgReader occupancies(trace, rank, "est. achieved occupancy %"),
      blocks_per_sm(trace, rank, "blocks per SM");
  trace::AskedOnce own(trace.strings, is_own);
  std::unordered_map<StringId, std::size_t> index;
  std::vector<OccupancyGroup> groups;
  for (const Row row : rank.device_rows()) {
    if (e.work[row] != trace::Work::compute || !choice.includes(rank, row)) continue;
    const std::int64_t length = e.duration(row);
    report::add_to(compute, length);
    if (!own(e.name[row])) continue;
    const auto [found, added] = index.try_emplace(e.name[row], groups.size());
    if (added) groups.push_back({e.name[row]});
    OccupancyGroup& group = groups[found->second];
    ++group.count;
    report::add_to(group.total, length);
    if (group.longest == kNoRow || length > e.duration(group.longest)) group.longest = row;
    const auto occupancy = occupancies.real(row), blocks = blocks_per_sm.real(row);
    if (!occupancy || !blocks || !std::isfinite(*blocks) || !(*occupancy > 0) || !(*blocks > 0)) continue;
    report::add_to(group.known, length);
    group.occupancy += std::min(*occupancy / 100, 1.0) * static_cast<double>(length);
    group.blocks += *blocks * static_cast<double>(length);
  }
  std::sort(groups.begin(), groups.end(), [&](const OccupancyGroup& a, const OccupancyGroup& b) {
    return a.total != b.total ? a.total > b.total : trace.text(a.name) < trace.text(b.name);
  });
  return groups;
}

}  // namespace

void add_low_occupancy(std::vector<LowOccupancy>& kernels, const Trace& trace, const Rank& rank,
                       const StepChoice& choice) {
  std::int64_t compute = 0;
  for (const OccupancyGroup& group : groups_of(trace, rank, choice, compute)) {
    const auto known = static_cast<double>(group.known);
    if (group.known <= 0 || group.occupancy / known >= kLow || group.blocks / known < 1) continue;
    kernels.push_back({rank.rank, std::string(trace.text(group.name)), group.count, group.total,
                       report::ratio(group.total, compute), group.occupancy / known, group.blocks / known,
                       limit_of(trace, rank, group.longest), bandwidth_share(trace, rank, group.longest)});
  }
}

const report::Sheet<LowOccupancy> kLowOccupancySheet{
    "Kernels of low occupancy",
    report::Shape::table,
    {report::rank_field<LowOccupancy>(&LowOccupancy::rank),
     {"name", &LowOccupancy::name},
     {"count", &LowOccupancy::count, Unit::count},
     {"total", &LowOccupancy::total, Unit::ns},
     {"share", &LowOccupancy::share, Unit::share, Role::share},
     {"occupancy", &LowOccupancy::occupancy, Unit::share},
     {"blocks_per_sm", &LowOccupancy::blocks_per_sm, Unit::none},
     {"limited_by", report::named<&LowOccupancy::limit>, Role::value},
     {"bandwidth_share", &LowOccupancy::bandwidth_share, Unit::share}}};

}  // namespace stepscope::analyze
