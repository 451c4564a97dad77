// Memory of devices: what PyTorch's allocators report.
#pragma once

namespace stepscope::collect {

/// From now on, recordings of memory hold it. Covers the libraries that are loaded now: call it at each
/// start.
void watch_device_memory();

}  // namespace stepscope::collect
