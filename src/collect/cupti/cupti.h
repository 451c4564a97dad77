// What NVIDIA GPUs do, recorded through CUPTI beside the ops of the program. The functions never throw; what
// cannot be had stays away and is said in words.
#pragma once

#include <cstddef>

#pragma GCC visibility push(default)
extern "C" {
/// From here on kernels, copies, fills, calls of CUDA and waits are written into the recording that is on.
/// Loads CUPTI and takes its only place for a tool until detached. `options`: 0. Returns 0, or an errno with
/// the reason in `why`, which holds `bytes`. The first time it may take a second: not inside a measured step.
int stepscope_cupti_attach(unsigned options, char* why, std::size_t bytes);
/// All that is complete is in the recording when it returns. 0, or an errno.
int stepscope_cupti_flush(void);
/// Ends it. Wait for the devices first, as of what still runs no end is known; stop the recording after it.
int stepscope_cupti_detach(void);
}
#pragma GCC visibility pop
