// What findings quote: the call and line of code to blame, and the words that fit this rank's device.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/evidence.h"

namespace stepscope::advise {

/// What makes a call wait for the device.
enum class WaitKind : std::uint8_t {
  scalar,     ///< a value is read from a tensor
  shape,      ///< the size of an operator's result is needed
  to_host,    ///< a copy to the host
  to_device,  ///< a copy from the host
  asked,      ///< the program asks for it
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

/// "; the longest, 98.7 µs, ends at aten::embedding in step 1" of the idle stretches of one cause, or
/// else of those in which the host had not launched yet; "" when there is none.
std::string longest_idle(const Evidence& evidence, std::optional<IdleCause> cause = std::nullopt);

/// Bytes per second that a copy from pinned host memory reaches on this device, by its generation.
double pinned_rate(const Evidence& evidence);

/// Bytes per second that each rank of a collective moves at least over the links this kind of device usually
/// has: a fabric within a host, PCIe for devices without one, the network beyond `ranks` = 8.
double expected_bus_rate(const Evidence& evidence, std::int64_t ranks);

/// The option that makes the optimizer whose range has this name, "Optimizer.step#SGD.step", update many
/// parameters with one launch.
std::string all_at_once(std::string_view range);

/// A text with the words that fit the device: of "<<on NVIDIA||on AMD||elsewhere>>" one.
std::string worded(const Evidence& evidence, std::string_view text);

/// How this device gets matrix products in lower precision: the option in PyTorch.
std::string lower_precision(const Evidence& evidence);

/// What a captured sequence of launches is called on this device: "CUDA graphs".
std::string device_graphs(const Evidence& evidence);

}  // namespace stepscope::advise
