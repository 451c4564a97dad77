// What embeddings look up: how much of it is padding, told to the recording once as `padding`.
#pragma once

#include <ATen/record_function.h>
#include <c10/core/TensorImpl.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "collect/recorder.h"
#include "collect/torch/padding.h"

namespace stepscope::collect {

inline bool has_no_sizes(const c10::TensorImpl& tensor) {
  return tensor.has_symbolic_sizes_strides() || tensor.key_set().has(c10::DispatchKey::NestedTensorCPU) ||
         tensor.key_set().has(c10::DispatchKey::NestedTensorCUDA);
}

class Lookups {
 public:
  /// Goes on where the recording was paused; else begins anew.
  void begin() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || !over_) return;
    over_ = told_ = false;
    calls_ = copies_seen_ = batches_ = rows_ = length_ = 0;
    sum_ = {};
    copies_ = {};
  }

  /// Looks at the op's inputs if it looks something up, or copies what may be looked up on a device.
  void see(const at::RecordFunction& fn) noexcept try {
    const auto inputs = fn.inputs();
    if (inputs.size() >= 5 && std::strcmp(fn.name(), "aten::embedding") == 0)
      looked_up(inputs[1], inputs[2]);
    else if (inputs.size() == 3 && std::strcmp(fn.name(), "aten::copy_") == 0)
      copied(inputs[0], inputs[1]);
  } catch (...) {  // a tensor that does not tell its sizes: the op is recorded, its tokens are not
  }

  /// Writes what was seen into the recording. Once per recording: a second call does nothing.
  void tell() {
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) tell_once();
    over_ = true;
  }
  /// In a forked child: what was seen belongs to the parent.
  void forget() { over_ = true; }

 private:
  static constexpr std::int64_t kMostElements = 1 << 17;
  static constexpr std::int64_t kAll = 16, kEvery = 4;  ///< lookups looked at: the first, then each fourth
  static constexpr std::int64_t kMostCopies = 1024, kEnough = 64;  ///< copies looked at; batches

  /// Integers in at least two dimensions; else null.
  static const c10::TensorImpl* tokens_of(const c10::IValue& value) {
    if (!value.isTensor()) return nullptr;
    const c10::TensorImpl* impl = value.unsafeToTensorImpl();
    if (impl == nullptr || impl == c10::UndefinedTensorImpl::singleton()) return nullptr;
    if (impl->key_set().has(c10::DispatchKey::Python) || impl->is_sparse() || has_no_sizes(*impl))
      return nullptr;
    const auto type = c10::typeMetaToScalarType(impl->dtype());
    if (type != c10::ScalarType::Long && type != c10::ScalarType::Int) return nullptr;
    if (impl->layout() != c10::kStrided || impl->dim() < 2) return nullptr;
    return impl->numel() > 0 && impl->numel() <= kMostElements ? impl : nullptr;
  }

  static std::int64_t length_of(const c10::TensorImpl& of) { return of.sizes().back(); }
  static std::int64_t rows_of(const c10::TensorImpl& of) { return of.numel() / length_of(of); }

  static std::optional<Padding> counted(const c10::TensorImpl& of, std::optional<std::int64_t> known) {
    if (!of.has_storage() || !of.storage_initialized()) return std::nullopt;
    if (of.dim() > 2 && !of.is_contiguous()) return std::nullopt;
    const bool is_long = c10::typeMetaToScalarType(of.dtype()) == c10::ScalarType::Long;
    return is_long ? counted_as<std::int64_t>(of, known) : counted_as<std::int32_t>(of, known);
  }

  template <class Index>
  static std::optional<Padding> counted_as(const c10::TensorImpl& of, std::optional<std::int64_t> known) {
    const auto* begin = static_cast<const Index*>(of.unsafe_storage().data());
    const std::int64_t length = length_of(of), rows = rows_of(of);
    const std::int64_t row_stride = of.dim() == 2 ? of.strides()[0] : length,
                       column_stride = of.strides().back();
    if (row_stride < 0 || column_stride < 0) return std::nullopt;
    const std::int64_t last = of.storage_offset() + (rows - 1) * row_stride + (length - 1) * column_stride;
    const auto there = static_cast<std::int64_t>(of.unsafe_storage().nbytes() / sizeof(Index));
    if (begin == nullptr || last >= there) return std::nullopt;
    if (known && !std::in_range<Index>(*known)) known = std::nullopt;
    return padding_of<Index>({begin + of.storage_offset(), rows, length, row_stride, column_stride},
                             known ? std::optional(static_cast<Index>(*known)) : std::nullopt);
  }

  void looked_up(const c10::IValue& value, const c10::IValue& declared) {
    const c10::TensorImpl* tokens = tokens_of(value);
    if (tokens == nullptr) return;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || told_ || (++calls_ > kAll && calls_ % kEvery != 0)) return;
    const std::int64_t rows = rows_of(*tokens), length = length_of(*tokens);
    const bool is_declared = declared.isInt() && declared.toInt() >= 0;
    const auto found = tokens->device().is_cpu()
                           ? counted(*tokens, is_declared ? std::optional(declared.toInt()) : std::nullopt)
                           : copies_.take(rows, length);
    if (found) add(rows, length, *found);
  }

  void copied(const c10::IValue& target, const c10::IValue& source) {
    const c10::TensorImpl* to = tokens_of(target);
    const c10::TensorImpl* from = to == nullptr ? nullptr : tokens_of(source);
    // A copy to the meta device reads nothing, so its source may be unreadable.
    if (from == nullptr || to->device().is_cpu() || to->is_meta() || !from->device().is_cpu()) return;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || told_ || ++copies_seen_ > kMostCopies) return;
    if (const auto found = counted(*from, std::nullopt))
      copies_.add(rows_of(*from), length_of(*from), *found);
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
  std::atomic<bool> over_{true};
  std::int64_t calls_ = 0, copies_seen_ = 0, batches_ = 0, rows_ = 0, length_ = 0;
  Padding sum_;
  Copied copies_;
};

}  // namespace stepscope::collect
