// Recurrent layers run by one op: every 2-d weight is applied once per row of the input.
#include <optional>

#include "derive/work/families.h"

namespace stepscope::derive {
namespace {

struct RnnLayout {
  int mode, hidden, projection, layers, bidirectional;  // projection -1: MIOpen has none
  bool backward;
};

constexpr RnnLayout kRnnLayouts[] = {
    {6, 7, 8, 9, 13, false},     // kCudnnRnn
    {5, 6, -1, 7, 11, false},    // kMiopenRnn
    {10, 11, 12, 13, 17, true},  // kCudnnRnnBackward
    {10, 11, -1, 12, 16, true},  // kMiopenRnnBackward
};

constexpr std::int64_t kOutput = 6;  // argument index in the backward ops; its gradient follows

struct Layers {
  Amount hidden, width, count, directions;  // width: output size per direction
};

std::optional<Layers> layers_of(const Call& call, const RnnLayout& at) {
  const auto hidden = integer_of(call.at(at.hidden));
  const auto layers = integer_of(call.at(at.layers));
  const auto both = boolean_of(call.at(at.bidirectional));
  if (!hidden || !layers || !both || *hidden < 0 || *layers < 1 || *layers > 1000) return std::nullopt;
  const std::int64_t projection = integer_of(call.at(at.projection)).value_or(0);
  return Layers{*hidden, projection > 0 ? projection : *hidden, *layers, *both ? 2 : 1};
}

struct Weights {
  Amount matrices = 0;  // elements of the 2-d weights
  Amount all = 0;       // biases included
};

std::optional<Weights> recorded_weights(const Arg& list) {
  if (!list.is_list()) return std::nullopt;
  Weights w;
  for (const Shape& member : list.list) {
    w.all += numel(member);
    if (member.rank() == 2) w.matrices += numel(member);
  }
  return w;
}

std::optional<Weights> derived_weights(const Call& call, const RnnLayout& at, const Layers& layers,
                                       std::int64_t input_size) {
  const auto mode = integer_of(call.at(at.mode));
  if (!mode || *mode < 0 || *mode > 3) return std::nullopt;
  const Amount gates = *mode == 2 ? 4 : *mode == 3 ? 3 : 1;
  Weights w;
  for (std::int64_t layer = 0; layer < layers.count.value(); ++layer) {
    const Amount in = layer == 0 ? Amount(input_size) : layers.width * layers.directions;
    Amount matrices = gates * layers.hidden * (in + layers.width);
    if (layers.width.value() != layers.hidden.value()) matrices += layers.hidden * layers.width;
    w.matrices += matrices * layers.directions;
    w.all += (matrices + gates * layers.hidden * 2) * layers.directions;
  }
  return w;
}

}  // namespace

Work rnn_work(const Call& call) {
  const RnnLayout& at = kRnnLayouts[call.detail];
  const Arg& input = call.at(0);
  if (!input.is_tensor()) return unknown_work(kNoShapes);
  if (input.shape.rank() < 2) return unknown_work(kMalformed);
  const std::int64_t input_size = input.shape.dims.back();
  const auto layers = layers_of(call, at);
  auto weights = recorded_weights(call.at(1));
  if (!weights && layers) weights = derived_weights(call, at, *layers, input_size);
  if (!weights) return unknown_work(kNoConcrete);
  const Amount rows = input_size == 0 ? Amount(0) : numel(input.shape) / input_size;
  const std::int64_t element = bytes_per_element(input.dtype);
  const std::int64_t passes = at.backward ? 2 : 1;
  Tally tally(call, input.dtype);
  tally.matrix({2 * passes, rows, weights->matrices});
  if (layers) tally.vector({10 * passes, rows, layers->hidden, layers->count, layers->directions});
  tally.read(input);
  tally.read(weights->all * element);
  if (at.backward) {
    tally.read(call.at(kOutput));
    tally.read(call.at(kOutput + 1));
    tally.write(numel(input.shape) * element);
    tally.write(weights->all * element);
  } else if (layers) {
    tally.write(rows * layers->width * layers->directions * element);
  } else {
    tally.bytes_unknown(kNoConcrete);
  }
  if (element == 0) tally.bytes_unknown(kNoElementType);
  return tally.work();
}

Work fused_cell_work(const Call& call) {
  const Arg& gates = call.at(0);
  const Arg& state = call.at(2);
  if (!gates.is_tensor() || !call.at(1).is_tensor()) return unknown_work(kNoShapes);
  if (gates.shape.dims.empty() || gates.shape.dims.back() % call.detail != 0) return unknown_work(kMalformed);
  const Amount outputs = numel(gates.shape) / call.detail;
  const std::int64_t element = bytes_per_element(gates.dtype);
  Tally tally(call, gates.dtype);
  tally.vector({10, outputs});
  for (int i = 0; i <= 1; ++i) tally.read(call.at(i));
  tally.read_optional(state);
  // LSTM: both states and the four gates; GRU: the state and a workspace of five.
  tally.write(outputs * (call.detail == 4 ? 2 + 4 : 1 + 5) * element);
  if (element == 0) tally.bytes_unknown(kNoElementType);
  return tally.work();
}

}  // namespace stepscope::derive
