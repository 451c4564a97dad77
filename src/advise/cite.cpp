#include "advise/cite.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "report/units.h"

namespace stepscope::advise {
namespace {

using report::format_value;
using report::Ints;
using report::Table;
using report::Texts;
using report::Unit;

/// Operators that make the host wait, as people write them. `fetches` means that a value is read from a
/// tensor.
struct Written {
  std::string_view op, what;
  bool fetches;
};
constexpr Written kWritten[] = {
    {"aten::_local_scalar_dense", ".item()", true},
    {"aten::item", ".item()", true},
    {"aten::is_nonzero", "`if tensor:`", true},
    {"aten::equal", "torch.equal()", true},
    {"aten::nonzero", "nonzero() or indexing with a mask", false},
    {"aten::masked_select", "masked_select()", false},
    {"aten::_unique2", "unique()", false},
    {"aten::copy_", "a copy between host and device", false},
    {"aten::_to_copy", "a copy between host and device", false},
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// "train.py(36): f" as "train.py:36 (f)"; anything else as it is.
std::string placed(const std::string& source) {
  const std::size_t open = source.rfind('('), close = source.find("): ", open);
  if (open == std::string::npos || close == std::string::npos) return source;
  return fmt::format("{}:{} ({})", source.substr(0, open), source.substr(open + 1, close - open - 1),
                     source.substr(close + 3));
}

std::string remedy_of(std::string_view op, const std::string& what, bool fetches, const std::string& where) {
  if (op.empty() && contains(what, "synchronize"))
    return fmt::format("Take {}{} out of the step: results do not need it.", what, where);
  if (contains(what, "a copy between"))
    return fmt::format(
        "Make the copy{} asynchronous: from pinned memory (DataLoader(pin_memory=True)) with "
        ".to(device, non_blocking=True); keep .cpu() out of the step.",
        where);
  if (fetches)
    return fmt::format(
        "Keep the value on the device: drop {}{} or call it once every N steps (sum losses on the device, "
        "print "
        "their mean).",
        what, where);
  return fmt::format(
      "Avoid {}{}: the host waits to learn the size of its result. torch.where() or a fixed size needs no "
      "wait.",
      what, where);
}

WaitingCall cited(const std::string& call, const std::string& op, const std::string& source,
                  std::int64_t count, std::int64_t cost) {
  WaitingCall wait;
  bool fetches = op.empty();
  wait.what = op.empty() ? (contains(call, "Synchronize") ? "torch.cuda.synchronize()" : call) : op;
  for (const Written& known : kWritten) {
    if (known.op != op) continue;
    wait.what = known.what;
    fetches = known.fetches;
  }
  wait.where = source.empty() ? "" : " at " + placed(source);
  wait.remedy = remedy_of(op, wait.what, fetches, wait.where);
  wait.detail =
      fmt::format("{}{}{}, {} call{}, {}", call, op.empty() ? "" : " in " + op, wait.where,
                  format_value(count, Unit::count), count == 1 ? "" : "s", format_value(cost, Unit::ns));
  return wait;
}

/// The name of the rank's device with the most busy time, and its compute capability.
struct Device {
  std::string name;
  double capability = 0;
};

Device busiest_device(const Evidence& e) {
  Device device;
  const Table* table = table_of(e.reports().devices, "Devices");
  if (table == nullptr) return device;
  const Texts* names = texts_of(*table, "name");
  const Texts* capabilities = texts_of(*table, "compute_capability");
  const Ints* busy = ints_of(*table, "busy");
  std::int64_t most = -1;
  for (std::size_t row = 0;
       names != nullptr && capabilities != nullptr && busy != nullptr && row < names->size(); ++row) {
    if (!e.mine(*table, row) || (*busy)[row] <= most) continue;
    most = (*busy)[row];
    device = {(*names)[row], 0};
    const std::string& text = (*capabilities)[row];
    std::from_chars(text.data(), text.data() + text.size(), device.capability);
  }
  return device;
}

enum class Maker : std::uint8_t { unknown, nvidia, amd, intel };

Maker maker_of(const Device& device) {
  if (contains(device.name, "Intel")) return Maker::intel;
  if (contains(device.name, "AMD") || contains(device.name, "Instinct")) return Maker::amd;
  return device.capability > 0 || contains(device.name, "NVIDIA") ? Maker::nvidia : Maker::unknown;
}

}  // namespace

std::optional<WaitingCall> dearest_wait(const Evidence& e) {
  const Table* table = table_of(e.reports().synchronizations, "Calls that wait");
  const Ints* costs = table == nullptr ? nullptr : ints_of(*table, "cost");
  std::size_t dearest = 0;
  std::int64_t most = 0;
  for (std::size_t row = 0; costs != nullptr && row < costs->size(); ++row) {
    if (!e.mine(*table, row) || (*costs)[row] <= most) continue;
    most = (*costs)[row];
    dearest = row;
  }
  if (most == 0) return std::nullopt;
  const auto text = [&](std::string_view column) { return (*texts_of(*table, column))[dearest]; };
  return cited(text("call"), text("op"), text("source"), (*ints_of(*table, "count"))[dearest], most);
}

std::string longest_idle(const Evidence& e, std::string_view cause) {
  const Table* table = table_of(e.reports().idle, "Longest idle");
  const Texts* causes = table == nullptr ? nullptr : texts_of(*table, "cause");
  for (std::size_t row = 0; causes != nullptr && row < causes->size(); ++row) {
    const bool fits = cause.empty() ? (*causes)[row] != "pending" && (*causes)[row] != "input" &&
                                          (*causes)[row] != "sync" && (*causes)[row] != "refill"
                                    : (*causes)[row] == cause;
    const std::string& op = (*texts_of(*table, "op"))[row];
    if (!fits || !e.mine(*table, row) || op.empty()) continue;
    const std::string& step = (*texts_of(*table, "step"))[row];
    return fmt::format("; the longest, {}, ends at {}{}",
                       format_value((*ints_of(*table, "length"))[row], Unit::ns), op,
                       step.empty() ? "" : " in step " + step);
  }
  return "";
}

std::string device_graphs(const Evidence& e) {
  switch (maker_of(busiest_device(e))) {
    case Maker::nvidia:
      return "CUDA graphs";
    case Maker::amd:
      return "HIP graphs";
    default:
      return "launches captured as a graph, if the device has that,";
  }
}

double pinned_rate(const Evidence& e) {
  const Device device = busiest_device(e);
  constexpr double kGen3 = 12e9, kGen4 = 25e9, kGen5 = 50e9;  // PCIe, 16 lanes
  if (contains(device.name, "MI300")) return kGen5;
  if (maker_of(device) == Maker::amd) return kGen4;
  return device.capability >= 9 ? kGen5 : device.capability >= 8 ? kGen4 : kGen3;
}

double expected_bus_rate(const Evidence& e, std::int64_t ranks) {
  constexpr double kFabric = 100e9, kPcie = 10e9, kNetwork = 20e9;
  constexpr std::int64_t kMostInHost = 8;
  if (ranks > kMostInHost) return kNetwork;
  const Device device = busiest_device(e);
  if (maker_of(device) == Maker::amd) return contains(device.name, "MI") ? kFabric : kPcie;
  const double of_data_centres[] = {7.0, 8.0, 9.0, 10.0};
  return std::find(std::begin(of_data_centres), std::end(of_data_centres), device.capability) !=
                 std::end(of_data_centres)
             ? kFabric
             : kPcie;
}

std::string lower_precision(const Evidence& e) {
  const Device device = busiest_device(e);
  const Maker maker = maker_of(device);
  const bool nvidia = maker == Maker::nvidia;
  if (maker == Maker::intel) return "torch.autocast(\"xpu\", dtype=torch.bfloat16).";
  if (maker == Maker::amd) return "torch.autocast(\"cuda\", dtype=torch.bfloat16).";
  const bool volta = contains(device.name, "V100") || (device.capability >= 7 && device.capability < 8);
  if (nvidia && volta)
    return fmt::format(
        "torch.autocast(\"cuda\", dtype=torch.float16) with torch.amp.GradScaler(\"cuda\"): the matrix units "
        "of "
        "{} know float16, not bfloat16.",
        device.name);
  if (nvidia && device.capability >= 8)
    return "torch.autocast(\"cuda\", dtype=torch.bfloat16); for float32 that has to stay, "
           "torch.set_float32_matmul_precision(\"high\").";
  return "torch.autocast(device_type, dtype=torch.bfloat16), or float16 with torch.amp.GradScaler where the "
         "device has no bfloat16.";
}

}  // namespace stepscope::advise
