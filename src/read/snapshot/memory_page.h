// Pages that PyTorch's memory_viz wrote: trace_plot and segment_plot put the snapshot into them, in base64.
#pragma once

#include <memory>
#include <string_view>

#include "base/byte_source.h"

namespace stepscope::read {

/// Whether a file that begins with `head` is such a page.
bool is_memory_page(std::string_view head);

/// The snapshot in a page, or nullptr if its first MiB does not begin one.
std::unique_ptr<ByteSource> snapshot_of_page(std::unique_ptr<ByteSource> page);

}  // namespace stepscope::read
