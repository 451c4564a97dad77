// What a block is called with: the args that DFTracer's functions take by name, and others.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <array>
#include <cstddef>
#include <span>

namespace stepscope::collect {

/// Parameters of Block(), of which update() takes those of kUpdate. The first four of these are args
/// themselves.
enum Parameter : std::size_t {
  kCat,
  kName,
  kEpoch,
  kStep,
  kImageIdx,
  kImageSize,
  kArgs,
  kEnable,
  kParameters
};

inline constexpr std::array kKnown = {kEpoch, kStep, kImageIdx, kImageSize};  ///< args themselves
inline constexpr std::array kBlock = {kCat, kName, kEpoch, kStep, kImageIdx, kImageSize, kEnable};
inline constexpr std::array kUpdate = {kEpoch, kStep, kImageIdx, kImageSize, kArgs};

using Given = std::array<PyObject*, kParameters>;  ///< by Parameter; null: not given

/// Whether STEPSCOPE_IO or DFTRACER_ENABLE says no.
bool annotations_are_off();

/// Makes the names. False: a Python error is set.
bool make_parameters();

/// What a function takes, in the order of positional arguments.
struct Taken {
  const char* function;
  std::span<const Parameter> parameters;
};

/// Takes arguments that have no name. False: a Python error is set.
bool take_positional(Given& given, const Taken& taken, PyObject* const* values, Py_ssize_t count);
/// Takes one that has. False: a Python error is set.
bool take_named(Given& given, const Taken& taken, PyObject* name, PyObject* value);

PyObject* name_of(Parameter parameter);
bool is_named(Parameter parameter, PyObject* name);

/// A dict of what is given of kKnown and in kArgs; null: a Python error is set. None is not given.
PyObject* values_of(const Given& given);

/// Members of a JSON object: the category, the known values, then the others of the dict. Null: a Python
/// error is set.
PyObject* text_of_fixed(PyObject* cat, PyObject* fixed);

}  // namespace stepscope::collect
