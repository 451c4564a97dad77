#include "collect/python/block.h"

#include <strings.h>
#include <structmember.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>

#include "collect/python/annotation.h"
#include "collect/python/members.h"

namespace stepscope::collect {
namespace {

struct Block {
  PyObject_HEAD PyObject *cat, *leaf;  ///< leaf: the name that was given, or None
  PyObject* fixed;                     ///< a dict: args of each range, without the category
  PyObject *name, *text;               ///< of each range; text: its args, the members of a JSON object
  PyObject* values;  ///< a dict: updates outside of any range, args of the later ones; or None
  PyObject* is_enabled;
};

Block& block_of(PyObject* self) { return *reinterpret_cast<Block*>(self); }

constexpr std::size_t kKnown = 4;
/// What update() takes; those before "args" are args themselves.
constexpr std::array<const char*, kKnown + 1> kParameters = {"epoch", "step", "image_idx", "image_size",
                                                             "args"};
std::array<PyObject*, kParameters.size()> parameters;  ///< the same, interned
PyObject* category = nullptr;                          ///< "cat", interned

/// Whether a coroutine may run here: 0 or 1; -1: a Python error is set.
int is_in_loop() {
  static PyObject* get_running_loop = nullptr;  // asyncio's, in C
  if (get_running_loop == nullptr) {
    PyObject* asyncio = PyImport_ImportModule("asyncio");
    if (asyncio == nullptr) return -1;
    get_running_loop = PyObject_GetAttrString(asyncio, "_get_running_loop");
    Py_DECREF(asyncio);
    if (get_running_loop == nullptr) return -1;
  }
  PyObject* loop = PyObject_CallNoArgs(get_running_loop);
  if (loop == nullptr) return -1;
  Py_DECREF(loop);
  return loop != Py_None ? 1 : 0;
}

bool is_shut(const char* variable) {
  const char* value = std::getenv(variable);
  constexpr std::array kShut = {"0", "false", "off", "no"};
  return value != nullptr &&
         std::ranges::any_of(kShut, [&](const char* one) { return ::strcasecmp(one, value) == 0; });
}

bool annotations_are_off() { return is_shut("STEPSCOPE_IO") || is_shut("DFTRACER_ENABLE"); }

PyObject* find_off(PyObject*, PyObject*) { return PyBool_FromLong(annotations_are_off()); }
PyMethodDef off_method = {
    "annotations_are_off", find_off, METH_NOARGS,
    "Whether STEPSCOPE_IO or DFTRACER_ENABLE switches annotations off. Without both, they are on."};

void take(PyObject*& kept, PyObject* value) { Py_XDECREF(std::exchange(kept, value)); }

PyObject* itself(PyObject* object) {
  Py_INCREF(object);
  return object;
}

bool is_same(PyObject* interned, PyObject* name) {
  return interned == name || (PyUnicode_CHECK_INTERNED(name) == 0 && PyUnicode_Compare(interned, name) == 0);
}

/// Whether text_of_fixed() has put it first.
bool is_first(PyObject* name) {
  return PyUnicode_Check(name) &&
         (is_same(category, name) || std::ranges::any_of(std::span(parameters).first(kKnown),
                                                         [&](PyObject* one) { return is_same(one, name); }));
}

/// Adds a value of the dict; `otherwise` if it is not there. One that is null, or None among the known, is
/// left out.
bool add_fixed(std::string& json, PyObject* fixed, PyObject* name, PyObject* otherwise) {
  PyObject* value = PyDict_GetItemWithError(fixed, name);
  if (value == nullptr && PyErr_Occurred() != nullptr) return false;
  if (value == nullptr) value = otherwise;
  return value == nullptr || (value == Py_None && name != category) || add_member(json, name, value);
}

/// The category, the known values, then the others. Null: a Python error is set.
PyObject* text_of_fixed(PyObject* cat, PyObject* fixed) {
  std::string json;
  json.reserve(256);
  bool is_good = add_fixed(json, fixed, category, cat);
  for (std::size_t i = 0; is_good && i < kKnown; ++i)
    is_good = add_fixed(json, fixed, parameters[i], nullptr);
  PyObject *name = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; is_good && PyDict_Next(fixed, &at, &name, &value) != 0;)
    is_good = is_first(name) || add_member(json, name, value);
  return is_good ? str_of(json) : nullptr;
}

/// `fixed` and what else a block consists of; it takes `fixed`. False: a Python error is set.
bool fill_block(Block& block, PyObject* cat, PyObject* leaf, PyObject* fixed, bool is_enabled) {
  PyObject* text = fixed == nullptr ? nullptr : text_of_fixed(cat, fixed);
  if (text == nullptr) {
    Py_XDECREF(fixed);
    return false;
  }
  const int has_name = PyObject_IsTrue(leaf);
  take(block.cat, itself(cat));
  take(block.leaf, itself(leaf));
  take(block.fixed, fixed);
  take(block.name, has_name == 1 ? itself(leaf) : PyUnicode_InternFromString("block"));
  take(block.text, text);
  take(block.values, itself(Py_None));
  take(block.is_enabled, PyBool_FromLong(is_enabled));
  return has_name >= 0;
}

int visit_block(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(block_of(self).cat);
  Py_VISIT(block_of(self).fixed);
  Py_VISIT(block_of(self).values);
  Py_VISIT(block_of(self).is_enabled);
  return 0;
}

int clear_block(PyObject* self) {
  Py_CLEAR(block_of(self).fixed);
  Py_CLEAR(block_of(self).values);
  return 0;
}

void destroy_block(PyObject* self) {
  PyObject_GC_UnTrack(self);
  const Block& block = block_of(self);
  for (PyObject* one :
       {block.cat, block.leaf, block.fixed, block.name, block.text, block.values, block.is_enabled})
    Py_XDECREF(one);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

/// 0 or 1; -1: a Python error is set.
int is_on(const Block& block) {
  if (block.is_enabled != nullptr && block.name != nullptr && PyUnicode_Check(block.name) &&
      block.text != nullptr && PyUnicode_Check(block.text))
    return PyObject_IsTrue(block.is_enabled);
  PyErr_SetString(PyExc_RuntimeError, "the annotation was not initialized, or its name is not a str");
  return -1;
}

bool has_values(const Block& block) {
  return block.values != nullptr && PyDict_Check(block.values) && PyDict_GET_SIZE(block.values) > 0;
}

/// Begins a range with the args `told`, which it takes.
bool begin_block(PyObject* self, PyObject* told) {
  const int in_loop = told == nullptr ? -1 : is_in_loop();
  PyObject* range = in_loop < 0 ? nullptr : owned_range(block_of(self).name, self, told);
  Py_XDECREF(told);
  if (range == nullptr) return false;
  begin_range(range, in_loop == 1);
  Py_DECREF(range);
  return true;
}

PyObject* enter_block(PyObject* self, PyObject*) {
  const Block& block = block_of(self);
  const int on = is_on(block);
  if (on < 0) return nullptr;
  if (on == 0) return itself(self);
  PyObject* told = has_values(block) ? members_with(block.text, block.values) : itself(block.text);
  return begin_block(self, told) ? itself(self) : nullptr;
}

PyObject* leave_block_of(PyObject* self, PyObject* const*, Py_ssize_t) {
  PyObject* range = innermost_of(self);
  if (range == nullptr) return nullptr;
  if (range != Py_None) end_range(range);
  Py_DECREF(range);
  Py_RETURN_NONE;
}

PyObject* flush_block(PyObject* self, PyObject*) {
  if (is_on(block_of(self)) < 0) return nullptr;
  PyObject* range = innermost_of(self);
  if (range == nullptr) return nullptr;
  bool is_good = true;
  if (range != Py_None) {
    end_range(range);
    is_good = begin_block(self, told_at_begin(range));
  }
  Py_DECREF(range);
  return is_good ? itself(self) : nullptr;
}

/// The place of update()'s parameter; -1: it has none of that name.
int place_of(PyObject* name) {
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (is_same(parameters[i], name)) return static_cast<int>(i);
  return -1;
}

/// Adds args to later blocks.
bool add_to_later(Block& block, PyObject* values) {
  PyObject* all = has_values(block) ? PyDict_Copy(block.values) : PyDict_New();
  if (all == nullptr || PyDict_Update(all, values) < 0) {
    Py_XDECREF(all);
    return false;
  }
  take(block.values, all);
  return true;
}

using Given = std::array<PyObject*, kParameters.size()>;  ///< null or None: not given

bool parse_update(Given& given, PyObject* const* values, Py_ssize_t count, PyObject* keywords) {
  if (count > static_cast<Py_ssize_t>(given.size())) {
    PyErr_Format(PyExc_TypeError, "update() takes at most %zu arguments (%zd given)", given.size(), count);
    return false;
  }
  for (Py_ssize_t i = 0; i < count; ++i) given[static_cast<std::size_t>(i)] = values[i];
  for (Py_ssize_t i = 0; keywords != nullptr && i < PyTuple_GET_SIZE(keywords); ++i) {
    PyObject* name = PyTuple_GET_ITEM(keywords, i);
    const int place = place_of(name);
    if (place < 0 || place < count) {
      PyErr_Format(PyExc_TypeError, "update() got %s argument '%U'",
                   place < 0 ? "an unexpected keyword" : "multiple values for", name);
      return false;
    }
    given[static_cast<std::size_t>(place)] = values[count + i];
  }
  return true;
}

/// A dict of what is given; null: a Python error is set.
PyObject* values_of(const Given& given) {
  PyObject* values = PyDict_New();
  bool is_good = values != nullptr;
  for (std::size_t i = 0; is_good && i < kKnown; ++i)
    if (given[i] != nullptr && given[i] != Py_None)
      is_good = PyDict_SetItem(values, parameters[i], given[i]) == 0;
  PyObject* others = given[kKnown];
  const int has_others = !is_good || others == nullptr ? 0 : PyObject_IsTrue(others);
  if (has_others == 1 && PyDict_CheckExact(others)) {
    is_good = PyDict_Update(values, others) == 0;
  } else if (has_others == 1) {
    PyObject* done = PyObject_CallMethod(values, "update", "O", others);
    is_good = done != nullptr;
    Py_XDECREF(done);
  }
  if (!is_good || has_others < 0) Py_CLEAR(values);
  return values;
}

PyObject* update_block(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* keywords) {
  Given given{};
  if (!parse_update(given, values, count, keywords)) return nullptr;
  const int on = is_on(block_of(self));
  if (on < 0) return nullptr;
  if (on == 0) return itself(self);
  PyObject* added = values_of(given);
  PyObject* range = added == nullptr ? nullptr : innermost_of(self);
  const bool is_good = range != nullptr &&
                       (range == Py_None ? add_to_later(block_of(self), added) : add_to_range(range, added));
  Py_XDECREF(range);
  Py_XDECREF(added);
  return is_good ? itself(self) : nullptr;
}

int init_block(PyObject* self, PyObject* given, PyObject* named) {
  static const char* names[] = {"cat", "name", "epoch", "step", "image_idx", "image_size", "enable", nullptr};
  PyObject *cat = nullptr, *leaf = Py_None;
  Given values{};
  int enable = 1;
  if (PyArg_ParseTupleAndKeywords(given, named, "O|OOOOOp", const_cast<char**>(names), &cat, &leaf,
                                  &values[0], &values[1], &values[2], &values[3], &enable) == 0)
    return -1;
  const bool is_enabled = enable != 0 && !annotations_are_off();
  return fill_block(block_of(self), cat, leaf, values_of(values), is_enabled) ? 0 : -1;
}

/// The args of a block, and more; null: a Python error is set.
PyObject* fixed_and(const Block& block, PyObject* values) {
  PyObject* fixed = is_on(block) < 0 ? nullptr : PyDict_Copy(block.fixed);
  if (fixed != nullptr && PyDict_Update(fixed, values) < 0) Py_CLEAR(fixed);
  return fixed;
}

PyObject* add_args(PyObject* self, PyObject* values) {
  Block& block = block_of(self);
  PyObject* fixed = fixed_and(block, values);
  PyObject* text = fixed == nullptr ? nullptr : text_of_fixed(block.cat, fixed);
  if (text == nullptr) {
    Py_XDECREF(fixed);
    return nullptr;
  }
  take(block.fixed, fixed);
  take(block.text, text);
  Py_RETURN_NONE;
}

PyObject* block_with_args(PyObject* self, PyObject* const* given, Py_ssize_t count) {
  const Block& block = block_of(self);
  if (count != 2 || !PyDict_Check(given[0])) {
    PyErr_SetString(PyExc_TypeError, "with_args() takes a dict and a bool");
    return nullptr;
  }
  const int is_enabled = PyObject_IsTrue(given[1]);
  PyObject* fixed = is_enabled < 0 ? nullptr : fixed_and(block, given[0]);
  PyObject* other = fixed == nullptr ? nullptr : Py_TYPE(self)->tp_alloc(Py_TYPE(self), 0);
  if (other == nullptr)
    Py_XDECREF(fixed);
  else if (!fill_block(block_of(other), block.cat, block.leaf, fixed, is_enabled != 0))
    Py_CLEAR(other);
  return other;
}

PyMemberDef members_of_block[] = {{"_cat", T_OBJECT, offsetof(Block, cat), 0, nullptr},
                                  {"_leaf", T_OBJECT, offsetof(Block, leaf), 0, nullptr},
                                  {"_fixed", T_OBJECT, offsetof(Block, fixed), 0, nullptr},
                                  {"_name", T_OBJECT, offsetof(Block, name), 0, nullptr},
                                  {"_text", T_OBJECT, offsetof(Block, text), 0, nullptr},
                                  {"_values", T_OBJECT, offsetof(Block, values), 0, nullptr},
                                  {"is_enabled", T_OBJECT, offsetof(Block, is_enabled), 0, nullptr},
                                  {nullptr, 0, 0, 0, nullptr}};

/// What pickle keeps: the object's dict, and the members.
PyObject* state_of_block(PyObject* self, PyObject*) {
  PyObject* members = PyDict_New();
  for (const PyMemberDef* one = members_of_block; members != nullptr && one->name != nullptr; ++one) {
    PyObject* value = PyObject_GetAttrString(self, one->name);
    if (value == nullptr || PyDict_SetItemString(members, one->name, value) < 0) Py_CLEAR(members);
    Py_XDECREF(value);
  }
  PyObject* others = members == nullptr ? nullptr : PyObject_GetAttrString(self, "__dict__");
  if (others != nullptr) return Py_BuildValue("NN", others, members);
  Py_XDECREF(members);
  return nullptr;
}

PyMethodDef methods_of_block[] = {
    {"__getstate__", state_of_block, METH_NOARGS, nullptr},
    {"__enter__", enter_block, METH_NOARGS, "Begins a range."},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(leave_block_of)), METH_FASTCALL,
     "Ends the innermost range that is open here."},
    {"update", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(update_block)),
     METH_FASTCALL | METH_KEYWORDS,
     "update($self, epoch=None, step=None, image_idx=None, image_size=None, args=None)\n--\n\n"
     "Adds args to the innermost range that this object has open here; without one, to its later blocks."},
    {"flush", flush_block, METH_NOARGS,
     "flush($self)\n--\n\n"
     "Ends the range of the block that is open here, and begins the next one with the same name."},
    {"add_args", add_args, METH_O, "add_args(values): args of each later range."},
    {"with_args", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(block_with_args)), METH_FASTCALL,
     "with_args(values, is_enabled): a block of the same kind and name that has these args too."},
    {nullptr, nullptr, 0, nullptr}};

PyType_Slot block_slots[] = {
    {Py_tp_doc,
     const_cast<char*>("Block(cat, name=None, epoch=None, step=None, image_idx=None, image_size=None, "
                       "enable=True)\n--\n\nBlocks of a category, with args.")},
    {Py_tp_new, reinterpret_cast<void*>(PyType_GenericNew)},
    {Py_tp_init, reinterpret_cast<void*>(init_block)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy_block)},
    {Py_tp_traverse, reinterpret_cast<void*>(visit_block)},
    {Py_tp_clear, reinterpret_cast<void*>(clear_block)},
    {Py_tp_methods, methods_of_block},
    {Py_tp_members, members_of_block},
    {0, nullptr}};

PyType_Spec block_spec = {"stepscope._collect.Block", sizeof(Block), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, block_slots};

}  // namespace

bool add_block(PyObject* module) {
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if ((parameters[i] = PyUnicode_InternFromString(kParameters[i])) == nullptr) return false;
  if ((category = PyUnicode_InternFromString("cat")) == nullptr) return false;
  PyObject* off = PyCFunction_New(&off_method, nullptr);
  if (off == nullptr || PyModule_AddObject(module, "annotations_are_off", off) != 0) return false;
  PyObject* type = PyType_FromSpec(&block_spec);
  if (type != nullptr && PyModule_AddObject(module, "Block", type) == 0) return true;
  Py_XDECREF(type);
  return false;
}

}  // namespace stepscope::collect
