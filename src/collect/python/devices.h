// GPUs, switched on and off from Python.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace stepscope::collect {

/// attach_devices(path): loads the plugin that is there and sees what devices do; returns what it does not
/// see, or "".
PyObject* attach_devices(PyObject* module, PyObject* path);
/// All that has ended is in the recording.
PyObject* flush_devices(PyObject* module, PyObject* nothing);
/// All that has ended is in the recording, and devices are seen no more.
PyObject* detach_devices(PyObject* module, PyObject* nothing);

}  // namespace stepscope::collect
