#include "derive/work/conv_shape.h"

namespace stepscope::derive {
namespace {

constexpr std::int64_t kMaxSize = std::int64_t{1} << 31;

bool in_range(std::int64_t value, std::int64_t least) { return value >= least && value <= kMaxSize; }

// Distance between the first and the last possible position of the window's left edge; empty if the window
// does not fit or a size is out of range.
std::optional<std::int64_t> travel(const Window& w) {
  if (!in_range(w.input, 0) || !in_range(w.kernel, 1) || !in_range(w.stride, 1) || !in_range(w.padding, 0) ||
      !in_range(w.dilation, 1))
    return std::nullopt;
  const std::int64_t span = w.dilation * (w.kernel - 1) + 1;
  const std::int64_t room = w.input + 2 * w.padding - span;
  if (room < 0) return std::nullopt;
  return room;
}

}  // namespace

std::optional<std::int64_t> window_output(const Window& window) {
  const auto room = travel(window);
  if (!room) return std::nullopt;
  return *room / window.stride + 1;
}

std::optional<std::int64_t> window_output_ceil(const Window& window) {
  const auto room = travel(window);
  if (!room) return std::nullopt;
  const std::int64_t outputs = (*room + window.stride - 1) / window.stride + 1;
  const bool last_is_padding = (outputs - 1) * window.stride >= window.input + window.padding;
  return last_is_padding ? outputs - 1 : outputs;
}

std::optional<std::int64_t> transposed_output(const Window& w, std::int64_t output_padding) {
  if (!in_range(w.input, 1) || !in_range(w.kernel, 1) || !in_range(w.stride, 1) || !in_range(w.padding, 0) ||
      !in_range(w.dilation, 1) || !in_range(output_padding, 0))
    return std::nullopt;
  std::int64_t stretched = 0;
  if (__builtin_mul_overflow(w.input - 1, w.stride, &stretched) ||
      __builtin_add_overflow(stretched, w.dilation * (w.kernel - 1) - 2 * w.padding + output_padding + 1,
                             &stretched))
    return std::nullopt;
  if (stretched < 1) return std::nullopt;
  return stretched;
}

std::optional<std::int64_t> per_dimension(std::span<const std::int64_t> list, std::size_t i,
                                          std::size_t count) {
  if (list.size() == 1) return list[0];
  if (list.size() == count && i < count) return list[i];
  return std::nullopt;
}

}  // namespace stepscope::derive
