// Output sizes of convolutions and pooling windows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace stepscope::derive {

/// One spatial dimension of a sliding window.
struct Window {
  std::int64_t input, kernel, stride, padding, dilation;
};

/// floor((in + 2·pad − dil·(k−1) − 1) / stride) + 1. Empty if the sizes are no convolution (stride or kernel
/// below 1, negative padding, window larger than the padded input, or numbers beyond 2^31).
std::optional<std::int64_t> window_output(const Window& window);

/// window_output with ceil, minus one if the last window would start in the padding (pooling's ceil_mode).
std::optional<std::int64_t> window_output_ceil(const Window& window);

/// (in−1)·stride − 2·pad + dil·(k−1) + output_padding + 1.
std::optional<std::int64_t> transposed_output(const Window& window, std::int64_t output_padding);

/// Value `i` of a list with one entry per spatial dimension, or one entry for all.
std::optional<std::int64_t> per_dimension(std::span<const std::int64_t> list, std::size_t i,
                                          std::size_t count);

}  // namespace stepscope::derive
