// Device work and the calls that started it, as in torch.profiler's function events.
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
    call,       ///< of CUDA, on the calling thread
    work,       ///< a kernel, a copy or a fill
    annotation  ///< per stream: spans the work that was launched directly inside a user range
  } kind;
  std::int64_t begin_ns, end_ns;  ///< since 1970
  std::uint32_t name;             ///< id in `names`
  std::uint32_t thread;           ///< of a call: the thread's kernel id
  std::int64_t device, stream;    ///< -1: a call, or no stream
  std::int64_t launcher = 0;      ///< of work: id of the op that launched it; 0: none
};

/// In the order of the device records, annotations last. `ranges` are the ops and ranges of the recording; an
/// annotation's `HostRange::name` is its index in `annotations`.
std::vector<DeviceEvent> device_events(const Recording& recording, std::vector<HostRange> ranges,
                                       std::span<const std::string_view> annotations, Interned& names);

}  // namespace stepscope::record
