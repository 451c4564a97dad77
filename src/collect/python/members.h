// Args of ranges: the members of a JSON object, without its braces.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <array>
#include <cstddef>
#include <memory_resource>
#include <string>

namespace stepscope::collect {

using Json = std::pmr::string;

/// A text that takes no memory from the heap while it is short.
class Members {
 public:
  Members() : json(&memory_) { json.reserve(buffer_.size() / 2); }
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;

 private:
  std::array<char, 512> buffer_;
  std::pmr::monotonic_buffer_resource memory_{buffer_.data(), buffer_.size()};

 public:
  Json json;
};

/// A text's first characters; the rest is cut off.
inline constexpr Py_ssize_t kMaxCharacters = 1000;

/// Appends a number, a truth value, null or a text; anything else becomes its text. Scalars of NumPy and
/// PyTorch count as numbers. False: a Python error is set.
bool add_value(Json& json, PyObject* value);

/// Appends `"key":value`. False: a Python error is set.
bool add_member(Json& json, PyObject* key, PyObject* value);

/// The same of each item of a dict. False: a Python error is set.
bool add_members(Json& json, PyObject* values);

/// A str; null: a Python error is set.
PyObject* str_of(const Json& json);

/// The members of `text`, a str, and those of a dict. Null: a Python error is set.
PyObject* members_with(PyObject* text, PyObject* values);

}  // namespace stepscope::collect
