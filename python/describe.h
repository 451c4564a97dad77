// What can be asked and what was read, as plain Python dictionaries; python/stepscope makes its dataclasses
// of them.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "python/objects.h"

namespace stepscope::python {

/// As valid UTF-8.
std::vector<std::string> texts(const std::vector<std::string>& raw);

nanobind::list analyses();
nanobind::list ranks(const Trace& trace);

}  // namespace stepscope::python
