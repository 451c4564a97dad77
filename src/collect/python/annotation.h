// The type stepscope._collect.record_function: a named range that stores its own begin.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace stepscope::collect {

/// Adds the type to the module. False: a Python error is set.
bool add_annotation(PyObject* module);

}  // namespace stepscope::collect
