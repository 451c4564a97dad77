#include "collect/python/annotation.h"

#include <cstddef>
#include <utility>

#include "collect/python/input_values.h"
#include "collect/python/members.h"
#include "collect/recorder.h"

namespace stepscope::collect {
namespace {

/// How a range that is open can be found by its owner: by the thread for a call, which nothing can suspend;
/// by the context for what a coroutine may leave open while others run.
enum class Chain : std::uint8_t { none, thread, context };

/// Not kept on the thread's stack of frames: coroutines on one thread begin and end ranges in any order, and
/// a range may end on another thread.
struct Annotation {
  PyObject_HEAD PyObject* name;
  PyObject* args;
  PyObject *inputs, *keywords;  ///< values of an op; null: none
  PyObject* told;               ///< members of a JSON object: args of the range; null: none
  PyObject *began, *added;  ///< what `told` was, and a dict of what was added since; null: nothing was added
  PyObject* before;         ///< of a chained range: the one around it, null while it is not open
  Recorder* recorder;       ///< null: not begun, or begun while nothing was recorded
  Thread* thread;           ///< on which the range began
  std::uint64_t begin;
  bool held;            ///< the range goes on after the end of the `with` block
  std::uint64_t order;  ///< of chained ranges: later ones are inside
  Chain chain;
  std::uint8_t scope;
};

/// A ContextVar: the innermost range of each thread or coroutine whose chain is `context`, or None.
PyObject* innermost = nullptr;
/// The innermost whose chain is `thread`, or null. A chain ends with None. Its ranges own those before them.
thread_local PyObject* on_this_thread = nullptr;
std::uint64_t chained_so_far = 0;

Annotation& of(PyObject* self) { return *reinterpret_cast<Annotation*>(self); }

PyObject* made(PyTypeObject* type, PyObject* name, PyObject* args) {
  if (PyUnicode_AsUTF8(name) == nullptr) return nullptr;
  PyObject* self = type->tp_alloc(type, 0);
  if (self == nullptr) return nullptr;
  Py_INCREF(name);
  Py_INCREF(args);
  of(self).name = name;
  of(self).args = args;
  of(self).scope = record::kUserScope;
  return self;
}

PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  PyObject *name = nullptr, *args = Py_None;
  static const char* names[] = {"name", "args", nullptr};
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "U|O", const_cast<char**>(names), &name, &args) == 0)
    return nullptr;
  return made(type, name, args);
}

/// record_function("name") by vectorcall, without an argument tuple.
PyObject* call_type(PyObject* type, PyObject* const* values, std::size_t flags, PyObject* keywords) {
  const Py_ssize_t count = PyVectorcall_NARGS(flags);
  if (count == 1 && keywords == nullptr && PyUnicode_Check(values[0]))
    return made(reinterpret_cast<PyTypeObject*>(type), values[0], Py_None);
  PyObject* arguments = PyTuple_New(count);
  PyObject* named = keywords == nullptr ? nullptr : PyDict_New();
  PyObject* self = nullptr;
  if (arguments != nullptr && (keywords == nullptr || named != nullptr)) {
    for (Py_ssize_t i = 0; i < count; ++i) {
      Py_INCREF(values[i]);
      PyTuple_SET_ITEM(arguments, i, values[i]);
    }
    int failed = 0;
    for (Py_ssize_t i = 0; named != nullptr && i < PyTuple_GET_SIZE(keywords); ++i)
      failed |= PyDict_SetItem(named, PyTuple_GET_ITEM(keywords, i), values[count + i]);
    if (failed == 0) self = make(reinterpret_cast<PyTypeObject*>(type), arguments, named);
  }
  Py_XDECREF(arguments);
  Py_XDECREF(named);
  return self;
}

void destroy(PyObject* self) {
  Py_XDECREF(of(self).name);
  Py_XDECREF(of(self).args);
  Py_XDECREF(of(self).inputs);
  Py_XDECREF(of(self).keywords);
  Py_XDECREF(of(self).told);
  Py_XDECREF(of(self).began);
  Py_XDECREF(of(self).added);
  Py_XDECREF(of(self).before);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

/// Makes `value` the innermost range of this context.
void set_innermost(PyObject* value) {
  PyObject* token = PyContextVar_Set(innermost, value);
  if (token == nullptr) PyErr_Clear();  // out of memory: updates may miss the range
  Py_XDECREF(token);
}

void chain(PyObject* self) {
  Annotation& a = of(self);
  if (a.before != nullptr) return;
  a.order = ++chained_so_far;
  if (a.chain == Chain::thread) {
    Py_INCREF(self);
    a.before = std::exchange(on_this_thread, self);
    if (a.before == nullptr) Py_INCREF(a.before = Py_None);
  } else if (PyContextVar_Get(innermost, nullptr, &a.before) == 0) {
    set_innermost(self);
  } else {
    PyErr_Clear();
  }
}

/// A range that ends on another thread than it began on stays in its chain until those around it end.
void unchain(PyObject* self) {
  Annotation& a = of(self);
  if (a.before == nullptr) return;
  PyObject* before = std::exchange(a.before, nullptr);
  if (a.chain == Chain::context) {
    set_innermost(before);
  } else {
    PyObject** at = &on_this_thread;
    while (*at != nullptr && *at != Py_None && *at != self && of(*at).before != nullptr) at = &of(*at).before;
    if (*at == self) {
      *at = before;
      before = self;  // the chain's reference to it
    }
  }
  Py_DECREF(before);
}

/// The innermost range of a chain whose args are `owner`; null: none.
PyObject* owned(PyObject* at, PyObject* owner) {
  while (at != nullptr && at != Py_None && of(at).args != owner) at = of(at).before;
  return at == Py_None ? nullptr : at;
}

PyObject* enter(PyObject* self, PyObject*) {
  Annotation& a = of(self);
  if (a.scope == record::kFunctionScope && a.recorder != nullptr) {
    PyErr_SetString(PyExc_RuntimeError, "the range is open already; make a range for each block");
    return nullptr;
  }
  if (a.chain != Chain::none) chain(self);
  a.recorder = stepscope_recorder.load(std::memory_order_acquire);
  a.thread = a.recorder == nullptr ? nullptr : thread_of(*a.recorder);
  if (a.thread != nullptr) a.begin = ticks(a.recorder->clock);
  Py_INCREF(self);
  return self;
}

/// What was told about a range; null: nothing, or more than fits.
const record::Text* members_of(const Annotation& a, Thread* thread) {
  Py_ssize_t length = 0;
  const char* bytes = a.told == nullptr || a.scope != record::kUserScope
                          ? nullptr
                          : PyUnicode_AsUTF8AndSize(a.told, &length);  // cached in tell()
  if (length == 0 || length > kMaxText) return nullptr;
  return stepscope_text(thread, record::Type::text, bytes, static_cast<std::uint32_t>(length));
}

void finish(Annotation& a, std::uint8_t flags) {
  Recorder* recorder = std::exchange(a.recorder, nullptr);
  if (recorder == nullptr || recorder != stepscope_recorder.load(std::memory_order_acquire)) return;
  const std::uint64_t end = ticks(recorder->clock);
  char values[kMaxText];
  const bool has_values =
      (recorder->flags & record::kShapes) != 0 && (a.inputs != nullptr || a.keywords != nullptr);
  const std::uint32_t size = has_values ? put_values(values, a.inputs, a.keywords) : 0;
  Thread* thread = thread_of(*recorder);
  if (thread == nullptr || a.thread == nullptr || !has_room(*thread)) return;
  if (thread != a.thread) flags |= record::kAsync;
  Py_ssize_t length = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(a.name, &length);  // the UTF-8 was cached in make()
  const record::Text* name = stepscope_text(
      thread, record::Type::text, bytes, static_cast<std::uint32_t>(length > kMaxText ? kMaxText : length));
  const record::Text* signature =
      size > 0 ? stepscope_text(thread, record::Type::signature, values, size) : members_of(a, thread);
  write_op(*thread, {nullptr, a.begin, -1, 0, name, signature, a.scope, flags}, "", end);
}

PyObject* leave(PyObject* self, PyObject* const*, Py_ssize_t) {
  if (!of(self).held) finish(of(self), 0);
  unchain(self);
  Py_RETURN_NONE;
}

PyObject* hold(PyObject* self, PyObject*) {
  of(self).held = true;
  Py_RETURN_NONE;
}

PyObject* end(PyObject* self, PyObject*) {
  of(self).held = false;
  finish(of(self), record::kAsync);
  Py_RETURN_NONE;
}

void keep(PyObject*& kept, PyObject* value) {
  if (value == Py_None) return;
  Py_INCREF(value);
  Py_XDECREF(std::exchange(kept, value));
}

PyObject* as_op(PyObject* self, PyObject* given) {
  PyObject *inputs = Py_None, *keywords = Py_None;
  if (PyArg_ParseTuple(given, "|OO", &inputs, &keywords) == 0) return nullptr;
  of(self).scope = record::kFunctionScope;
  keep(of(self).inputs, inputs);
  keep(of(self).keywords, keywords);
  Py_INCREF(self);
  return self;
}

PyObject* tell(PyObject* self, PyObject* members) {
  if (PyUnicode_AsUTF8(members) == nullptr) return nullptr;
  keep(of(self).told, members);
  Py_CLEAR(of(self).began);
  Py_CLEAR(of(self).added);
  Py_INCREF(self);
  return self;
}

PyObject* in_context(PyObject* self, PyObject*) {
  of(self).chain = Chain::context;
  Py_INCREF(self);
  return self;
}

PyObject* find_innermost(PyObject*, PyObject* owner) { return innermost_of(owner); }
PyMethodDef innermost_method = {
    "innermost_of", find_innermost, METH_O,
    "innermost_of(owner): the innermost range that is open here and whose args are "
    "`owner`; None if there is none."};

PyObject* as_call(PyObject* self, PyObject*) {
  of(self).scope = record::kPythonScope;
  Py_INCREF(self);
  return self;
}

PyObject* get_name(PyObject* self, void*) {
  Py_INCREF(of(self).name);
  return of(self).name;
}

PyObject* get_args(PyObject* self, void*) {
  Py_INCREF(of(self).args);
  return of(self).args;
}

PyObject* get_held(PyObject* self, void*) { return PyBool_FromLong(of(self).held); }

PyMethodDef methods[] = {
    {"__enter__", enter, METH_NOARGS, "Begins the range."},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(leave)), METH_FASTCALL,
     "Ends the range, unless it is held."},
    {"hold", hold, METH_NOARGS, "Keeps the range open after its block, until end()."},
    {"as_op", as_op, METH_VARARGS,
     "as_op(inputs=None, keywords=None): records the range as a PyTorch op with these values; returns the "
     "range itself."},
    {"tell", tell, METH_O,
     "tell('\"key\":value'): members of a JSON object, without braces: args of the range; the last call "
     "counts. Returns the range itself."},
    {"in_context", in_context, METH_NOARGS,
     "A coroutine may leave the range open while others run; returns the range itself."},
    {"as_call", as_call, METH_NOARGS, "Records the range as a call of Python; returns the range itself."},
    {"end", end, METH_NOARGS, "Ends the range, on any thread."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef attributes[] = {
    {"name", get_name, nullptr, "The name of the range.", nullptr},
    {"args", get_args, nullptr, "The args given by the caller; not recorded.", nullptr},
    {"held", get_held, nullptr, "Whether the range stays open after its block.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot slots[] = {
    {Py_tp_doc,
     const_cast<char*>("record_function(name, args=None)\n--\n\nA named range, from __enter__ to __exit__.")},
    {Py_tp_new, reinterpret_cast<void*>(make)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, nullptr}};

PyTypeObject* range_type = nullptr;

PyType_Spec spec = {"stepscope.profiler.record_function", sizeof(Annotation), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

}  // namespace

PyObject* owned_range(PyObject* name, PyObject* owner, PyObject* told) {
  PyObject* self = PyUnicode_AsUTF8(told) == nullptr ? nullptr : made(range_type, name, owner);
  if (self == nullptr) return nullptr;
  Py_INCREF(told);
  of(self).told = told;
  of(self).chain = Chain::thread;
  return self;
}

void begin_range(PyObject* range, bool in_coroutine) {
  if (in_coroutine) of(range).chain = Chain::context;
  Py_XDECREF(enter(range, nullptr));
}

void end_range(PyObject* range) { Py_XDECREF(leave(range, nullptr, 0)); }

PyObject* innermost_of(PyObject* owner) {
  PyObject* in_context = nullptr;
  if (PyContextVar_Get(innermost, nullptr, &in_context) < 0) return nullptr;
  PyObject* one = owned(on_this_thread, owner);
  PyObject* other = owned(in_context, owner);
  if (one == nullptr || (other != nullptr && of(other).order > of(one).order)) one = other;
  PyObject* found = one == nullptr ? Py_None : one;
  Py_INCREF(found);
  Py_DECREF(in_context);
  return found;
}

PyObject* told_at_begin(PyObject* range) {
  PyObject* told = of(range).added == nullptr ? of(range).told : of(range).began;
  Py_INCREF(told);
  return told;
}

bool add_to_range(PyObject* range, PyObject* values) {
  Annotation& a = of(range);
  if (a.added == nullptr) {
    Py_INCREF(a.began = a.told);
    Py_INCREF(a.added = values);
  } else if (PyDict_Update(a.added, values) < 0) {
    return false;
  }
  PyObject *began = a.began, *added = a.added;
  Py_INCREF(began);
  Py_INCREF(added);
  PyObject* told = members_with(began, added);  // calls str() of values, which may reset the range
  Py_DECREF(began);
  Py_DECREF(added);
  if (told == nullptr) return false;
  Py_XDECREF(std::exchange(a.told, told));
  return true;
}

bool add_annotation(PyObject* module) {
  if (innermost == nullptr) innermost = PyContextVar_New("stepscope.innermost", Py_None);
  if (innermost == nullptr) return false;
  PyObject* function = PyCFunction_New(&innermost_method, nullptr);
  if (function == nullptr || PyModule_AddObject(module, "innermost_of", function) != 0) return false;
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr) return false;
  range_type = reinterpret_cast<PyTypeObject*>(type);
  range_type->tp_vectorcall = call_type;
  if (PyModule_AddObject(module, "record_function", type) == 0) return true;
  Py_DECREF(type);
  return false;
}

}  // namespace stepscope::collect
