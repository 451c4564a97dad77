// Args of ranges: the members of a JSON object, without its braces.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <string>

namespace stepscope::collect {

/// A text's first characters; the rest is cut off.
inline constexpr Py_ssize_t kMaxCharacters = 1000;

/// Appends a number, a truth value, null or a text; anything else becomes its text. Scalars of NumPy and
/// PyTorch count as numbers. False: a Python error is set.
bool add_value(std::string& json, PyObject* value);

/// Appends `"key":value`. False: a Python error is set.
bool add_member(std::string& json, PyObject* key, PyObject* value);

/// The same of each item of a dict. False: a Python error is set.
bool add_members(std::string& json, PyObject* values);

/// A str; null: a Python error is set.
PyObject* str_of(const std::string& json);

/// The members of `text`, a str, and those of a dict. Null: a Python error is set.
PyObject* members_with(PyObject* text, PyObject* values);

}  // namespace stepscope::collect
