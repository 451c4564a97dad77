#include "advise/cite.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/places.h"
#include "base/text.h"
#include "report/units.h"

namespace stepscope::advise {
namespace {

using derive::CopyDirection;
using report::format_value;
using report::Ints;
using report::Table;
using report::Texts;
using report::Unit;

/// Operators that make the host wait, as people write them.
struct Written {
  std::string_view op, what;
  WaitKind kind;
};
constexpr Written kWritten[] = {
    {"aten::_local_scalar_dense", ".item()", WaitKind::scalar},
    {"aten::item", ".item()", WaitKind::scalar},
    {"aten::is_nonzero", "`if tensor:`", WaitKind::scalar},
    {"aten::equal", "torch.equal()", WaitKind::scalar},
    {"aten::nonzero", "nonzero() or indexing with a mask", WaitKind::shape},
    {"aten::index", "indexing with a mask", WaitKind::shape},
    {"aten::masked_select", "masked_select()", WaitKind::shape},
    {"aten::_unique2", "unique()", WaitKind::shape},
    {"aten::unique_dim", "unique()", WaitKind::shape},
    {"aten::unique_consecutive", "unique_consecutive()", WaitKind::shape},
    {"aten::repeat_interleave", "repeat_interleave() without output_size", WaitKind::shape},
};

/// Whether a frame is of code that profiles or measures a program: "profile.py(34): run_torch_profiler".
bool measures(std::string_view source) {
  return has(source, "rofiler") || has(source, "rofiling") || has(source, "enchmark");
}

std::string remedy_of(const WaitingCall& wait) {
  switch (wait.kind) {
    case WaitKind::scalar:
      return fmt::format(
          "Keep the value on the device: drop {}{} or call it once every N steps (sum losses on the device, "
          "print their mean). torch.cuda.set_sync_debug_mode(\"warn\") finds most such reads on NVIDIA and "
          "AMD.",
          wait.what, wait.where);
    case WaitKind::shape:
      return fmt::format(
          "Avoid {}{}: the host waits to learn the size of its result. torch.where(mask, a, b), "
          "nonzero_static(size=…) and repeat_interleave(output_size=…) do not wait.",
          wait.what, wait.where);
    case WaitKind::to_host:
      return fmt::format(
          "Copy{} into pinned memory with non_blocking=True, record an event, and read it one step later, "
          "after event.synchronize(); or keep .cpu() out of the step.",
          wait.where);
    case WaitKind::to_device:
      return fmt::format(
          "Make the copy{} asynchronous: from pinned memory (DataLoader(pin_memory=True)) with "
          ".to(device, non_blocking=True).",
          wait.where);
    case WaitKind::asked:
      break;
  }
  if (measures(wait.where))
    return fmt::format(
        "Take {}{} out of the step: it belongs to the code that measures, and runs without that code do not "
        "wait there.",
        wait.what, wait.where);
  return fmt::format(
      "Take {}{} out of the step: results do not need it. Measure time with "
      "torch.Event(enable_timing=True); switch off framework "
      "timers that synchronize (DeepSpeed wall_clock_breakdown, Megatron --timing-log-level 0).",
      wait.what, wait.where);
}

void name_wait(WaitingCall& wait, CopyDirection copy) {
  wait.what = !wait.op.empty()                      ? wait.op
              : has(wait.call, "Event")             ? "an event's synchronize()"
              : has(wait.call, "StreamSynchronize") ? "a stream's synchronize()"
              : has(wait.call, "Synchronize")       ? "the device's synchronize()"
                                                    : wait.call;
  for (const Written& known : kWritten) {
    if (known.op != wait.op) continue;
    wait.what = known.what;
    wait.kind = known.kind;
    return;
  }
  if (copy == CopyDirection::to_host) wait.kind = WaitKind::to_host, wait.what = "a copy to the host";
  if (copy == CopyDirection::to_device) wait.kind = WaitKind::to_device, wait.what = "a copy to the device";
}

/// The rank's device with the most busy time.
analyze::DeviceUse busiest_device(const Evidence& e) {
  const analyze::DeviceUse* busiest = nullptr;
  for (const analyze::DeviceUse* row : e.mine(e.reports().devices.devices, "Devices"))
    if (busiest == nullptr || row->busy > busiest->busy) busiest = row;
  return busiest == nullptr ? analyze::DeviceUse{} : *busiest;
}

enum class Maker : std::uint8_t { unknown, nvidia, amd, intel };

Maker maker_of(const analyze::DeviceUse& device) {
  if (has(device.name, "Intel")) return Maker::intel;
  if (has(device.name, "AMD") || has(device.name, "Instinct")) return Maker::amd;
  return device.compute_major > 0 || has(device.name, "NVIDIA") ? Maker::nvidia : Maker::unknown;
}

/// The rank's longest idle stretches of `cause`, longest first; without a cause those in which the host had
/// not launched yet.
std::vector<const analyze::IdleGap*> gaps_of(const Evidence& e, std::optional<IdleCause> cause) {
  std::vector<const analyze::IdleGap*> gaps = e.mine(e.reports().idle.gaps, "Longest idle stretches");
  std::erase_if(gaps, [&](const analyze::IdleGap* gap) {
    const bool late = gap->cause != IdleCause::pending && gap->cause != IdleCause::input &&
                      gap->cause != IdleCause::sync && gap->cause != IdleCause::refill;
    return !(cause ? gap->cause == *cause : late);
  });
  return gaps;
}

}  // namespace

std::vector<WaitingCall> waits_of(const Evidence& e) {
  std::vector<WaitingCall> waits;
  for (const analyze::Synchronization* own :
       e.mine(e.reports().synchronizations.calls, "Calls that wait for the device")) {
    if (own->cost <= 0) continue;
    WaitingCall wait;
    wait.call = own->call;
    wait.op = own->op;
    wait.count = own->count;
    wait.cost = own->cost;
    wait.bytes = std::max<std::int64_t>(0, own->bytes);
    name_wait(wait, own->direction);
    if (!own->source.empty()) wait.where = " at " + placed(own->source);
    wait.remedy = remedy_of(wait);
    wait.detail = fmt::format("{}{}{}, {} call{}, {}", wait.call, wait.op.empty() ? "" : " in " + wait.op,
                              wait.where, format_value(wait.count, Unit::count), wait.count == 1 ? "" : "s",
                              format_value(wait.cost, Unit::ns));
    waits.push_back(std::move(wait));
  }
  std::stable_sort(waits.begin(), waits.end(),
                   [](const WaitingCall& a, const WaitingCall& b) { return a.cost > b.cost; });
  return waits;
}

std::string longest_idle(const Evidence& e, std::optional<IdleCause> cause) {
  const auto gaps = gaps_of(e, cause);
  const auto gap = std::ranges::find_if(gaps, [](const analyze::IdleGap* one) { return !one->op.empty(); });
  if (gap == gaps.end()) return "";
  return fmt::format("; the longest, {}, ends at {}{}", format_value((*gap)->length, Unit::ns), (*gap)->op,
                     (*gap)->step.empty() ? "" : " in step " + (*gap)->step);
}

report::Moment longest_idle_moment(const Evidence& e, std::optional<IdleCause> cause) {
  const auto gaps = gaps_of(e, cause);
  return gaps.empty() ? report::Moment{} : report::Moment{gaps.front()->start, gaps.front()->length};
}

report::Moment typical_step_moment(const Evidence& e) {
  std::vector<const analyze::StepTime*> steps;
  for (const analyze::StepTime* step : e.mine(e.reports().steps.steps, "Step time by what the time went to"))
    if (!step->cut_off && step->number != report::kNoInt) steps.push_back(step);
  if (steps.empty()) return {};
  const auto middle = steps.begin() + std::ssize(steps) / 2;
  std::ranges::nth_element(steps, middle, {}, &analyze::StepTime::total);
  return {(*middle)->host_start, (*middle)->host_end - (*middle)->host_start};
}

std::string worded(const Evidence& e, std::string_view text) {
  std::string out;
  for (std::size_t from; (from = text.find("<<")) != std::string_view::npos;) {
    const std::size_t first = text.find("||", from), second = text.find("||", first + 2),
                      end = text.find(">>", from);
    CHECK(first < second && second < end && end != std::string_view::npos);
    const Maker maker = maker_of(busiest_device(e));
    out += text.substr(0, from);
    out += maker == Maker::nvidia ? text.substr(from + 2, first - from - 2)
           : maker == Maker::amd  ? text.substr(first + 2, second - first - 2)
                                  : text.substr(second + 2, end - second - 2);
    text.remove_prefix(end + 2);
  }
  return out.append(text);
}

std::string all_at_once(std::string_view range) {
  const std::size_t from = range.find('#');
  const std::string_view rest = from == std::string_view::npos ? "" : range.substr(from + 1),
                         name = rest.substr(0, rest.find('.'));
  for (const std::string_view fused : {"SGD", "Adam", "AdamW", "Adagrad"})
    if (name == fused)
      return fmt::format("torch.optim.{0}(..., fused=True), or foreach=True where PyTorch is older.", name);
  for (const std::string_view known :
       {"Adadelta", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop", "Adafactor"})
    if (name == known) return fmt::format("torch.optim.{}(..., foreach=True).", name);
  return fmt::format(
      "{}update many parameters with one launch: fused=True or foreach=True if the optimizer has them, "
      "torch._foreach_… functions in an optimizer of your own.",
      name.empty() ? "" : fmt::format("{}: ", name));
}

namespace {

bool has_needless_groups(const Evidence& e) {
  const std::int64_t groups = e.fact(&Facts::parameter_groups);
  return groups >= kManyGroups && groups >= 2 * e.fact(&Facts::different_groups);
}

}  // namespace

std::string needless_groups(const Evidence& e) {
  if (!has_needless_groups(e)) return "";
  const std::int64_t different = e.fact(&Facts::different_groups);
  return fmt::format(": it has {} parameter groups, of {} setting{}", e.fact(&Facts::parameter_groups),
                     different, different == 1 ? "" : "s");
}

std::string merged_groups(const Evidence& e) {
  if (!has_needless_groups(e)) return "";
  return fmt::format(
      "Merge its parameter groups into {}, one for each learning rate, weight decay and so on: foreach and "
      "fused "
      "optimizers run once per group. Then ",
      e.fact(&Facts::different_groups));
}

std::string device_graphs(const Evidence& e) {
  switch (maker_of(busiest_device(e))) {
    case Maker::nvidia:
      return "CUDA graphs";
    case Maker::amd:
      return "HIP graphs";
    default:
      return "device graphs (if supported)";
  }
}

double pinned_rate(const Evidence& e) {
  const analyze::DeviceUse device = busiest_device(e);
  constexpr double kGen3 = 12e9, kGen4 = 25e9, kGen5 = 50e9;  // PCIe, 16 lanes
  if (has(device.name, "MI300")) return kGen5;
  if (maker_of(device) == Maker::amd) return kGen4;
  return device.compute_major >= 9 ? kGen5 : device.compute_major >= 8 ? kGen4 : kGen3;
}

double expected_bus_rate(const Evidence& e, std::int64_t ranks) {
  constexpr double kFabric = 100e9, kPcie = 10e9, kNetwork = 20e9;
  constexpr std::int64_t kMaxInHost = 8;
  if (ranks > kMaxInHost) return kNetwork;
  const analyze::DeviceUse device = busiest_device(e);
  if (maker_of(device) == Maker::amd) return has(device.name, "MI") ? kFabric : kPcie;
  const bool of_data_centres =
      device.compute_minor == 0 && device.compute_major >= 7 && device.compute_major <= 10;
  return of_data_centres ? kFabric : kPcie;
}

std::string lower_precision(const Evidence& e) {
  const analyze::DeviceUse device = busiest_device(e);
  const Maker maker = maker_of(device);
  const bool nvidia = maker == Maker::nvidia;
  if (maker == Maker::intel) return "torch.autocast(\"xpu\", dtype=torch.bfloat16).";
  if (maker == Maker::amd) return "torch.autocast(\"cuda\", dtype=torch.bfloat16).";
  const bool volta = has(device.name, "V100") || device.compute_major == 7;
  if (nvidia && volta)
    return fmt::format(
        "torch.autocast(\"cuda\", dtype=torch.float16) with torch.amp.GradScaler(\"cuda\"): the matrix units "
        "of {} support float16, not bfloat16.",
        device.name);
  if (nvidia && device.compute_major >= 8)
    return "torch.autocast(\"cuda\", dtype=torch.bfloat16); where float32 has to stay, "
           "torch.set_float32_matmul_precision(\"high\").";
  return "torch.autocast(device_type, dtype=torch.bfloat16), or float16 with torch.amp.GradScaler if the "
         "device has no bfloat16.";
}

}  // namespace stepscope::advise
