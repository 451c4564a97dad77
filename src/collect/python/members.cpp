#include "collect/python/members.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

namespace stepscope::collect {
namespace {

constexpr Py_UCS4 kEllipsis = 0x2026;

bool is_plain(Py_UCS4 c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

void add_unit(Json& json, Py_UCS4 unit) {
  constexpr char kDigits[] = "0123456789abcdef";
  json +=
      {'\\', 'u', kDigits[unit >> 12], kDigits[unit >> 8 & 15], kDigits[unit >> 4 & 15], kDigits[unit & 15]};
}

void add_escaped(Json& json, Py_UCS4 c) {
  constexpr std::string_view kNamed = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
  const std::size_t at = c < 128 ? kNamed.find(static_cast<char>(c)) : std::string_view::npos;
  if (at != std::string_view::npos) {
    json += {'\\', kLetters[at]};
  } else if (c < 0x10000) {
    add_unit(json, c);
  } else {
    add_unit(json, 0xD800 + ((c - 0x10000) >> 10));
    add_unit(json, 0xDC00 + (c & 0x3FF));
  }
}

/// In ASCII, like json.dumps(), so that lone surrogates are kept.
void add_text(Json& json, PyObject* text, Py_ssize_t length) {
  const auto kind = PyUnicode_KIND(text);
  const void* data = PyUnicode_DATA(text);
  json += '"';
  for (Py_ssize_t i = 0; i < length; ++i) {
    const Py_ssize_t from = i;
    while (kind == PyUnicode_1BYTE_KIND && i < length && is_plain(PyUnicode_1BYTE_DATA(text)[i])) ++i;
    json.append(static_cast<const char*>(data) + from, static_cast<std::size_t>(i - from));
    if (i == length) break;
    const Py_UCS4 c = PyUnicode_READ(kind, data, i);
    if (is_plain(c))
      json += static_cast<char>(c);
    else
      add_escaped(json, c);
  }
}

void add_whole_text(Json& json, PyObject* text) {
  add_text(json, text, PyUnicode_GET_LENGTH(text));
  json += '"';
}

void add_cut_text(Json& json, PyObject* text) {
  if (PyUnicode_GET_LENGTH(text) <= kMaxCharacters) return add_whole_text(json, text);
  add_text(json, text, kMaxCharacters - 1);
  add_unit(json, kEllipsis);
  json += '"';
}

bool add_ascii(Json& json, PyObject* text) {
  Py_ssize_t length = 0;
  const char* bytes = text == nullptr ? nullptr : PyUnicode_AsUTF8AndSize(text, &length);
  if (bytes != nullptr) json.append(bytes, static_cast<std::size_t>(length));
  Py_XDECREF(text);
  return bytes != nullptr;
}

bool add_int(Json& json, PyObject* value) {
  int overflows = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflows);
  if (overflows != 0) return add_ascii(json, PyLong_Type.tp_repr(value));  // subclasses have their own str()
  char digits[24];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
  json.append(digits, end);
  return true;
}

/// As Python's repr() has it. JSON has no NaN and no infinity: they are texts.
bool add_float(Json& json, PyObject* value) {
  const double number = PyFloat_AS_DOUBLE(value);
  if (!std::isfinite(number)) return false;
  const double size = std::fabs(number);
  const bool is_fixed = size == 0 || (size >= 1e-4 && size < 1e16);
  char digits[32];
  const auto [end, error] =
      std::to_chars(digits, digits + sizeof digits, number,
                    is_fixed ? std::chars_format::fixed : std::chars_format::scientific);
  const std::string_view text(digits, end);
  json += text;
  if (is_fixed && text.find('.') == std::string_view::npos) json += ".0";
  return true;
}

/// False, perhaps with an error: it is no number that JSON has.
bool add_number(Json& json, PyObject* value) {
  if (PyBool_Check(value)) {
    json += value == Py_True ? "true" : "false";
    return true;
  }
  if (PyLong_Check(value)) return add_int(json, value);
  return PyFloat_Check(value) && add_float(json, value);
}

/// What a scalar of NumPy or PyTorch holds, else the value itself. Null: a Python error is set.
PyObject* item_of(PyObject* value) {
  static PyObject* const name = PyUnicode_InternFromString("item");
  PyObject* item = PyObject_GetAttr(value, name);
  if (item == nullptr) {
    if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) return nullptr;
    PyErr_Clear();
    Py_INCREF(value);
    return value;
  }
  PyObject* number = PyObject_CallNoArgs(item);
  Py_DECREF(item);
  return number;
}

bool add_object(Json& json, PyObject* value) {
  PyObject* number = item_of(value);
  const bool is_number = number != nullptr && add_number(json, number);
  Py_XDECREF(number);
  if (is_number) return true;
  for (PyObject* none : {PyExc_TypeError, PyExc_ValueError, PyExc_RuntimeError})
    if (PyErr_ExceptionMatches(none) != 0) PyErr_Clear();  // an array, or a tensor with several elements
  if (PyErr_Occurred() != nullptr) return false;
  PyObject* text = PyObject_Str(value);
  if (text == nullptr) return false;
  add_cut_text(json, text);
  Py_DECREF(text);
  return true;
}

bool add_key(Json& json, PyObject* key) {
  if (PyUnicode_CheckExact(key)) {
    add_whole_text(json, key);
    return true;
  }
  PyObject* text = PyObject_Str(key);
  if (text == nullptr) return false;
  add_whole_text(json, text);
  Py_DECREF(text);
  return true;
}

}  // namespace

bool add_value(Json& json, PyObject* value) {
  if (value == Py_None) {
    json += "null";
    return true;
  }
  if (PyUnicode_CheckExact(value)) {
    add_cut_text(json, value);
    return true;
  }
  const bool is_simple = PyBool_Check(value) || PyLong_CheckExact(value) ||
                         (PyFloat_CheckExact(value) && std::isfinite(PyFloat_AS_DOUBLE(value)));
  return is_simple ? add_number(json, value) : add_object(json, value);
}

bool add_member(Json& json, PyObject* key, PyObject* value) {
  Py_INCREF(value);  // str() of the key may change the dict that has it
  if (!json.empty()) json += ',';
  bool is_good = add_key(json, key);
  json += ':';
  is_good = is_good && add_value(json, value);
  Py_DECREF(value);
  return is_good;
}

bool add_members(Json& json, PyObject* values) {
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(values, &at, &key, &value) != 0;)
    if (!add_member(json, key, value)) return false;
  return true;
}

PyObject* str_of(const Json& json) {
  const auto length = static_cast<Py_ssize_t>(json.size());
  if (!std::ranges::all_of(json, [](char c) { return static_cast<unsigned char>(c) < 128; }))
    return PyUnicode_DecodeUTF8(json.data(), length, nullptr);
  PyObject* str = PyUnicode_New(length, 127);
  if (str != nullptr) std::memcpy(PyUnicode_DATA(str), json.data(), json.size());
  return str;
}

PyObject* members_with(PyObject* text, PyObject* values) {
  Py_ssize_t length = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(text, &length);
  if (bytes == nullptr) return nullptr;
  Members members;
  Json& json = members.json;
  json.append(bytes, static_cast<std::size_t>(length));
  return add_members(json, values) ? str_of(json) : nullptr;
}

}  // namespace stepscope::collect
