// What a file is, and which belong together, known before they are read.
#pragma once

#include <string>

namespace stepscope::read {

/// Whether a file's name or its first bytes say that the files beside it belong to the same job: it names a
/// rank of several, adds to other files' ops (an execution trace), or is a recording of our own, whose
/// processes share a folder.
bool is_of_several(const std::string& path);

/// Whether a file's first bytes are JSON that names nothing which recordings have: settings, a vocabulary.
bool is_other_json(const std::string& path);

}  // namespace stepscope::read
