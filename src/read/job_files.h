// Which files belong together, known before they are read.
#pragma once

#include <cstdint>
#include <string>

namespace stepscope::read {

/// What a file's name and its first 64 KiB say.
enum class JobFile : std::uint8_t {
  other,       ///< JSON that is no recording, e.g. a program's settings
  alone,       ///< may be a recording, also a damaged one
  of_several,  ///< the files beside it belong to the same job: it names a rank of several, adds to other
               ///< files' ops (an execution trace), or is a recording of our own or DFTracer's, whose
               ///< processes share a folder
};
JobFile look_at(const std::string& path);

}  // namespace stepscope::read
