#include "collect/python/input_values.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>

#include "record/signature.h"

namespace stepscope::collect {
namespace {

using record::Input;

/// Names of dtypes by their c10::ScalarType; "": of no tensor here.
constexpr const char* kDtypes[] = {"uint8",
                                   "int8",
                                   "int16",
                                   "int32",
                                   "int64",
                                   "float16",
                                   "float32",
                                   "float64",
                                   "complex32",
                                   "complex64",
                                   "complex128",
                                   "bool",
                                   "",
                                   "",
                                   "",
                                   "bfloat16",
                                   "",
                                   "",
                                   "",
                                   "",
                                   "",
                                   "",
                                   "",
                                   "float8_e5m2",
                                   "float8_e4m3fn"};

/// The c10::ScalarType of a torch.dtype; -1: not known.
int number_of(PyObject* dtype) {
  static PyObject* known[std::size(kDtypes)] = {};
  static bool is_filled = false;
  if (!is_filled) {
    PyObject* torch = PyDict_GetItemString(PyImport_GetModuleDict(), "torch");  // borrowed
    for (std::size_t i = 0; torch != nullptr && i < std::size(kDtypes); ++i)
      if (*kDtypes[i] != '\0') known[i] = PyObject_GetAttrString(torch, kDtypes[i]);
    PyErr_Clear();
    is_filled = torch != nullptr;
  }
  const auto* at = std::find(std::begin(known), std::end(known), dtype);
  return at == std::end(known) ? -1 : static_cast<int>(at - known);
}

/// Whether it is exactly torch.Tensor or torch.nn.Parameter: reading a subclass would run its code.
bool is_tensor(PyObject* value) {
  const std::string_view name = Py_TYPE(value)->tp_name;
  return (name == "Tensor" || name == "Parameter") && PyObject_HasAttrString(value, "dtype") != 0;
}

class Values {
 public:
  explicit Values(char (&bytes)[kMaxText]) : begin_(bytes), at_(bytes) {}
  std::uint32_t length() const { return static_cast<std::uint32_t>(at_ - begin_); }

  template <class T>
  void put(T value) {
    if (at_ + sizeof value > begin_ + kMaxText) return;
    std::memcpy(at_, &value, sizeof value);
    at_ += sizeof value;
  }
  void put(Input kind) { put(static_cast<std::uint8_t>(kind)); }

  void value(PyObject* value) {
    if (value == Py_None) return put(Input::absent);
    if (PyBool_Check(value)) {
      put(Input::boolean);
      put(static_cast<std::uint8_t>(value == Py_True));
    } else if (PyLong_Check(value)) {
      int overflows = 0;
      const long long number = PyLong_AsLongLongAndOverflow(value, &overflows);
      if (overflows != 0) return put(Input::none);
      put(Input::integer);
      put(static_cast<std::int64_t>(number));
    } else if (PyFloat_Check(value)) {
      put(Input::real);
      put(PyFloat_AS_DOUBLE(value));
    } else if (PyList_Check(value) || PyTuple_Check(value)) {
      list(value);
    } else if (is_tensor(value)) {
      tensor(value);
    } else {
      put(Input::none);
    }
  }

  void keywords(PyObject* values) {
    put(Input::keywords);
    put(static_cast<std::uint16_t>(std::min<Py_ssize_t>(PyDict_Size(values), record::kMaxList)));
    PyObject *key = nullptr, *of_key = nullptr;
    Py_ssize_t at = 0;
    for (int i = 0; i < record::kMaxList && PyDict_Next(values, &at, &key, &of_key) != 0; ++i) {
      text(key);
      PyUnicode_Check(of_key) ? text(of_key) : value(of_key);
    }
  }

 private:
  void text(PyObject* told) {
    Py_ssize_t length = 0;
    const char* bytes = PyUnicode_Check(told) ? PyUnicode_AsUTF8AndSize(told, &length) : nullptr;
    if (bytes == nullptr) PyErr_Clear();
    length = std::min<Py_ssize_t>(length, begin_ + kMaxText - at_ - 3);
    if (length < 0) return;
    put(Input::text);
    put(static_cast<std::uint16_t>(length));
    if (bytes != nullptr) std::memcpy(at_, bytes, static_cast<std::size_t>(length));
    at_ += length;
  }

  void list(PyObject* values) {
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(values);
    put(Input::list);
    const auto told = static_cast<std::uint16_t>(std::min<Py_ssize_t>(count, record::kMaxList));
    put(told);
    for (Py_ssize_t i = 0; i < told; ++i) {
      PyObject* one = PySequence_Fast_GET_ITEM(values, i);
      if (one == values || depth_ > 2) {
        put(Input::none);
        continue;
      }
      ++depth_;
      value(one);
      --depth_;
    }
  }

  void tensor(PyObject* tensor) {
    PyObject* dtype = PyObject_GetAttrString(tensor, "dtype");
    PyObject* shape = PyObject_GetAttrString(tensor, "shape");
    PyObject* strides = PyObject_CallMethod(tensor, "stride", nullptr);  // an error for sparse tensors
    PyErr_Clear();
    const int number = number_of(dtype);
    if (number < 0 || shape == nullptr || !PyTuple_Check(shape)) {
      put(Input::none);
    } else {
      put(Input::tensor);
      put(static_cast<std::uint8_t>(number));
      put(static_cast<std::uint8_t>(PyTuple_GET_SIZE(shape)));
      const bool strided = strides != nullptr && PyTuple_Check(strides);
      put(static_cast<std::uint8_t>(strided));
      numbers(shape);
      if (strided) numbers(strides);
    }
    Py_XDECREF(dtype);
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    PyErr_Clear();
  }

  void numbers(PyObject* tuple) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i)
      put(static_cast<std::int64_t>(PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i))));
  }

  char *begin_, *at_;
  int depth_ = 0;
};

}  // namespace

std::uint32_t put_values(char (&bytes)[kMaxText], PyObject* inputs, PyObject* keywords) {
  Values values(bytes);
  if (keywords != nullptr && PyDict_Check(keywords) && PyDict_Size(keywords) > 0) values.keywords(keywords);
  if (inputs != nullptr && (PyList_Check(inputs) || PyTuple_Check(inputs)))
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(inputs); ++i)
      values.value(PySequence_Fast_GET_ITEM(inputs, i));
  return values.length();
}

}  // namespace stepscope::collect
