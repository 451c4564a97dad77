// What advice says of memory snapshots, for the headline and the rules.
#pragma once

#include <cstdint>
#include <string>

#include "advise/evidence.h"

namespace stepscope::advise {

/// Whether the rank's snapshot has events.
bool knows_history(const Evidence& e);

/// Who holds the memory at its peak, of the device with the highest: one or two sentences.
std::string memory_headline(const Evidence& e);

/// The place that holds most at the peak of a device; nullptr if nothing is held.
const analyze::HeldMemory* largest_holder(const Evidence& e, std::int64_t device);

/// A sentence if all memory within the process's reach is less than any device that trains has: " This
/// process could get only 1.4 GiB in all: …"; else "".
std::string who_else(const analyze::FailedAllocation& failed);

/// A size for people: "1.2 GiB".
std::string size(std::int64_t bytes);

/// The last allocation that failed; nullptr if none did.
const analyze::FailedAllocation* last_failure(const Evidence& e);

/// " of device 1" if the snapshot has several devices, else "".
std::string on_device(const Evidence& e, std::int64_t device);

/// Whether a device's segments can grow.
bool has_expandable(const Evidence& e, std::int64_t device);

/// The setting of the allocator that moves free memory where it is needed.
inline constexpr std::string_view kExpandable =
    "PYTORCH_ALLOC_CONF=expandable_segments:True (PYTORCH_CUDA_ALLOC_CONF before PyTorch 2.9)";

}  // namespace stepscope::advise
