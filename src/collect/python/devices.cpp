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
  int error = 0;
  Py_BEGIN_ALLOW_THREADS error = attach(0, why, sizeof why);
  Py_END_ALLOW_THREADS attached = error == 0;
  if (attached) return PyUnicode_FromString("");
  return PyUnicode_FromFormat("devices are not recorded: %s", why[0] != '\0' ? why : std::strerror(error));
}

PyObject* detach_devices(PyObject*, PyObject*) {
  const auto detach = found<int (*)()>("stepscope_cupti_detach");
  if (attached && detach != nullptr) {
    Py_BEGIN_ALLOW_THREADS detach();
    Py_END_ALLOW_THREADS
  }
  attached = false;
  Py_RETURN_NONE;
}

}  // namespace stepscope::collect
