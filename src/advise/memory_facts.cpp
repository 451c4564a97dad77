#include "advise/memory_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/say.h"

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

std::string memory_headline(const Evidence& e) {
  const analyze::DeviceMemory* most = nullptr;
  const auto devices = e.mine(e.reports().snapshot.summary.devices, "Memory of each device");
  for (const analyze::DeviceMemory* of : devices)
    if (most == nullptr || of->peak_requested > most->peak_requested) most = of;
  if (most == nullptr) return "The snapshot has no memory of a device.";
  std::string text = devices.size() > 1 ? fmt::format("Device {}: ", most->device) : "";
  text += most->ooms > 0 ? "an allocation failed. Tensors asked for " : "tensors asked for ";
  text[0] = static_cast<char>(text[0] >= 'a' ? text[0] - 'a' + 'A' : text[0]);
  text += fmt::format("{} at the peak; the allocator held up to {} of the device.",
                      size(most->peak_requested), size(most->peak_reserved));
  if (const analyze::HeldMemory* held = largest_holder(e, most->device); held != nullptr)
    text += fmt::format(" The largest holder is {}: {}, {} of it.", held->place, size(held->bytes),
                        percent(held->share));
  return text;
}

}  // namespace stepscope::advise
