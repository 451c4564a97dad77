// What calls are called: texts that are made once and never freed, so that a call keeps an address.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>
#include <string>
#include <vector>

namespace stepscope::collect {

/// A function or a module that is called. Never freed.
struct Called {
  std::string name;
  std::string path;  ///< of a module: where its root has it; "": it is the root, or not known
  std::uint8_t scope;
};

/// Before the first name of `recording`, or when that goes on. False: this Python has no place for our
/// numbers on code.
bool begin_names(const void* recording);

/// "file(line): name"; `module_call()` for the code of nn.Module's call.
const Called* called(PyCodeObject* code);
/// "<built-in function len>". `function`: a PyCFunction.
const Called* called_builtin(PyObject* function);

/// What `called` returns where the module, by its frame, is to be asked for its name.
const Called* module_call();
/// "nn.Module: Linear_0" of the frame's `self`. `outermost`: no other module's call is around it.
const Called* called_module(PyFrameObject* frame, bool outermost);
/// nn.Module's call, where PyTorch is imported; borrowed, else null.
PyCodeObject* code_of_module_call();

/// The entries of sys.path, each with a slash at its end, the longest first.
std::vector<std::string> paths_of_python();
/// The path without the first of `prefixes` that it begins with.
std::string shortened(const std::string& path, const std::vector<std::string>& prefixes);

}  // namespace stepscope::collect
