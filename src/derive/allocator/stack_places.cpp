#include "derive/allocator/stack_places.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "derive/places/own_frames.h"

namespace stepscope::derive {
namespace {

using trace::Frame;

/// Parts of the names of functions that record the stack, allocate, dispatch or interpret.
constexpr std::string_view kHiddenNames[] = {"unwind::unwind",  "CapturedTraceback::gather",
                                             "gather_with_cpp", "CachingAllocator",
                                             "_start",          "__libc_start",
                                             "_PyEval_",        "PyEval_",
                                             "PyObject_",       "_PyFunction_",
                                             "PyFunction_",     "PyRun_",
                                             "Py_RunMain",      "Py_BytesMain",
                                             "pymain_"};
constexpr std::string_view kHiddenFiles[] = {
    "core/boxing",    "/Register",      "/Redispatch",    "pythonrun.c", "Modules/main.c",
    "Objects/call.c", "methodobject.c", "pycore_ceval.h", "ceval.c",     "cpython/abstract.h"};

bool is_python(std::string_view file) {
  return file.ends_with(".py") || (file.starts_with('<') && file.ends_with('>'));
}

/// A C++ function without its parameters; "(anonymous namespace)" stays.
std::string_view without_parameters(std::string_view name) {
  for (std::size_t at = name.find('('); at != name.npos; at = name.find('(', at + 1))
    if (at > 0 && !name.substr(at).starts_with("(anonymous namespace)") &&
        !name.substr(0, at).ends_with("operator"))
      return name.substr(0, at);
  return name;
}

/// The backward of an operator: "torch::autograd::generated::MulBackward0::apply(...)".
bool is_backward(std::string_view name) { return has(name, "Backward") && has(name, "::apply("); }

/// "MulBackward0" of "torch::autograd::generated::MulBackward0::apply(...)".
std::string backward_of(std::string_view name) {
  name = name.substr(0, name.find("::apply("));
  const std::size_t colons = name.rfind("::");
  return std::string(colons == name.npos ? name : name.substr(colons + 2));
}

/// Of PyTorch, or of what starts a thread.
bool is_framework(std::string_view name) {
  constexpr std::string_view kBegins[] = {
      "at::", "c10::", "torch::", "c10d::", "caffe2::", "std::", "pybind11::", "THP"};
  constexpr std::string_view kThreads[] = {"clone",    "clone3",       "__clone",
                                           "__clone3", "start_thread", "execute_native_thread_routine"};
  if (name.starts_with("void ")) name.remove_prefix(5);
  return std::ranges::any_of(kBegins, [&](std::string_view begin) { return name.starts_with(begin); }) ||
         std::ranges::find(kThreads, name) != std::end(kThreads);
}

/// A name of a readable length: both ends of a name of C++ tell it from others.
std::string shown(std::string_view name) {
  constexpr std::size_t kMax = 1000, kFirst = 600, kLast = 300;
  if (name.size() <= kMax) return std::string(name);
  return fmt::format("{}…{}", name.substr(0, kFirst), name.substr(name.size() - kLast));
}

bool any_in(std::string_view text, std::span<const std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return has(text, part); });
}

}  // namespace

StackPlaces::StackPlaces(const trace::Trace& trace, const trace::Snapshot& snapshot)
    : trace_(trace), stacks_(snapshot.stacks) {
  classes_.reserve(stacks_.frames.size());
  for (const Frame& frame : stacks_.frames) {
    const std::string_view file = trace.text(frame.file), name = trace.text(frame.name);
    Class of = native;
    if (is_python(file))
      of = is_own_file(file) && !file.starts_with("<frozen") ? own : library;
    else if (name.empty() || any_in(name, kHiddenNames) || any_in(file, kHiddenFiles))
      of = hidden;
    else if (is_backward(name))
      of = backward;
    else if (is_framework(name))
      of = framework;
    classes_.push_back(of);
  }
}

bool StackPlaces::has_python(trace::StackId stack) const {
  return std::ranges::any_of(stacks_[stack], [&](trace::FrameId f) { return classes_[f] >= library; });
}

bool StackPlaces::has_optimizer(trace::StackId stack) const {
  return std::ranges::any_of(stacks_[stack], [&](trace::FrameId f) {
    return classes_[f] == library && has(trace_.text(stacks_.frames[f].file), "torch/optim/");
  });
}

const Frame* StackPlaces::frame_of(trace::StackId stack) const {
  const Frame* best = nullptr;
  Class found = hidden;
  for (const trace::FrameId f : stacks_[stack]) {
    if (classes_[f] <= found) continue;
    found = classes_[f];
    best = &stacks_.frames[f];
  }
  return best;
}

std::string StackPlaces::text(const Frame& frame, bool line) const {
  const std::string file = shown(trace_.text(frame.file));
  const std::string name = shown(trace_.text(frame.name));
  if (!is_python(file)) return is_backward(name) ? backward_of(name) : std::string(without_parameters(name));
  return line ? fmt::format("{}({}): {}", file, frame.line, name) : fmt::format("{}: {}", file, name);
}

std::string StackPlaces::place(trace::StackId stack) const {
  const Frame* frame = frame_of(stack);
  return frame == nullptr ? "" : text(*frame, true);
}

std::string StackPlaces::function(trace::StackId stack) const {
  const Frame* frame = frame_of(stack);
  return frame == nullptr ? "" : text(*frame, false);
}

std::string StackPlaces::folded(trace::StackId stack) const {
  std::string out;
  const auto frames = stacks_[stack];
  constexpr std::size_t kMax = std::size_t{1} << 16;
  for (std::size_t i = frames.size(); i-- > 0 && out.size() < kMax;) {
    if (classes_[frames[i]] == hidden) continue;
    std::string frame = text(stacks_.frames[frames[i]], true);
    std::ranges::replace(frame, ';', ':');
    if (!out.empty()) out += ';';
    out += frame;
  }
  return out;
}

}  // namespace stepscope::derive
