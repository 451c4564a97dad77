// The types stepscope._collect.Block and .Node: blocks with args, the bases of annotations.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace stepscope::collect {

/// Adds the types to the module. False: a Python error is set.
bool add_block(PyObject* module);

}  // namespace stepscope::collect
