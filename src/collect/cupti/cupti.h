// Records the work of NVIDIA GPUs through CUPTI, beside the ops of the program. The functions never throw; a
// failure is returned with its reason as text.
#pragma once

#include <cstddef>

#pragma GCC visibility push(default)
extern "C" {
/// From now on, kernels, copies, fills, CUDA calls and waits are written into the active recording. Loads
/// CUPTI and occupies its only tool slot until detached. `options`: 0. Returns 0, or an errno with the reason
/// in `why`, which has room for `bytes`. The first call may take a second: do not make it in a measured step.
int stepscope_cupti_attach(unsigned options, char* why, std::size_t bytes);
/// Returns when all complete work is in the recording. 0, or an errno.
int stepscope_cupti_flush(void);
/// Ends what attach began. Synchronize the devices before it, else running work has no end; stop the
/// recording after it.
int stepscope_cupti_detach(void);
}
#pragma GCC visibility pop
