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

/// Options in a sentence as keywords: "--tb-compat" is tb_compat, "--run N" is run=N.
std::string in_python(std::string_view sentence);
std::vector<std::string> in_python(const std::vector<std::string>& sentences);
/// Sentences about the trace's files: its notes, then each damaged file.
std::vector<std::string> notes_on(const trace::Trace& trace);
/// The damaged files, a sentence each.
std::vector<std::string> damage(const trace::Trace& trace);
/// Like os.fsdecode: a path may contain any bytes.
nanobind::object path(const std::string& raw);

nanobind::list analyses();
/// Ids of rules and health rows, each with its one line.
nanobind::list rules();
nanobind::list ranks(const trace::Trace& trace);
/// Those of the paths that are files which could be read, but are not part of the trace.
nanobind::list unused(const trace::Trace& trace, const std::vector<std::string>& paths);

}  // namespace stepscope::python
