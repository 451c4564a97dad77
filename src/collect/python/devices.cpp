#include "collect/python/devices.h"

#include <dlfcn.h>

#include <cstring>

namespace stepscope::collect {
namespace {

void* plugin = nullptr;
bool attached = false;

template <class Function>
Function found(const char* name) {
  return plugin == nullptr ? nullptr : reinterpret_cast<Function>(::dlsym(plugin, name));
}

/// Of what is attached.
void call(const char* name) {
  const auto function = attached ? found<int (*)()>(name) : nullptr;
  if (function == nullptr) return;
  PyThreadState* const unlocked = PyEval_SaveThread();
  function();
  PyEval_RestoreThread(unlocked);
}

}  // namespace

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

PyObject* flush_devices(PyObject*, PyObject*) {
  call("stepscope_cupti_flush");
  Py_RETURN_NONE;
}

PyObject* detach_devices(PyObject*, PyObject*) {
  call("stepscope_cupti_detach");
  attached = false;
  Py_RETURN_NONE;
}

}  // namespace stepscope::collect
