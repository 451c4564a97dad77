// Opening traces and asking questions. Invalid questions and unreadable files throw; nothing here uses
// Python.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "python/objects.h"

namespace stepscope::python {

/// Becomes the exception of that name in stepscope._errors.
struct Refusal : std::runtime_error {
  Refusal(const char* name, const std::string& sentence) : std::runtime_error(sentence), python_name(name) {}
  const char* python_name;
};

std::shared_ptr<Trace> open(std::vector<std::string> paths, std::int64_t threads, std::int64_t run);
Report analyze(const Trace& trace, const std::string& name, const Given& given);
/// The answer in Holistic Trace Analysis' form of that name; `given` are the params of its question.
Report as_hta(const Trace& trace, const std::string& form, const Given& given);
/// What changed from `a` to `b`; params "step" and "skip".
Report diff(const Trace& a, const Trace& b, const Given& given);
/// Draws answers into a copy of a rank's file. `what` names the drawings; empty: all. Returns notes about the
/// copy.
std::vector<std::string> overlay(const Trace& trace, std::size_t rank, const std::vector<std::string>& what,
                                 const Given& given, const std::string& output);
/// The report page; params "step" and "top".
Page page(const Trace& trace, const Given& given, bool everything);

}  // namespace stepscope::python
