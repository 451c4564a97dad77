// Quotes for findings: the call and line of code to blame, and the words that fit this rank's device.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/evidence.h"
#include "report/verdict.h"

namespace stepscope::advise {

/// Why a call waits for the device.
enum class WaitKind : std::uint8_t {
  scalar,     ///< a value is read from a tensor
  shape,      ///< the size of an operator's result is needed
  to_host,    ///< a copy to the host
  to_device,  ///< a copy from the host
  asked,      ///< the program calls synchronize
};

/// A row of `synchronizations`.
struct WaitingCall {
  WaitKind kind = WaitKind::asked;
  std::string call, op;
  std::int64_t count = 0, cost = 0, bytes = 0;
  std::string what;    ///< as a person writes it: ".item()", "torch.cuda.synchronize()"
  std::string where;   ///< " at train.py:36 (train_step)", "" without stacks
  std::string detail;  ///< "cudaStreamSynchronize in aten::item at train.py:36 (f), 96 calls, 4.72 ms"
  std::string remedy;  ///< a sentence
};
/// The rank's calls that cost idle time, most cost first.
std::vector<WaitingCall> waits_of(const Evidence& evidence);

/// "; the longest, 98.7 µs, ends at aten::embedding in step 1": the longest idle stretch of `cause`; without
/// a cause, the longest in which the host had not launched yet. "" if there is none.
std::string longest_idle(const Evidence& evidence, std::optional<IdleCause> cause = std::nullopt);

/// The same stretch, to be shown on the timeline; not known if there is none.
report::Moment longest_idle_moment(const Evidence& evidence, std::optional<IdleCause> cause = std::nullopt);
/// The rank's step of median length; not known if no step is complete.
report::Moment typical_step_moment(const Evidence& evidence);

/// Bytes per second that copies from pinned host memory reach, by the generation of the device.
double pinned_rate(const Evidence& evidence);

/// Bytes per second that each rank of a collective should reach over the usual links of this kind of device:
/// a fabric within a host, PCIe for devices without one, the network for more than 8 `ranks`.
double expected_bus_rate(const Evidence& evidence, std::int64_t ranks);

/// The option with which an optimizer updates many parameters per launch. `range`: "Optimizer.step#SGD.step".
std::string all_at_once(std::string_view range);

/// ": it has 198 parameter groups, of 12 different settings", or "" if few could be merged.
std::string needless_groups(const Evidence& evidence);
/// "Merge them into 12, one for each setting: foreach and fused optimizers run once per group. Then ", or "".
std::string merged_groups(const Evidence& evidence);

/// `text` with each "<<on NVIDIA||on AMD||elsewhere>>" replaced by the words for this device.
std::string worded(const Evidence& evidence, std::string_view text);

/// The PyTorch option for matrix products in lower precision on this device.
std::string lower_precision(const Evidence& evidence);

/// The name of captured launches on this device: "CUDA graphs".
std::string device_graphs(const Evidence& evidence);

}  // namespace stepscope::advise
