// Calls from sys.monitoring, for Python 3.12 and later. It covers all threads, including those started later.
#include "collect/python/calls.h"

#if PY_VERSION_HEX >= 0x030C0000

#include <array>

#include "collect/python/names.h"

namespace stepscope::collect {
namespace {

constexpr const char* kTool = "stepscope";
int tool = -1;
PyCodeObject* local = nullptr;  // the only code that is watched; null: all code

using Callback = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t);

PyObject* on_begin(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count > 0 && PyCode_Check(arguments[0]))
    entered(reinterpret_cast<PyCodeObject*>(arguments[0]), nullptr);
  Py_RETURN_NONE;
}
PyObject* on_end(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count > 0 && PyCode_Check(arguments[0])) left(reinterpret_cast<PyCodeObject*>(arguments[0]), nullptr);
  Py_RETURN_NONE;
}

template <Callback callback>
PyObject* function_of() {
  static PyMethodDef method = {"stepscope_call",
                               reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(callback)),
                               METH_FASTCALL, nullptr};
  static PyObject* const function = PyCFunction_New(&method, nullptr);
  return function;
}

struct Event {
  const char* name;
  bool is_begin;
  bool is_local;  ///< can be enabled for a single code object
};
constexpr std::array<Event, 6> kEvents = {{{"PY_START", true, true},
                                           {"PY_RESUME", true, true},
                                           {"PY_THROW", true, false},
                                           {"PY_RETURN", false, true},
                                           {"PY_YIELD", false, true},
                                           {"PY_UNWIND", false, false}}};

/// A new reference; null with an exception set.
PyObject* monitoring() {
  PyObject* module = PySys_GetObject("monitoring");
  Py_XINCREF(module);
  return module;
}

long number_of(PyObject* from, const char* name) {
  PyObject* events = PyObject_GetAttrString(from, "events");
  PyObject* number = events == nullptr ? nullptr : PyObject_GetAttrString(events, name);
  const long value = number == nullptr ? 0 : PyLong_AsLong(number);
  Py_XDECREF(number);
  Py_XDECREF(events);
  return value;
}

bool did(PyObject* result) {
  if (result == nullptr) PyErr_Clear();
  Py_XDECREF(result);
  return result != nullptr;
}

bool take_a_tool(PyObject* module) {
  for (const int id : {3, 4}) {
    if (!did(PyObject_CallMethod(module, "use_tool_id", "is", id, kTool))) continue;
    tool = id;
    return true;
  }
  return false;
}

/// Switches local and global events on or off. With `local` set, local events are for that code only.
bool watch(PyObject* module, bool is_on) {
  long locals = 0, globals = 0;
  bool done = true;
  for (const Event& event : kEvents) {
    const long number = number_of(module, event.name);
    PyObject* function = event.is_begin ? function_of<on_begin>() : function_of<on_end>();
    done &= did(
        PyObject_CallMethod(module, "register_callback", "ilO", tool, number, is_on ? function : Py_None));
    (event.is_local && local != nullptr ? locals : globals) |= number;
  }
  // nn.Module's call neither yields nor is thrown into, so PY_UNWIND is the only global event it needs.
  if (local != nullptr) globals = number_of(module, "PY_UNWIND");
  done &= did(PyObject_CallMethod(module, "set_events", "il", tool, is_on ? globals : 0L));
  if (local != nullptr)
    done &= did(PyObject_CallMethod(module, "set_local_events", "iOl", tool, local, is_on ? locals : 0L));
  PyErr_Clear();
  return done;
}

}  // namespace

std::string hook_start(unsigned asked) {
#ifdef Py_GIL_DISABLED
  (void)asked;
  return "calls are not recorded: this Python runs without the global interpreter lock, and watching "
         "calls is not safe without it yet";
#else
  hook_stop();  // a forked child may have inherited its parent's hook
  if ((asked & kCalls) == 0) {
    local = code_of_module_call();
    if (local == nullptr) return "module calls are not recorded: PyTorch is not imported";
    Py_INCREF(local);
  }
  PyObject* module = monitoring();
  if (module == nullptr || !take_a_tool(module)) {
    Py_XDECREF(module);
    Py_CLEAR(local);
    return "calls are not recorded: other tools use the tool ids 3 and 4 of sys.monitoring";
  }
  const bool works = watch(module, true);
  // An earlier callback may have disabled these events by returning DISABLE.
  did(PyObject_CallMethod(module, "restart_events", nullptr));
  Py_DECREF(module);
  if (works) return "";
  hook_stop();
  return "calls are not recorded: sys.monitoring failed";
#endif
}

void hook_stop() {
  if (tool < 0) return;
  if (PyObject* module = monitoring()) {
    watch(module, false);
    did(PyObject_CallMethod(module, "free_tool_id", "i", tool));
    Py_DECREF(module);
  }
  PyErr_Clear();
  Py_CLEAR(local);
  tool = -1;
}

}  // namespace stepscope::collect

#endif
