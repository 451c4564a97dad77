// Programs that the program starts.
#pragma once

namespace stepscope::collect::posix {

/// Leaves a note beside the recordings if nothing can be preloaded into the program, so that its I/O is not
/// seen. `searched`: found as the shell finds it. May be called in the child of a vfork. errno is kept.
void about_to_start(const char* program, bool searched);

}  // namespace stepscope::collect::posix
