// The analyses and the ranks of a trace as plain Python dictionaries, from which python/stepscope makes its
// dataclasses.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <vector>

#include "python/objects.h"

namespace stepscope::python {

/// The texts as valid UTF-8.
std::vector<std::string> texts(const std::vector<std::string>& raw);

/// Options in a sentence as keywords: "--tb-compat" is tb_compat.
std::string in_python(std::string_view sentence);
/// Like os.fsdecode: a path may contain any bytes.
nanobind::object path(const std::string& raw);

nanobind::list analyses();
/// Ids of rules and health rows, each with its one line.
nanobind::list rules();
nanobind::list ranks(const trace::Trace& trace);

}  // namespace stepscope::python
