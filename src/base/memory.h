// What the allocator keeps.
#pragma once

namespace stepscope {

/// Gives memory that was freed back to the system, so that it does not count while new columns are filled. A
/// few ms.
void release_free_memory();

}  // namespace stepscope
