// Softmax, negative log likelihood and dropout.
#include "derive/work/families.h"

namespace stepscope::derive {
Work softmax_work(const Call& call) {
  const Arg& x = call.at(0);
  if (!x.is_tensor()) return unknown_work(kNoShapes);
  const Amount n = numel(x.shape);
  const bool widens = boolean_of(call.at(2)).value_or(false);
  Tally tally(call, x.dtype);
  tally.vector({5, n});
  tally.read(x);
  tally.write(bytes_of(n, widens ? DType::float32 : x.dtype));
  return tally.work();
}

Work softmax_backward_work(const Call& call) {
  const Arg& grad = call.at(0);
  if (!grad.is_tensor() || !call.at(1).is_tensor()) return unknown_work(kNoShapes);
  const Amount n = numel(grad.shape);
  const auto code = integer_of(call.at(3));  // type of the forward's input; older files record that tensor
  const DType out = code ? dtype_of_code(*code) : grad.dtype;
  Tally tally(call, grad.dtype);
  tally.vector({4, n});
  tally.read(grad);
  tally.read(call.at(1));
  tally.write(bytes_of(n, out));
  return tally.work();
}

Work nll_loss_work(const Call& call) {
  const std::int64_t x_index = call.detail;
  const Arg& x = call.at(x_index);
  const Arg& target = call.at(x_index + 1);
  if (!x.is_tensor() || !target.is_tensor()) return unknown_work(kNoShapes);
  const Amount rows = numel(target.shape);
  Tally tally(call, x.dtype);
  tally.vector({rows});
  tally.read(target);
  if (x_index == 0) {
    tally.read(bytes_of(rows, x.dtype));
    tally.write(bytes_of(2, x.dtype));  // the loss and the total weight
  } else {
    tally.read(call.at(0));
    tally.write(bytes_of(rows, x.dtype));
  }
  return tally.work();
}

Work dropout_work(const Call& call) {
  const Arg& x = call.at(0);
  if (!x.is_tensor()) return unknown_work(kNoShapes);
  const Amount n = numel(x.shape);
  Tally tally(call, x.dtype);
  tally.vector({2, n});
  tally.read(x);
  tally.write(bytes_of(n, x.dtype) + n);
  return tally.work();
}

Work dropout_backward_work(const Call& call) {
  const Arg& grad = call.at(0);
  const Arg& mask = call.at(1);
  if (!grad.is_tensor() || !mask.is_tensor()) return unknown_work(kNoShapes);
  const Amount n = numel(grad.shape);
  Tally tally(call, grad.dtype);
  tally.vector({2, n});
  tally.read(grad);
  tally.read(mask);
  tally.write(bytes_of(n, grad.dtype));
  return tally.work();
}

}  // namespace stepscope::derive
