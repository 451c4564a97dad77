// The nodes of CUDA graphs, as they are made. A replay has no ops around it: a kernel's op is the one that
// made its node.
#pragma once

#include <cstdint>

#include "collect/cupti/library.h"

namespace stepscope::collect::cupti {

/// Writes what the callback tells into the active recording. Called on the thread that makes the node.
void record_graph_node(const Library& library, std::uint32_t callback, const void* data);

}  // namespace stepscope::collect::cupti
