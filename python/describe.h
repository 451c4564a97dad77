// The analyses and the ranks of a trace as plain Python dictionaries, from which python/stepscope makes its
// dataclasses.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "python/objects.h"

namespace stepscope::python {

/// The texts as valid UTF-8.
std::vector<std::string> texts(const std::vector<std::string>& raw);

nanobind::list analyses();
nanobind::list ranks(const Trace& trace);

}  // namespace stepscope::python
