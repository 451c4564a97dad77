// The type stepscope._collect.record_function: a named range that stores its own begin. Null, or false: a
// Python error is set.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace stepscope::collect {

/// Adds the type to the module.
bool add_annotation(PyObject* module);

/// A range that innermost_of(owner) finds while it is open. `told`: a str, the members of a JSON object.
PyObject* owned_range(PyObject* name, PyObject* owner, PyObject* told);
/// `in_coroutine`: others may run while it is open.
void begin_range(PyObject* range, bool in_coroutine);
void end_range(PyObject* range);

/// The innermost range of this thread or coroutine that `owner` has open; None if there is none.
PyObject* innermost_of(PyObject* owner);
/// What an owned range was told when it began.
PyObject* told_at_begin(PyObject* range);
/// Adds args to an owned range. It may keep `values`, a dict that nobody else changes.
bool add_to_range(PyObject* range, PyObject* values);

}  // namespace stepscope::collect
