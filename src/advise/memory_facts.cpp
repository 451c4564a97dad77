#include "advise/memory_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/rules/constants.h"
#include "advise/say.h"
#include "analyze/memory/chosen_records.h"

namespace stepscope::advise {

std::string size(std::int64_t bytes) { return report::format_value(bytes, report::Unit::bytes); }

bool knows_history(const Evidence& e) {
  return std::ranges::none_of(
      e.mine(e.reports().snapshot.summary.faults, "Capture faults"),
      [](const auto* fault) { return fault->kind == analyze::CaptureFault::Kind::no_events; });
}

const analyze::HeldMemory* largest_holder(const Evidence& e, std::int64_t device) {
  for (const analyze::HeldMemory* held : e.mine(e.reports().snapshot.at_peak.held, "Held then, by place"))
    if (held->device == device) return held;
  return nullptr;
}

std::string who_else(const analyze::FailedAllocation& failed) {
  const std::int64_t reach = failed.reserved + failed.device_free;
  if (reach >= kSmallDevice) return "";
  return fmt::format(
      " This process could get only {} in all: if the device has more, see nvidia-smi for who else holds it.",
      size(reach));
}

const analyze::FailedAllocation* last_failure(const Evidence& e) {
  const auto failed = e.mine(e.reports().snapshot.failures.failed, "Failed allocations");
  return failed.empty() ? nullptr : failed.back();
}

std::string on_device(const Evidence& e, std::int64_t device) {
  const auto devices = e.mine(e.reports().snapshot.summary.devices, "Memory of each device");
  return devices.size() > 1 ? fmt::format(" of device {}", device) : "";
}

bool has_expandable(const Evidence& e, std::int64_t device) {
  return std::ranges::any_of(
      e.mine(e.reports().snapshot.summary.devices, "Memory of each device"),
      [&](const analyze::DeviceMemory* of) { return of->device == device && of->expandable; });
}

std::string memory_headline(const Evidence& e) {
  const analyze::DeviceMemory* most = nullptr;
  const auto devices = e.mine(e.reports().snapshot.summary.devices, "Memory of each device");
  for (const analyze::DeviceMemory* of : devices)
    if (most == nullptr || of->peak_requested > most->peak_requested) most = of;
  if (most == nullptr) return "The snapshot has no memory of a device.";
  std::string text = devices.size() > 1 ? fmt::format("Device {}: ", most->device) : "";
  if (const analyze::FailedAllocation* failed = last_failure(e);
      failed != nullptr && failed->device == most->device)
    text += fmt::format("an allocation of {} failed, with {} of the device free. Tensors asked for ",
                        size(failed->request), size(failed->device_free));
  else
    text += "tensors asked for ";
  text[0] = static_cast<char>(text[0] >= 'a' ? text[0] - 'a' + 'A' : text[0]);
  text += fmt::format("{} {}; the allocator held up to {} of the device.", size(most->peak_requested),
                      knows_history(e) ? "at the peak" : "when the snapshot was written",
                      size(most->peak_reserved));
  const analyze::HeldMemory* held = largest_holder(e, most->device);
  if (held == nullptr) return text;
  if (held->before == held->bytes && held->place == analyze::kBeforeRecording)
    return text + fmt::format(" {} of it were allocated before the recording.", size(held->bytes));
  return text + fmt::format(" The largest holder is {}: {}, {} of it.", held->place, size(held->bytes),
                            percent(held->share));
}

}  // namespace stepscope::advise
