// Values that a program hands to a range in Python, as a signature.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>

#include "collect/recorder.h"

namespace stepscope::collect {

/// Writes the signature (see record/signature.h) of a list or tuple of inputs and of a dict of keyword
/// values; either may be null. Returns its length; 0: none. No tensor is kept, and no operator runs. Tensors
/// of Python subclasses are not inspected.
std::uint32_t put_values(char (&bytes)[kMaxText], PyObject* inputs, PyObject* keywords);

}  // namespace stepscope::collect
