// The type record_function of stepscope._collect: a named range that holds its own begin.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace stepscope::collect {

/// Into the module; false: a Python error is set.
bool add_annotation(PyObject* module);

}  // namespace stepscope::collect
