#include "collect/python/names.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "record/format.h"

#if PY_VERSION_HEX >= 0x030C0000
#define REQUEST_EXTRA PyUnstable_Eval_RequestCodeExtraIndex
#define GET_EXTRA PyUnstable_Code_GetExtra
#define SET_EXTRA PyUnstable_Code_SetExtra
#else
#define REQUEST_EXTRA _PyEval_RequestCodeExtraIndex
#define GET_EXTRA _PyCode_GetExtra
#define SET_EXTRA _PyCode_SetExtra
#endif

namespace stepscope::collect {
namespace {

using Identity = std::pair<PyObject*, PyTypeObject*>;  // with the type, as addresses are reused

/// Guarded by the interpreter's lock; never freed.
struct Names {
  Py_ssize_t extra = -1;  // index of the code object's extra slot that holds its Called
  const void* recording = nullptr;
  std::vector<std::string> prefixes;
  std::map<std::pair<std::string, std::string>, Called> interned;
  std::unordered_map<const void*, const Called*> builtins;  // by PyMethodDef
  std::map<Identity, std::pair<std::string, const Called*>> modules;
  std::set<Identity> roots;
  std::unordered_map<std::string, int> of_class;
};
Names& names() {
  static auto* const all = new Names;
  return *all;
}

const Called kModuleCall{"nn.Module", "", record::kModuleScope};

const Called* interned(std::string name, std::string path, std::uint8_t scope) {
  Called& called = names().interned[{name, path}];
  if (called.name.empty()) called = {std::move(name), std::move(path), scope};
  return &called;
}

std::string text_of(PyObject* unicode) {
  const char* bytes = unicode == nullptr ? nullptr : PyUnicode_AsUTF8(unicode);
  if (bytes == nullptr) PyErr_Clear();
  return bytes == nullptr ? "?" : bytes;
}

std::string text_of(PyCodeObject* code) {
#if PY_VERSION_HEX >= 0x030B0000
  PyObject* const name = code->co_qualname;
#else
  PyObject* const name = code->co_name;
#endif
  return shortened(text_of(code->co_filename), names().prefixes) + "(" +
         std::to_string(code->co_firstlineno) + "): " + text_of(name);
}

/// `self` of a running frame; a new reference, or null.
PyObject* self_of(PyFrameObject* frame) {
#if PY_VERSION_HEX >= 0x030C0000
  PyObject* self = PyFrame_GetVarString(frame, const_cast<char*>("self"));
#else
  PyObject* locals = PyObject_GetAttrString(reinterpret_cast<PyObject*>(frame), "f_locals");
  PyObject* self = locals != nullptr && PyDict_Check(locals) ? PyDict_GetItemString(locals, "self") : nullptr;
  Py_XINCREF(self);
  Py_XDECREF(locals);
#endif
  if (self == nullptr) PyErr_Clear();
  return self;
}

/// Stores the paths of a module's submodules, without running Python code.
void know_paths(PyObject* module, const std::string& path, int depth) {
  constexpr int kDeepest = 64;
  PyObject* attributes = depth < kDeepest ? PyObject_GenericGetDict(module, nullptr) : nullptr;
  PyObject* children = attributes == nullptr ? nullptr : PyDict_GetItemString(attributes, "_modules");
  PyErr_Clear();
  PyObject *name = nullptr, *child = nullptr;
  Py_ssize_t at = 0;
  while (children != nullptr && PyDict_Check(children) && PyDict_Next(children, &at, &name, &child) != 0) {
    if (child == Py_None || !PyUnicode_Check(name)) continue;
    const std::string below = (path.empty() ? "" : path + ".") + text_of(name);
    names().modules[{child, Py_TYPE(child)}] = {below, nullptr};
    know_paths(child, below, depth + 1);
  }
  Py_XDECREF(attributes);
}

}  // namespace

bool begin_names(const void* recording) {
  Names& all = names();
  if (all.extra < 0) all.extra = REQUEST_EXTRA(nullptr);
  if (all.extra < 0) return false;
  all.prefixes = paths_of_python();
  if (recording != all.recording) {
    all.modules.clear();
    all.roots.clear();
    all.of_class.clear();
  }
  all.recording = recording;
  if (PyCodeObject* code = code_of_module_call())
    SET_EXTRA(reinterpret_cast<PyObject*>(code), all.extra, const_cast<Called*>(&kModuleCall));
  return true;
}

std::vector<std::string> paths_of_python() {
  std::vector<std::string> paths;
  PyObject* list = PySys_GetObject("path");
  for (Py_ssize_t i = 0; list != nullptr && PyList_Check(list) && i < PyList_GET_SIZE(list); ++i) {
    PyObject* entry = PyList_GET_ITEM(list, i);
    std::string path = PyUnicode_Check(entry) ? text_of(entry) : "";
    if (path.empty()) continue;
    if (path.back() != '/') path += '/';
    paths.push_back(std::move(path));
  }
  std::sort(paths.begin(), paths.end(),
            [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
  return paths;
}

std::string shortened(const std::string& path, const std::vector<std::string>& prefixes) {
  for (const std::string& prefix : prefixes)
    if (path.size() > prefix.size() && path.compare(0, prefix.size(), prefix) == 0)
      return path.substr(prefix.size());
  return path;
}

const Called* called(PyCodeObject* code) {
  auto* const object = reinterpret_cast<PyObject*>(code);
  void* known = nullptr;
  if (GET_EXTRA(object, names().extra, &known) == 0 && known != nullptr)
    return static_cast<const Called*>(known);
  const Called* made = interned(text_of(code), "", record::kPythonScope);
  if (SET_EXTRA(object, names().extra, const_cast<Called*>(made)) != 0) PyErr_Clear();
  return made;
}

const Called* called_builtin(PyObject* function) {
  const auto* builtin = reinterpret_cast<PyCFunctionObject*>(function);
  const Called*& known = names().builtins[builtin->m_ml];
  if (known != nullptr) return known;
  PyObject* self = builtin->m_self;
  std::string text = builtin->m_ml->ml_name;
  if (self == nullptr || PyModule_Check(self))
    text = "<built-in function " + text + ">";
  else
    text = "<built-in method " + text + " of " +
           (PyType_Check(self) ? "type " + std::string(reinterpret_cast<PyTypeObject*>(self)->tp_name)
                               : Py_TYPE(self)->tp_name) +
           ">";
  return known = interned(std::move(text), "", record::kPythonCScope);
}

const Called* module_call() { return &kModuleCall; }

const Called* called_module(PyFrameObject* frame, bool outermost) {
  Names& all = names();
  PyObject* self = self_of(frame);
  if (self == nullptr) return &kModuleCall;
  const Identity identity{self, Py_TYPE(self)};
  if (outermost && all.roots.insert(identity).second) know_paths(self, "", 0);
  auto& [path, known] = all.modules[identity];
  if (known == nullptr) {
    const std::string of_class = Py_TYPE(self)->tp_name;
    const std::string number = std::to_string(all.of_class[of_class]++);
    known = interned("nn.Module: " + of_class + "_" + number, path, record::kModuleScope);
  }
  Py_DECREF(self);
  return known;
}

PyCodeObject* code_of_module_call() {
  PyObject* modules = PyImport_GetModuleDict();
  PyObject* torch = modules == nullptr ? nullptr : PyDict_GetItemString(modules, "torch.nn.modules.module");
  PyObject* type = torch == nullptr ? nullptr : PyObject_GetAttrString(torch, "Module");
  PyObject* call = type == nullptr ? nullptr : PyObject_GetAttrString(type, "__call__");
  PyObject* code = call == nullptr ? nullptr : PyObject_GetAttrString(call, "__code__");
  PyErr_Clear();
  Py_XDECREF(type);
  Py_XDECREF(call);
  Py_XDECREF(code);  // still referenced by the function, which the class holds
  return code != nullptr && PyCode_Check(code) ? reinterpret_cast<PyCodeObject*>(code) : nullptr;
}

}  // namespace stepscope::collect
