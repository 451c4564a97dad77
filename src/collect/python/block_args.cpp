#include "collect/python/block_args.h"

#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "collect/python/members.h"

namespace stepscope::collect {
namespace {

constexpr std::array<const char*, kParameters> kNames = {"cat",       "name",       "epoch", "step",
                                                         "image_idx", "image_size", "args",  "enable"};
std::array<PyObject*, kParameters> names;  ///< the same, interned

/// Adds a value of the dict; `otherwise` if it is not there. One that is null, or None among the known, is
/// left out.
bool add_fixed(Json& json, PyObject* fixed, Parameter parameter, PyObject* otherwise) {
  PyObject* name = names[parameter];
  PyObject* value = PyDict_GET_SIZE(fixed) == 0 ? nullptr : PyDict_GetItemWithError(fixed, name);
  if (value == nullptr && PyErr_Occurred() != nullptr) return false;
  if (value == nullptr) value = otherwise;
  return value == nullptr || (value == Py_None && parameter != kCat) || add_member(json, name, value);
}

/// Whether text_of_fixed() has put it first.
bool is_first(PyObject* name) {
  return PyUnicode_Check(name) && (is_named(kCat, name) || std::ranges::any_of(kKnown, [&](Parameter known) {
                                     return is_named(known, name);
                                   }));
}

/// Whether a line of the environment gives the variable a value that means no.
bool is_shut(const char* line, std::string_view variable) {
  constexpr std::array kShut = {"0", "false", "off", "no"};
  if (std::strncmp(line, variable.data(), variable.size()) != 0 || line[variable.size()] != '=') return false;
  const char* value = line + variable.size() + 1;
  return std::ranges::any_of(kShut, [&](const char* one) { return ::strcasecmp(one, value) == 0; });
}

}  // namespace

/// Blocks ask for each that is made: getenv() would go through the environment for each variable.
bool annotations_are_off() {
  bool are_off = false;
  for (char** line = environ; line != nullptr && *line != nullptr && !are_off; ++line)
    are_off = (**line == 'S' && is_shut(*line, "STEPSCOPE_IO")) ||
              (**line == 'D' && is_shut(*line, "DFTRACER_ENABLE"));
  return are_off;
}

bool make_parameters() {
  for (std::size_t i = 0; i < kParameters; ++i)
    if ((names[i] = PyUnicode_InternFromString(kNames[i])) == nullptr) return false;
  return true;
}

PyObject* name_of(Parameter parameter) { return names[parameter]; }

bool is_named(Parameter parameter, PyObject* name) {
  return names[parameter] == name ||
         (PyUnicode_CHECK_INTERNED(name) == 0 && PyUnicode_Compare(names[parameter], name) == 0);
}

bool take_positional(Given& given, const Taken& taken, PyObject* const* values, Py_ssize_t count) {
  if (count > static_cast<Py_ssize_t>(taken.parameters.size())) {
    PyErr_Format(PyExc_TypeError, "%s() takes at most %zu arguments (%zd given)", taken.function,
                 taken.parameters.size(), count);
    return false;
  }
  for (Py_ssize_t i = 0; i < count; ++i) given[taken.parameters[static_cast<std::size_t>(i)]] = values[i];
  return true;
}

bool take_named(Given& given, const Taken& taken, PyObject* name, PyObject* value) {
  const auto one =
      std::ranges::find_if(taken.parameters, [&](Parameter parameter) { return is_named(parameter, name); });
  if (one != taken.parameters.end() && given[*one] == nullptr) {
    given[*one] = value;
    return true;
  }
  PyErr_Format(PyExc_TypeError, "%s() got %s argument '%U'", taken.function,
               one == taken.parameters.end() ? "an unexpected keyword" : "multiple values for", name);
  return false;
}

PyObject* values_of(const Given& given) {
  PyObject* values = PyDict_New();
  bool is_good = values != nullptr;
  for (const Parameter known : kKnown)
    if (is_good && given[known] != nullptr && given[known] != Py_None)
      is_good = PyDict_SetItem(values, names[known], given[known]) == 0;
  PyObject* others = given[kArgs];
  const int has_others = !is_good || others == nullptr ? 0 : PyObject_IsTrue(others);
  if (has_others == 1 && PyDict_CheckExact(others)) {
    is_good = PyDict_Update(values, others) == 0;
  } else if (has_others == 1) {
    PyObject* done = PyObject_CallMethod(values, "update", "O", others);
    is_good = done != nullptr;
    Py_XDECREF(done);
  }
  if (!is_good || has_others < 0) Py_CLEAR(values);
  return values;
}

PyObject* text_of_fixed(PyObject* cat, PyObject* fixed) {
  Members members;
  Json& json = members.json;
  bool is_good = add_fixed(json, fixed, kCat, cat);
  for (const Parameter known : kKnown) is_good = is_good && add_fixed(json, fixed, known, nullptr);
  PyObject *name = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; is_good && PyDict_Next(fixed, &at, &name, &value) != 0;)
    is_good = is_first(name) || add_member(json, name, value);
  return is_good ? str_of(json) : nullptr;
}

}  // namespace stepscope::collect
