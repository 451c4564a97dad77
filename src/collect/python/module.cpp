// The module stepscope._collect: the recorder's interface for Python. It depends neither on the engine nor on
// PyTorch; the PyTorch observer is loaded from its own shared object.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <dlfcn.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "collect/python/annotation.h"
#include "collect/python/block.h"
#include "collect/python/call_ranges.h"
#include "collect/python/calls.h"
#include "collect/python/members.h"
#include "collect/recorder.h"

namespace stepscope::collect {
namespace {

void* plugin = nullptr;
bool attached = false;

template <class Function>
Function found(const char* name) {
  return plugin == nullptr ? nullptr : reinterpret_cast<Function>(::dlsym(plugin, name));
}

/// Calls a function of the plugin, if devices are attached.
void call(const char* name) {
  const auto function = attached ? found<int (*)()>(name) : nullptr;
  if (function == nullptr) return;
  PyThreadState* const unlocked = PyEval_SaveThread();
  function();
  PyEval_RestoreThread(unlocked);
}

/// attach_devices(path): loads the plugin at `path` and records devices; returns what is not recorded, or "".
PyObject* attach_devices(PyObject*, PyObject* given) {
  PyObject* path = nullptr;
  if (PyUnicode_FSConverter(given, &path) == 0) return nullptr;
  if (plugin == nullptr) plugin = ::dlopen(PyBytes_AS_STRING(path), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  Py_DECREF(path);
  using Attach = int (*)(unsigned, char*, std::size_t);
  const auto attach = found<Attach>("stepscope_cupti_attach");
  if (attach == nullptr) return PyUnicode_FromFormat("devices are not recorded: %s", ::dlerror());
  char why[512] = "";
  PyThreadState* const unlocked = PyEval_SaveThread();
  const int error = attach(0, why, sizeof why);
  PyEval_RestoreThread(unlocked);
  attached = error == 0;
  if (attached) return PyUnicode_FromString("");
  return PyUnicode_FromFormat("devices are not recorded: %s", why[0] != '\0' ? why : std::strerror(error));
}

/// Writes all finished device work into the recording.
PyObject* flush_devices(PyObject*, PyObject*) {
  call("stepscope_cupti_flush");
  Py_RETURN_NONE;
}

/// Writes all finished device work into the recording and stops recording devices.
PyObject* detach_devices(PyObject*, PyObject*) {
  call("stepscope_cupti_detach");
  attached = false;
  Py_RETURN_NONE;
}

/// Errors that only this module raises, so they differ from any error that a signal handler raises during a
/// call.
PyObject* failed = nullptr;  // an OSError
PyObject* busy = nullptr;    // a RuntimeError

PyObject* done_or_raise(int error, const char* what) {
  if (error == 0) Py_RETURN_NONE;
  PyObject* text = PyUnicode_FromFormat("%s: %s", what, std::strerror(error));
  PyObject* arguments = text == nullptr ? nullptr : Py_BuildValue("(iN)", error, text);
  if (arguments != nullptr) PyErr_SetObject(failed, arguments);
  Py_XDECREF(arguments);
  return nullptr;
}

/// The path is a text, or the descriptor of an open file, which is duplicated.
int open_at(PyObject* place, unsigned megabytes, unsigned flags) {
  if (PyLong_Check(place) != 0)
    return stepscope_open_file(static_cast<int>(PyLong_AsLong(place)), megabytes, flags);
  PyObject* path = nullptr;
  if (PyUnicode_FSConverter(place, &path) == 0) return -1;
  const int error = stepscope_open(PyBytes_AS_STRING(path), megabytes, flags);
  Py_DECREF(path);
  return error;
}

PyObject* open(PyObject*, PyObject* arguments) {
  PyObject* place = nullptr;
  unsigned int megabytes = 0, flags = 0;
  if (PyArg_ParseTuple(arguments, "OII", &place, &megabytes, &flags) == 0) return nullptr;
  const int error = open_at(place, megabytes, flags);
  if (PyErr_Occurred() != nullptr) return nullptr;
  if (error == EBUSY) {
    PyErr_SetString(busy, "a recording is already running in this process; stop it first");
    return nullptr;
  }
  return done_or_raise(error, "the recording's file could not be created");
}

PyObject* start(PyObject*, PyObject*) { return done_or_raise(stepscope_start(), "no recording is open"); }
PyObject* stop(PyObject*, PyObject*) { return done_or_raise(stepscope_stop(), "no recording is open"); }

PyObject* metadata(PyObject*, PyObject* text) {
  Py_ssize_t length = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(text, &length);
  if (bytes == nullptr) return nullptr;
  if (length > record::kMaxMetadata) {
    PyErr_Format(PyExc_ValueError, "metadata of %zd bytes is longer than the maximum, %u bytes", length,
                 record::kMaxMetadata);
    return nullptr;
  }
  return done_or_raise(stepscope_metadata(bytes, static_cast<std::uint32_t>(length)),
                       "the recording has no room for the metadata");
}

PyObject* worker_of(PyObject*, PyObject* arguments) {
  unsigned int parent = 0, worker = 0;
  if (PyArg_ParseTuple(arguments, "II", &parent, &worker) == 0) return nullptr;
  return done_or_raise(stepscope_worker_of(parent, worker), "no recording is open");
}

PyObject* counter(PyObject*, PyObject* arguments) {
  const char* name = nullptr;
  Py_ssize_t length = 0;
  double value = 0;
  if (PyArg_ParseTuple(arguments, "s#d", &name, &length, &value) == 0) return nullptr;
  stepscope_counter(name, static_cast<std::uint32_t>(std::min<Py_ssize_t>(length, kMaxText)), value);
  Py_RETURN_NONE;
}

PyObject* flow(PyObject*, PyObject* arguments) {
  unsigned long long id = 0;
  int begins = 0;
  if (PyArg_ParseTuple(arguments, "Kp", &id, &begins) == 0) return nullptr;
  stepscope_flow(id, begins);
  Py_RETURN_NONE;
}

PyObject* range_begin(PyObject*, PyObject* name) {
  Py_ssize_t length = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(name, &length);
  if (bytes == nullptr) return nullptr;
  stepscope_range_begin(bytes, static_cast<std::uint32_t>(length));
  Py_RETURN_NONE;
}

PyObject* range_end(PyObject*, PyObject*) {
  stepscope_range_end();
  Py_RETURN_NONE;
}

/// One observer per process, never unloaded: PyTorch keeps its callbacks.
void* observer = nullptr;

/// Loads the observer if needed and registers its callbacks.
PyObject* attach_torch(PyObject*, PyObject* arguments) {
  PyObject* path = nullptr;
  int inputs = 0, with_memory = 0;
  if (PyArg_ParseTuple(arguments, "O&i|p", PyUnicode_FSConverter, &path, &inputs, &with_memory) == 0)
    return nullptr;
  if (observer == nullptr)
    observer = ::dlopen(PyBytes_AS_STRING(path), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  Py_DECREF(path);
  if (observer == nullptr) {
    PyErr_Format(PyExc_ImportError, "the observer for this PyTorch cannot be loaded: %s", ::dlerror());
    return nullptr;
  }
  const auto version = reinterpret_cast<std::uint32_t (*)()>(::dlsym(observer, "stepscope_torch_version"));
  const auto attach = reinterpret_cast<int (*)(int)>(::dlsym(observer, "stepscope_torch_attach"));
  const auto memory = reinterpret_cast<int (*)()>(::dlsym(observer, "stepscope_torch_memory"));
  if (version == nullptr || attach == nullptr || memory == nullptr || version() != record::kVersion) {
    PyErr_SetString(PyExc_ImportError,
                    "the observer for this PyTorch is from another version of stepscope; remove the folder "
                    "stepscope/observers in ~/.cache (or in XDG_CACHE_HOME) to have it compiled again");
    return nullptr;
  }
  if (attach(inputs) != 0) {
    PyErr_SetString(
        PyExc_RuntimeError,
        "PyTorch refused the observer, so operators cannot be recorded; use activities=[] to record only "
        "ranges, or backend=\"kineto\" to record with torch.profiler");
    return nullptr;
  }
  if (with_memory != 0 && memory() != 0)
    return PyUnicode_FromString(
        "memory is not recorded: another library has replaced PyTorch's CPU allocator");
  return PyUnicode_FromString("");
}

PyObject* call_observer(const char* name) {
  if (observer != nullptr)
    if (const auto function = reinterpret_cast<void (*)()>(::dlsym(observer, name))) function();
  Py_RETURN_NONE;
}
PyObject* pause_torch(PyObject*, PyObject*) { return call_observer("stepscope_torch_pause"); }
PyObject* detach_torch(PyObject*, PyObject*) { return call_observer("stepscope_torch_detach"); }

/// In one call, because Python runs signal handlers between calls, and they may raise.
PyObject* close(PyObject* module, PyObject*) {
  Py_XDECREF(python_stop(module, nullptr));
  Py_XDECREF(detach_devices(module, nullptr));
  (void)stepscope_stop();
  Py_XDECREF(detach_torch(module, nullptr));
  return PyLong_FromUnsignedLongLong(stepscope_close());
}

bool add(PyObject* module, const char* name, PyObject* object) {
  if (object == nullptr) return false;
  Py_INCREF(object);
  if (PyModule_AddObject(module, name, object) == 0) return true;
  Py_DECREF(object);
  return false;
}

bool add_errors(PyObject* module) {
  failed = PyErr_NewException("stepscope._collect.Failed", PyExc_OSError, nullptr);
  busy = PyErr_NewException("stepscope._collect.Busy", PyExc_RuntimeError, nullptr);
  return add(module, "Failed", failed) && add(module, "Busy", busy);
}

/// A profiler's __exit__, in C because a signal handler may raise before the first line of a Python
/// function.
PyObject* leave_block(PyObject*, PyObject* arguments) {
  if (PyTuple_GET_SIZE(arguments) != 4) {
    PyErr_SetString(PyExc_TypeError,
                    "__exit__() takes three arguments: exception type, exception and traceback");
    return nullptr;
  }
  PyObject* const profiler = PyTuple_GET_ITEM(arguments, 0);
  PyObject* const done = PyObject_CallMethod(profiler, "_leave", "OOO", PyTuple_GET_ITEM(arguments, 1),
                                             PyTuple_GET_ITEM(arguments, 2), PyTuple_GET_ITEM(arguments, 3));
  if (done != nullptr) return done;
  PyObject *type = nullptr, *error = nullptr, *where = nullptr;
  PyErr_Fetch(&type, &error, &where);
  if (PyObject* const ended = PyObject_CallMethod(profiler, "_end_by_force", nullptr))
    Py_DECREF(ended);
  else
    PyErr_Clear();
  PyErr_Restore(type, error, where);
  return nullptr;
}
PyMethodDef exit_method = {"__exit__", leave_block, METH_VARARGS, "Ends the profiler's block."};

bool add_exit(PyObject* module) {
  PyObject* const function = PyCFunction_New(&exit_method, nullptr);
  PyObject* const method = function == nullptr ? nullptr : PyInstanceMethod_New(function);
  Py_XDECREF(function);
  const bool added = add(module, "exit_method", method);
  Py_XDECREF(method);
  return added;
}

PyObject* told_members(PyObject*, PyObject* given) {
  PyObject *text = nullptr, *values = nullptr;
  if (PyArg_ParseTuple(given, "UO!", &text, &PyDict_Type, &values) == 0) return nullptr;
  return members_with(text, values);
}

PyMethodDef methods[] = {
    {"open", open, METH_VARARGS, "open(path, megabytes, flags): creates a recording's file."},
    {"start", start, METH_NOARGS, "Starts recording events."},
    {"stop", stop, METH_NOARGS, "Stops recording events."},
    {"close", close, METH_NOARGS, "Closes the recording; returns the number of dropped records."},
    {"metadata", metadata, METH_O, "metadata(\"key=JSON\"): adds a value at the top of the trace."},
    {"worker_of", worker_of, METH_VARARGS,
     "worker_of(parent, number): marks the open recording as that of a data loader's worker."},
    {"flow", flow, METH_VARARGS,
     "flow(id, begins): records one end of a flow whose other end is in another process."},
    {"counter", counter, METH_VARARGS, "counter(name, value): a number that changes over time."},
    {"range_begin", range_begin, METH_O, "range_begin(name): begins a range on the calling thread."},
    {"members_with", told_members, METH_VARARGS,
     "members_with(text, values): the members of a JSON object, without braces: `text`, and those of a "
     "dict."},
    {"range_end", range_end, METH_NOARGS, "Ends the range that the calling thread began last."},
    {"attach_torch", attach_torch, METH_VARARGS,
     "attach_torch(path, inputs, with_memory=False): records PyTorch's ops, with the inputs of none (0), all "
     "(1), or all while that is cheap (2); returns what is not "
     "recorded, or \"\"."},
    {"python_start", python_start, METH_O,
     "python_start(asked): records Python's calls (1), module calls (2), samples (4), calls of C functions "
     "(8); returns what is not recorded, or \"\"."},
    {"python_stop", python_stop, METH_NOARGS, "Stops recording Python, and ends the open calls."},
    {"sampled_lines", sampled_lines, METH_NOARGS,
     "Each (path, file, line) that samples named since the last call; call it after python_stop()."},
    {"pause_torch", pause_torch, METH_NOARGS,
     "PyTorch calls nothing until attach_torch(), which goes on with the recording."},
    {"detach_torch", detach_torch, METH_NOARGS, "Stops recording PyTorch's ops."},
    {"attach_devices", attach_devices, METH_O,
     "attach_devices(path): records GPU work; returns what is not recorded, or \"\"."},
    {"flush_devices", flush_devices, METH_NOARGS, "Writes all finished GPU work into the recording."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "_collect",
                          "Records what this process does.",
                          -1,
                          methods,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace
}  // namespace stepscope::collect

PyMODINIT_FUNC PyInit__collect() {
  PyObject* module = PyModule_Create(&stepscope::collect::definition);
  if (module != nullptr &&
      !(stepscope::collect::add_annotation(module) && stepscope::collect::add_block(module) &&
        stepscope::collect::add_call_ranges(module) && stepscope::collect::add_errors(module) &&
        stepscope::collect::add_exit(module))) {
    Py_DECREF(module);
    return nullptr;
  }
  return module;
}
