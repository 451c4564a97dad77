// Names of calls. Each is made once and never freed, so a call can store its address.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>
#include <string>
#include <vector>

namespace stepscope::collect {

/// A function or module that can be called. Never freed.
struct Called {
  std::string name;
  std::string path;  ///< of a module: its path in the root module; "": it is the root, or not known
  std::uint8_t scope;
};

/// Call it before the first name of `recording`, and when the recording resumes. False: this Python has no
/// free extra slot on code objects.
bool begin_names(const void* recording);

/// "file(line): name"; `module_call()` for the code of nn.Module's call.
const Called* called(PyCodeObject* code);
/// "<built-in function len>". `function`: a PyCFunction.
const Called* called_builtin(PyObject* function);

/// Placeholder that `called` returns for nn.Module's call; get the name from called_module().
const Called* module_call();
/// "nn.Module: Linear_0" for the frame's `self`. `outermost`: no call of another module is around it.
const Called* called_module(PyFrameObject* frame, bool outermost);
/// The code of nn.Module's call, borrowed; null if PyTorch is not imported.
PyCodeObject* code_of_module_call();

/// The entries of sys.path, each with a final slash, longest first.
std::vector<std::string> paths_of_python();
/// The path without the first of `prefixes` that it begins with.
std::string shortened(const std::string& path, const std::vector<std::string>& prefixes);

}  // namespace stepscope::collect
