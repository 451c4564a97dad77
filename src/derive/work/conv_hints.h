// Sizes of convolutions that older recorders left out, taken from the ops around them.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trace/trace.h"

namespace stepscope::derive {

/// The sizes found, and the text that they were read from (kEmptyString: nothing found).
struct ConvHint {
  std::vector<std::int64_t> output_spatial;
  std::vector<std::int64_t> weight, input;
  trace::StringId source = trace::kEmptyString;
};

class ConvHints {
 public:
  ConvHints(const trace::Trace& trace, const trace::Rank& rank);

  /// A forward convolution: the spatial sizes of its output. They come from the gradient that its autograd
  /// node receives (same sequence number, a forward thread recorded), else from the input of the next
  /// normalization or activation on its thread. They must fit in rank, batch and channels; transposed
  /// convolutions get no hint. The gradient of a weight: the weight's sizes, from the op around it or from
  /// the neighbouring gradient of the input. The gradient of an input: the input's sizes, from the op around
  /// it.
  ConvHint of(trace::Row row);

 private:
  using Sizes = std::vector<std::int64_t>;

  trace::StringId dims(trace::Row row) const;
  Sizes sizes(trace::StringId dims, std::size_t argument) const;
  ConvHint output_of(trace::Row row);
  ConvHint weight_of(trace::Row row) const;
  ConvHint input_of(trace::Row row) const;
  ConvHint from_backward(trace::Row row, const Sizes& input, const Sizes& weight);
  ConvHint from_next_op(trace::Row row, const Sizes& input, const Sizes& weight) const;
  ConvHint fitting(trace::StringId donor, const Sizes& input, const Sizes& weight) const;
  void index_backward_nodes();

  const trace::Trace& trace_;
  const trace::Rank& rank_;
  trace::ArgReader dims_, old_dims_, sequence_, forward_thread_;
  bool indexed_ = false;
  std::unordered_map<std::int64_t, std::vector<trace::Row>> nodes_;  ///< by sequence number
};

}  // namespace stepscope::derive
