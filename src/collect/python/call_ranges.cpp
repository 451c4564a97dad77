#include "collect/python/call_ranges.h"

#include <cstddef>
#include <string>

#include "collect/python/annotation.h"
#include "collect/python/members.h"

namespace stepscope::collect {
namespace {

struct CallRanges {
  PyObject_HEAD PyObject *owner, *name, *text;
  PyObject* parts;  ///< a tuple of (name, text before its value, place among the arguments, default)
  int has_self;
};

CallRanges& ranges_of(PyObject* self) { return *reinterpret_cast<CallRanges*>(self); }

PyObject* make_ranges(PyTypeObject* type, PyObject* given, PyObject* named) {
  static const char* names[] = {"owner", "name", "text", "parts", "has_self", nullptr};
  PyObject *owner = nullptr, *name = nullptr, *text = nullptr, *parts = nullptr;
  int has_self = 0;
  if (PyArg_ParseTupleAndKeywords(given, named, "OUUO!p", const_cast<char**>(names), &owner, &name, &text,
                                  &PyTuple_Type, &parts, &has_self) == 0)
    return nullptr;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(parts); ++i) {
    PyObject *key = nullptr, *before = nullptr, *value = nullptr;
    Py_ssize_t place = 0;
    if (PyArg_ParseTuple(PyTuple_GET_ITEM(parts, i), "UUnO", &key, &before, &place, &value) == 0)
      return nullptr;
  }
  PyObject* self = type->tp_alloc(type, 0);
  if (self == nullptr) return nullptr;
  for (PyObject* one : {owner, name, text, parts}) Py_INCREF(one);
  CallRanges& ranges = ranges_of(self);
  ranges.owner = owner;
  ranges.name = name;
  ranges.text = text;
  ranges.parts = parts;
  ranges.has_self = has_self;
  return self;
}

int visit_ranges(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(ranges_of(self).owner);
  Py_VISIT(ranges_of(self).parts);
  return 0;
}

void destroy_ranges(PyObject* self) {
  PyObject_GC_UnTrack(self);
  CallRanges& ranges = ranges_of(self);
  for (PyObject* one : {ranges.owner, ranges.name, ranges.text, ranges.parts}) Py_XDECREF(one);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

/// A call's arguments. What a function returns is new; null without an error: there is none.
class Arguments {
 public:
  Arguments(PyObject* given, PyObject* named, bool has_self)
      : given_(given), named_(named), has_self_(has_self) {}
  ~Arguments() { Py_XDECREF(attributes_); }

  PyObject* value(PyObject* name, Py_ssize_t place, PyObject* otherwise) {
    if (place < PyTuple_GET_SIZE(given_)) return taken(PyTuple_GET_ITEM(given_, place));
    PyObject* value = PyDict_GET_SIZE(named_) == 0 ? nullptr : PyDict_GetItemWithError(named_, name);
    if (value != nullptr || PyErr_Occurred() != nullptr) return taken(value);
    value = attribute(name);
    if (value == Py_None) Py_CLEAR(value);
    return value != nullptr || PyErr_Occurred() != nullptr ? value : taken(otherwise);
  }

 private:
  static PyObject* taken(PyObject* value) {
    Py_XINCREF(value);
    return value;
  }

  PyObject* attribute(PyObject* name) {
    if (!has_self_ || PyTuple_GET_SIZE(given_) == 0) return nullptr;
    if (attributes_ == nullptr) {
      static PyObject* const dict = PyUnicode_InternFromString("__dict__");
      attributes_ = PyObject_GetAttr(PyTuple_GET_ITEM(given_, 0), dict);
      if (attributes_ == nullptr) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError) != 0) PyErr_Clear();
        has_self_ = false;
        return nullptr;
      }
    }
    if (PyDict_CheckExact(attributes_)) return taken(PyDict_GetItemWithError(attributes_, name));
    return PyObject_CallMethod(attributes_, "get", "O", name);  // of a class
  }

  PyObject *given_, *named_, *attributes_ = nullptr;
  bool has_self_;
};

/// `text`, and the caller's values, else those of `self`, else defaults. A value that is None is left out.
PyObject* told_of(const CallRanges& ranges, PyObject* given, PyObject* named) {
  Py_ssize_t length = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(ranges.text, &length);
  if (bytes == nullptr) return nullptr;
  Members members;
  Json& json = members.json;
  json.append(bytes, static_cast<std::size_t>(length));
  Arguments arguments(given, named, ranges.has_self != 0);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(ranges.parts); ++i) {
    PyObject* part = PyTuple_GET_ITEM(ranges.parts, i);
    PyObject* value = arguments.value(PyTuple_GET_ITEM(part, 0), PyLong_AsSsize_t(PyTuple_GET_ITEM(part, 2)),
                                      PyTuple_GET_ITEM(part, 3));
    if (value == nullptr) return nullptr;
    const char* key = PyUnicode_AsUTF8AndSize(PyTuple_GET_ITEM(part, 1), &length);
    bool is_good = key != nullptr;
    if (is_good && value != Py_None) {
      json.append(key, static_cast<std::size_t>(length));
      is_good = add_value(json, value);
    }
    Py_DECREF(value);
    if (!is_good) return nullptr;
  }
  return str_of(json);
}

PyObject* text_of_call(PyObject* self, PyObject* const* values, Py_ssize_t count) {
  if (count != 2 || !PyTuple_Check(values[0]) || !PyDict_Check(values[1])) {
    PyErr_SetString(PyExc_TypeError, "a call's arguments are a tuple and a dict");
    return nullptr;
  }
  const CallRanges& ranges = ranges_of(self);
  if (PyTuple_GET_SIZE(ranges.parts) != 0) return told_of(ranges, values[0], values[1]);
  Py_INCREF(ranges.text);
  return ranges.text;
}

PyObject* range_with(PyObject* self, PyObject* text) {
  return owned_range(ranges_of(self).name, ranges_of(self).owner, text);
}

PyObject* range_of_call(PyObject* self, PyObject* const* values, Py_ssize_t count) {
  PyObject* text = text_of_call(self, values, count);
  PyObject* range = text == nullptr ? nullptr : range_with(self, text);
  Py_XDECREF(text);
  return range;
}

PyMethodDef methods_of_ranges[] = {
    {"range", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(range_of_call)), METH_FASTCALL,
     "range(given, named): a range for a call with these arguments."},
    {"text", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(text_of_call)), METH_FASTCALL,
     "text(given, named): the args of that range."},
    {"range_with", range_with, METH_O, "range_with(text): a range with these args."},
    {nullptr, nullptr, 0, nullptr}};

PyType_Slot ranges_slots[] = {
    {Py_tp_doc, const_cast<char*>(
                    "CallRanges(owner, name, text, parts, has_self)\n--\n\nRanges of a function's calls.")},
    {Py_tp_new, reinterpret_cast<void*>(make_ranges)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy_ranges)},
    {Py_tp_traverse, reinterpret_cast<void*>(visit_ranges)},
    {Py_tp_methods, methods_of_ranges},
    {0, nullptr}};

PyType_Spec ranges_spec = {"stepscope._collect.CallRanges", sizeof(CallRanges), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, ranges_slots};

}  // namespace

bool add_call_ranges(PyObject* module) {
  PyObject* type = PyType_FromSpec(&ranges_spec);
  if (type != nullptr && PyModule_AddObject(module, "CallRanges", type) == 0) return true;
  Py_XDECREF(type);
  return false;
}

}  // namespace stepscope::collect
