// Opening and asking, with wrong questions and unreadable files as C++ exceptions; no Python in here.
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

std::shared_ptr<Trace> open(std::vector<std::string> paths, std::int64_t threads);
Report analyze(const Trace& trace, const std::string& name, const Given& given);
/// Holistic Trace Analysis' form of that name, of the params of its question.
Report as_hta(const Trace& trace, const std::string& form, const Given& given);
/// What changed from `a` to `b`, of "step" and "skip".
Report diff(const Trace& a, const Trace& b, const Given& given);
/// Draws answers into a copy of a rank's file: `what` names drawings, none is all that can be drawn. Returns
/// what is to be said of it.
std::vector<std::string> overlay(const Trace& trace, std::size_t rank, const std::vector<std::string>& what,
                                 const Given& given, const std::string& output);
/// Of "step" and "top".
Page page(const Trace& trace, const Given& given, bool everything);

}  // namespace stepscope::python
