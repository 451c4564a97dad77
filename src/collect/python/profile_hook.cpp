// Calls from the profile function, for Python up to 3.11. Each thread can have only one.
#include "collect/python/calls.h"

#if PY_VERSION_HEX < 0x030C0000

#include <frameobject.h>

namespace stepscope::collect {
namespace {

bool with_builtins = false, is_on = false;

void call_began(PyFrameObject* frame, void (*tell)(PyCodeObject*, PyFrameObject*)) {
  PyCodeObject* code = PyFrame_GetCode(frame);
  tell(code, frame);
  Py_DECREF(code);
}

int on_event(PyObject*, PyFrameObject* frame, int what, PyObject* argument) {
  if (what == PyTrace_CALL) call_began(frame, entered);
  if (what == PyTrace_RETURN) call_began(frame, left);
  if (!with_builtins || argument == nullptr) return 0;
  if (what == PyTrace_C_CALL) entered_builtin(argument, frame);
  if (what == PyTrace_C_RETURN || what == PyTrace_C_EXCEPTION) left_builtin(argument, frame);
  return 0;
}

/// The first profile function of a new thread: installs the real one.
PyObject* on_new_thread(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  PyEval_SetProfile(is_on ? on_event : nullptr, nullptr);
  if (!is_on || count < 2 || !PyFrame_Check(arguments[0])) Py_RETURN_NONE;
  auto* frame = reinterpret_cast<PyFrameObject*>(arguments[0]);
  if (PyUnicode_CompareWithASCIIString(arguments[1], "call") == 0) call_began(frame, entered);
  if (PyUnicode_CompareWithASCIIString(arguments[1], "return") == 0) call_began(frame, left);
  Py_RETURN_NONE;
}

PyMethodDef new_thread_method = {"stepscope_new_thread",
                                 reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(on_new_thread)),
                                 METH_FASTCALL, nullptr};
PyObject* new_thread_function() {
  static PyObject* const function = PyCFunction_New(&new_thread_method, nullptr);
  return function;
}

template <class Visit>
void for_each_thread(Visit visit) {
  PyInterpreterState* interpreter = PyThreadState_Get()->interp;
  for (PyThreadState* thread = PyInterpreterState_ThreadHead(interpreter); thread != nullptr;
       thread = PyThreadState_Next(thread))
    visit(thread);
}

/// The profile function that `threading` sets in new threads; a new reference.
PyObject* hook_of_new_threads(PyObject* threading) {
  PyObject* hook = PyObject_GetAttrString(threading, "_profile_hook");
  if (hook == nullptr) PyErr_Clear();
  return hook;
}

bool hook_new_threads() {
  PyObject* threading = PyImport_ImportModule("threading");
  PyObject* hook = threading == nullptr ? nullptr : hook_of_new_threads(threading);
  const bool is_free = hook == nullptr || hook == Py_None;
  PyObject* done = threading == nullptr || !is_free
                       ? nullptr
                       : PyObject_CallMethod(threading, "setprofile", "O", new_thread_function());
  PyErr_Clear();
  Py_XDECREF(hook);
  Py_XDECREF(done);
  Py_XDECREF(threading);
  return done != nullptr;
}

void unhook_new_threads() {
  PyObject* threading = PyImport_ImportModule("threading");
  PyObject* hook = threading == nullptr ? nullptr : hook_of_new_threads(threading);
  if (hook == new_thread_function()) Py_XDECREF(PyObject_CallMethod(threading, "setprofile", "O", Py_None));
  PyErr_Clear();
  Py_XDECREF(hook);
  Py_XDECREF(threading);
}

}  // namespace

std::string hook_start(unsigned asked) {
  hook_stop();  // a forked child may have inherited its parent's hook
  bool is_taken = false;
  for_each_thread([&](PyThreadState* thread) { is_taken = is_taken || thread->c_profilefunc != nullptr; });
  if (is_taken || !hook_new_threads())
    return "calls are not recorded: another profiler (such as cProfile) uses this Python's profile function";
  with_builtins = (asked & kBuiltins) != 0;
  is_on = true;
  for_each_thread([](PyThreadState* thread) {
    if (_PyEval_SetProfile(thread, on_event, nullptr) != 0) PyErr_Clear();
  });
  return "";
}

void hook_stop() {
  if (!is_on) return;
  is_on = false;
  for_each_thread([](PyThreadState* thread) {
    if (thread->c_profilefunc == on_event && _PyEval_SetProfile(thread, nullptr, nullptr) != 0) PyErr_Clear();
  });
  unhook_new_threads();
}

}  // namespace stepscope::collect

#endif
