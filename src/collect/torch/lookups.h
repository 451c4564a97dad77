// What embeddings look up: how much of it is padding, told to the recording once as `padding`.
#pragma once

#include <ATen/record_function.h>
#include <c10/core/TensorImpl.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <optional>

#include "collect/recorder.h"
#include "collect/torch/padding.h"

namespace stepscope::collect {

class Lookups {
 public:
  void clear() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
    told_ = false;
    calls_ = batches_ = rows_ = length_ = 0;
    sum_ = {};
    copies_ = {};
  }

  /// Looks at the op's inputs if it looks something up, or copies what may be looked up on a device.
  void see(const at::RecordFunction& fn) {
    const auto inputs = fn.inputs();
    if (inputs.size() >= 5 && std::strcmp(fn.name(), "aten::embedding") == 0)
      looked_up(inputs[1], inputs[2]);
    else if (inputs.size() == 3 && std::strcmp(fn.name(), "aten::copy_") == 0)
      copied(inputs[0], inputs[1]);
  }

  /// Writes what was seen into the recording. Once per recording: a second call does nothing.
  void tell() {
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) tell_once();
  }

 private:
  static constexpr std::int64_t kMostElements = 1 << 20;
  static constexpr std::int64_t kAll = 16, kEvery = 4;  ///< calls looked at: the first, then each fourth
  static constexpr std::int64_t kEnough = 256;          ///< batches

  struct Copy {
    std::int64_t rows = 0, length = 0;
    Padding padding;
  };

  /// Two dimensions of integers, wholly there and in order; else null.
  static const c10::TensorImpl* indices_of(const c10::IValue& value) {
    if (!value.isTensor()) return nullptr;
    const c10::TensorImpl* impl = value.unsafeToTensorImpl();
    if (impl == nullptr || impl == c10::UndefinedTensorImpl::singleton()) return nullptr;
    if (impl->key_set().has(c10::DispatchKey::Python) || impl->has_symbolic_sizes_strides()) return nullptr;
    const auto type = c10::typeMetaToScalarType(impl->dtype());
    if (type != c10::ScalarType::Long && type != c10::ScalarType::Int) return nullptr;
    if (impl->layout() != c10::kStrided || impl->dim() != 2 || impl->numel() > kMostElements) return nullptr;
    return impl;
  }

  static std::optional<Padding> counted(const c10::TensorImpl& of, std::optional<std::int64_t> known) {
    if (!of.is_contiguous() || !of.has_storage() || !of.storage_initialized()) return std::nullopt;
    const bool is_long = c10::typeMetaToScalarType(of.dtype()) == c10::ScalarType::Long;
    return is_long ? counted_as<std::int64_t>(of, known) : counted_as<std::int32_t>(of, known);
  }

  template <class Index>
  static std::optional<Padding> counted_as(const c10::TensorImpl& of, std::optional<std::int64_t> known) {
    const auto* begin = static_cast<const Index*>(of.unsafe_storage().data());
    if (begin == nullptr) return std::nullopt;
    const auto count = static_cast<std::size_t>(of.numel());
    return padding_of<Index>({begin + of.storage_offset(), count}, of.sizes()[1],
                             known ? std::optional(static_cast<Index>(*known)) : std::nullopt);
  }

  void looked_up(const c10::IValue& value, const c10::IValue& declared) {
    const c10::TensorImpl* indices = indices_of(value);
    if (indices == nullptr) return;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || told_ || (++calls_ > kAll && calls_ % kEvery != 0)) return;
    const std::int64_t rows = indices->sizes()[0], length = indices->sizes()[1];
    if (indices->device().is_cpu()) {
      const bool is_declared = declared.isInt() && declared.toInt() >= 0;
      const auto known = is_declared ? std::optional(declared.toInt()) : std::nullopt;
      if (const auto found = counted(*indices, known)) add(rows, length, *found);
      return;
    }
    for (const Copy& copy : copies_)
      if (copy.rows == rows && copy.length == length) return add(rows, length, copy.padding);
  }

  /// Kept by shape, the last ones: the same batch as indices, mask and labels has about the same padding.
  void copied(const c10::IValue& target, const c10::IValue& source) {
    const c10::TensorImpl* to = indices_of(target);
    const c10::TensorImpl* from = to == nullptr ? nullptr : indices_of(source);
    if (from == nullptr || to->device().is_cpu() || !from->device().is_cpu()) return;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || told_) return;
    const auto found = counted(*from, std::nullopt);
    if (!found) return;
    std::move_backward(copies_.begin(), copies_.end() - 1, copies_.end());
    copies_.front() = {from->sizes()[0], from->sizes()[1], *found};
  }

  void add(std::int64_t rows, std::int64_t length, const Padding& found) {
    sum_.elements += found.elements;
    sum_.padding += found.padding;
    sum_.shared += found.shared;
    if (rows * length > rows_ * length_) {
      rows_ = rows;
      length_ = length;
    }
    if (++batches_ == kEnough) tell_once();
  }

  void tell_once() {
    if (told_ || batches_ == 0) return;
    told_ = true;
    char text[256];
    const int size = std::snprintf(
        text, sizeof text,
        R"(padding={"batches": %lld, "elements": %lld, "padding": %lld, "shared": %lld, "largest": "[%lld, %lld]"})",
        static_cast<long long>(batches_), static_cast<long long>(sum_.elements),
        static_cast<long long>(sum_.padding), static_cast<long long>(sum_.shared),
        static_cast<long long>(rows_), static_cast<long long>(length_));
    (void)stepscope_metadata(text, static_cast<std::uint32_t>(size));
  }

  std::mutex mutex_;  ///< never waited for: after a fork another thread may hold it for good
  bool told_ = false;
  std::int64_t calls_ = 0, batches_ = 0, rows_ = 0, length_ = 0;
  Padding sum_;
  std::array<Copy, 4> copies_;
};

}  // namespace stepscope::collect
