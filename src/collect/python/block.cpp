#include "collect/python/block.h"

#include <structmember.h>

#include <cstddef>
#include <utility>

#include "collect/python/annotation.h"
#include "collect/python/block_args.h"
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

PyObject* find_off(PyObject*, PyObject*) { return PyBool_FromLong(annotations_are_off()); }
PyMethodDef off_method = {
    "annotations_are_off", find_off, METH_NOARGS,
    "Whether STEPSCOPE_IO or DFTRACER_ENABLE switches annotations off. Without both, they are on."};

void take(PyObject*& kept, PyObject* value) { Py_XDECREF(std::exchange(kept, value)); }

PyObject* itself(PyObject* object) {
  Py_INCREF(object);
  return object;
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

constexpr Taken kOfBlock = {"Block", kBlock}, kOfUpdate = {"update", kUpdate};

PyObject* update_block(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* keywords) {
  Given given{};
  if (!take_positional(given, kOfUpdate, values, count)) return nullptr;
  for (Py_ssize_t i = 0; keywords != nullptr && i < PyTuple_GET_SIZE(keywords); ++i)
    if (!take_named(given, kOfUpdate, PyTuple_GET_ITEM(keywords, i), values[count + i])) return nullptr;
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

int init_block(PyObject* self, PyObject* positional, PyObject* named) {
  Given given{};
  if (!take_positional(given, kOfBlock, &PyTuple_GET_ITEM(positional, 0), PyTuple_GET_SIZE(positional)))
    return -1;
  PyObject *name = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; named != nullptr && PyDict_Next(named, &at, &name, &value) != 0;)
    if (!take_named(given, kOfBlock, name, value)) return -1;
  if (given[kCat] == nullptr) {
    PyErr_SetString(PyExc_TypeError, "Block() needs the argument 'cat'");
    return -1;
  }
  const int enable = given[kEnable] == nullptr ? 1 : PyObject_IsTrue(given[kEnable]);
  if (enable < 0) return -1;
  PyObject* leaf = given[kName] == nullptr ? Py_None : given[kName];
  const bool is_enabled = enable != 0 && !annotations_are_off();
  return fill_block(block_of(self), given[kCat], leaf, values_of(given), is_enabled) ? 0 : -1;
}

/// The args of a block, and more, maybe the dict itself; null: a Python error is set.
PyObject* fixed_and(const Block& block, PyObject* values) {
  if (is_on(block) < 0) return nullptr;
  if (PyDict_GET_SIZE(block.fixed) == 0 && Py_REFCNT(values) == 1) return itself(values);
  PyObject* fixed = PyDict_Copy(block.fixed);
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

template <class Function>
PyCFunction fast(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

#define UPDATE_TAKES \
  "update($self, epoch=None, step=None, image_idx=None, image_size=None, args=None)\n--\n\n"

PyMethodDef methods_of_block[] = {
    {"__getstate__", state_of_block, METH_NOARGS, nullptr},
    {"__enter__", enter_block, METH_NOARGS, "Begins a range."},
    {"__exit__", fast(leave_block_of), METH_FASTCALL, "Ends the innermost range that is open here."},
    {"update", fast(update_block), METH_FASTCALL | METH_KEYWORDS,
     UPDATE_TAKES
     "Adds args to the innermost range that this object has open here; without one, to its later blocks."},
    {"flush", flush_block, METH_NOARGS,
     "flush($self)\n--\n\n"
     "Ends the range of the block that is open here, and begins the next one with the same name."},
    {"add_args", add_args, METH_O, "add_args(values): args of each later range."},
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

/// The block itself with more args, as `with block(step=3)` has it.
PyObject* block_with(PyObject* self, PyObject* values, bool is_enabled) {
  const Block& block = block_of(self);
  PyObject* fixed = fixed_and(block, values);
  PyObject* other = fixed == nullptr ? nullptr : Py_TYPE(self)->tp_alloc(Py_TYPE(self), 0);
  if (other == nullptr)
    Py_XDECREF(fixed);
  else if (!fill_block(block_of(other), block.cat, block.leaf, fixed, is_enabled))
    Py_CLEAR(other);
  return other;
}

/// Whether the keyword `enable`, which is taken out, and the block itself say yes: 0 or 1; -1: a Python error
/// is set.
int take_enable(const Block& block, PyObject* keywords) {
  const int on = is_on(block);
  PyObject* name = name_of(kEnable);
  PyObject* enable = on < 0 ? nullptr : PyDict_GetItemWithError(keywords, name);
  if (enable == nullptr) return PyErr_Occurred() == nullptr ? on : -1;
  const int enabled = PyObject_IsTrue(enable);
  return enabled < 0 || PyDict_DelItem(keywords, name) < 0 ? -1 : on & enabled;
}

/// Of a function it is a decorator.
PyObject* call_node(PyObject* self, PyObject* positional, PyObject* keywords) {
  if (PyTuple_GET_SIZE(positional) > 0) {
    PyObject* decorate = PyObject_GetAttrString(self, "_decorated");
    PyObject* decorated = decorate == nullptr ? nullptr : PyObject_Call(decorate, positional, keywords);
    Py_XDECREF(decorate);
    return decorated;
  }
  PyObject* none = keywords == nullptr ? PyDict_New() : nullptr;
  PyObject* values = keywords == nullptr ? none : keywords;
  const int is_enabled = values == nullptr ? -1 : take_enable(block_of(self), values);
  PyObject* other = is_enabled < 0 ? nullptr : block_with(self, values, is_enabled == 1);
  Py_XDECREF(none);
  return other;
}

/// Adds args to the node, then to those below it.
PyObject* update_node(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* keywords) {
  PyObject* updated = update_block(self, values, count, keywords);
  if (updated == nullptr) return nullptr;
  static PyObject* const of_children = PyUnicode_InternFromString("_children");
  static PyObject* const update = PyUnicode_InternFromString("update");
  PyObject* children = PyObject_GetAttr(self, of_children);
  PyObject* all = children == nullptr ? nullptr : PyMapping_Values(children);
  bool is_good = all != nullptr;
  for (Py_ssize_t i = 0; is_good && i < PyList_GET_SIZE(all); ++i) {
    PyObject* method = PyObject_GetAttr(PyList_GET_ITEM(all, i), update);
    PyObject* done = method == nullptr
                         ? nullptr
                         : PyObject_Vectorcall(method, values, static_cast<std::size_t>(count), keywords);
    is_good = done != nullptr;
    Py_XDECREF(method);
    Py_XDECREF(done);
  }
  Py_XDECREF(children);
  Py_XDECREF(all);
  if (!is_good) Py_CLEAR(updated);
  return updated;
}

PyMethodDef methods_of_node[] = {
    {"update", fast(update_node), METH_FASTCALL | METH_KEYWORDS,
     UPDATE_TAKES
     "Adds args to what is open here, of this node and of those below it; else to their later ranges."},
    {nullptr, nullptr, 0, nullptr}};

PyType_Slot node_slots[] = {
    {Py_tp_doc, const_cast<char*>("A block that can be called: of a function it is a decorator, of named "
                                  "args another block. A subclass has "
                                  "_decorated(function, *, enable=True) and _children, a dict of nodes.")},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy_block)},
    {Py_tp_traverse, reinterpret_cast<void*>(visit_block)},
    {Py_tp_clear, reinterpret_cast<void*>(clear_block)},
    {Py_tp_call, reinterpret_cast<void*>(call_node)},
    {Py_tp_methods, methods_of_node},
    {0, nullptr}};

PyType_Spec node_spec = {"stepscope._collect.Node", sizeof(Block), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, node_slots};

}  // namespace

bool add_block(PyObject* module) {
  if (!make_parameters()) return false;
  PyObject* off = PyCFunction_New(&off_method, nullptr);
  if (off == nullptr || PyModule_AddObject(module, "annotations_are_off", off) != 0) return false;
  PyObject* block = PyType_FromSpec(&block_spec);
  PyObject* bases = block == nullptr ? nullptr : PyTuple_Pack(1, block);
  PyObject* node = bases == nullptr ? nullptr : PyType_FromSpecWithBases(&node_spec, bases);
  Py_XDECREF(bases);
  if (node == nullptr || PyModule_AddObject(module, "Node", node) != 0) {
    Py_XDECREF(block);
    Py_XDECREF(node);
    return false;
  }
  return PyModule_AddObject(module, "Block", block) == 0;
}

}  // namespace stepscope::collect
