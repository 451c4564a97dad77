// The type stepscope._collect.Block: blocks with args, the base of annotations.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace stepscope::collect {

/// Adds the type to the module. False: a Python error is set.
bool add_block(PyObject* module);

}  // namespace stepscope::collect
