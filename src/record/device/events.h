// What devices did and the calls that started it, as torch.profiler's function events have them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "record/device/links.h"
#include "record/interned.h"
#include "record/recording.h"

namespace stepscope::record {

struct DeviceEvent {
  enum class Kind : std::uint8_t {
    call,       ///< of CUDA, on the thread that made it
    work,       ///< a kernel, a copy or a fill
    annotation  ///< of a stream: from the first to the last of what was started right inside a range
  } kind;
  std::int64_t begin_ns, end_ns;  ///< since 1970
  std::uint32_t name;             ///< of `names`
  std::uint32_t thread;           ///< of a call: the kernel's id
  std::int64_t device, stream;    ///< -1: a call; no stream
  std::int64_t launcher = 0;      ///< of work: id of the op that started it; 0: none
};

/// In the order in which devices told of them, annotations last. `ranges` are the ops and ranges of the
/// recording; an annotation's name is its index in `annotations`.
std::vector<DeviceEvent> device_events(const Recording& recording, std::vector<HostRange> ranges,
                                       std::span<const std::string_view> annotations, Interned& names);

}  // namespace stepscope::record
