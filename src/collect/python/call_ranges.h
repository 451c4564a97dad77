// The type stepscope._collect.CallRanges: what a decorated function begins for each call.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace stepscope::collect {

/// Adds the type to the module. False: a Python error is set.
bool add_call_ranges(PyObject* module);

}  // namespace stepscope::collect
