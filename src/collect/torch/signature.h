// An op's inputs as a signature, see record/signature.h.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/TensorImpl.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "collect/recorder.h"
#include "collect/torch/lookups.h"
#include "record/signature.h"

namespace stepscope::collect {

using record::Input;

/// Writes a signature; values that do not fit are left out. A smaller value may follow one that was left out,
/// but a reader stops at that one: the text ends before the bytes that it needs.
class Signature {
 public:
  explicit Signature(char* at) : begin_(at), at_(at) {}
  std::uint32_t length() const { return static_cast<std::uint32_t>(at_ - begin_); }

  template <class T>
  void put(T value) {
    if (at_ + sizeof value > begin_ + kMaxText) return;
    std::memcpy(at_, &value, sizeof value);
    at_ += sizeof value;
  }
  void put(Input kind) { put(static_cast<std::uint8_t>(kind)); }

  void inputs(c10::ArrayRef<const c10::IValue> inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].isList() || inputs[i].isComplexDouble()) remark_on(i, inputs[i]);
      value(inputs[i]);
    }
    if (remarks_ == 0) return;
    put(record::kRemarks);
    put(remarks_);
    for (std::size_t i = 0; i < remarks_; ++i) {
      put(remarked_[i].input);
      put(static_cast<std::uint8_t>(remarked_[i].remark));
      if (remarked_[i].remark == record::Remark::complex) put(remarked_[i].number);
    }
  }

  void text(Input kind, const std::string& text) {
    if (text.size() > kMaxText / 2) return;
    put(kind);
    put(static_cast<std::uint16_t>(text.size()));
    for (const char letter : text) put(letter);
  }

  void tensor(const c10::TensorImpl& tensor, bool strides) {
    // Python subclasses and symbolic sizes would run Python code here.
    if (tensor.key_set().has(c10::DispatchKey::Python) || has_no_sizes(tensor)) return put(Input::none);
    const auto sizes = tensor.sizes();
    put(Input::tensor);
    put(static_cast<std::uint8_t>(c10::typeMetaToScalarType(tensor.dtype())));
    put(static_cast<std::uint8_t>(sizes.size()));
    const bool strided = strides && tensor.layout() == c10::kStrided;
    put(static_cast<std::uint8_t>(strided));
    for (const std::int64_t size : sizes) put(size);
    if (strided)
      for (const std::int64_t stride : tensor.strides()) put(stride);
  }

  void value(const c10::IValue& value) {
    if (value.isTensor()) {
      const c10::TensorImpl* impl = value.unsafeToTensorImpl();
      if (impl == nullptr || impl == c10::UndefinedTensorImpl::singleton()) return put(Input::absent);
      tensor(*impl, true);
    } else if (value.isInt()) {
      put(Input::integer);
      put(value.toInt());
    } else if (value.isDouble()) {
      put(Input::real);
      put(value.toDouble());
    } else if (value.isBool()) {
      put(Input::boolean);
      put(static_cast<std::uint8_t>(value.toBool()));
    } else if (value.isNone()) {
      put(Input::absent);
    } else if (value.isList()) {
      list(value.toListRef());
    } else {
      put(Input::none);
    }
  }

 private:
  void list(c10::ArrayRef<c10::IValue> values) {
    put(Input::list);
    const std::size_t told = std::min<std::size_t>(values.size(), record::kMaxList);
    put(static_cast<std::uint16_t>(told));
    for (std::size_t i = 0; i < told; ++i) value(values[i]);
  }

  void remark_on(std::size_t input, const c10::IValue& value) {
    using record::Remark;
    Remarked told{static_cast<std::uint8_t>(input), Remark::complex, {}};
    if (remarks_ == record::kMaxRemarks || input > UINT8_MAX) return;
    if (value.isComplexDouble()) {
      told.number = {value.toComplexDouble().real(), value.toComplexDouble().imag()};
    } else {
      const auto all = value.toListRef();
      const bool tensors = value.isTensorList(), fits = all.size() <= record::kMaxList;
      told.remark = tensors ? Remark::no_shapes : Remark::left_out;
      if (tensors ? fits && !all.empty() : all.empty() || (fits && is_number(all[0]))) return;
    }
    remarked_[remarks_++] = told;
  }
  static bool is_number(const c10::IValue& value) {
    return value.isInt() || value.isDouble() || value.isBool();
  }

  struct Remarked {
    std::uint8_t input;
    record::Remark remark;
    std::array<double, 2> number;
  };
  char* begin_;
  char* at_;
  std::uint8_t remarks_ = 0;
  Remarked remarked_[record::kMaxRemarks];
};

}  // namespace stepscope::collect
