// Normalisations. n elements, C channels (or the normalised size), R = n / C rows.
#include "derive/work/families.h"

namespace stepscope::derive {
namespace {

// Mean and deviation of a row are kept in 32 bit.
constexpr std::int64_t kStatBytes = 4;

// The normalised size: the scalar list, or the elements of γ.
Amount normalised_size(const Arg& shape, const Arg& gamma) {
  if (const auto sizes = integers_of(shape); sizes && !sizes->empty()) return numel(Shape{*sizes, {}});
  return gamma.is_tensor() ? numel(gamma.shape) : Amount::unknown();
}

struct Gradients {
  bool input = true, gamma = true, beta = true, recorded = false;
};

Gradients gradients_of(const Arg& mask) {
  const auto values = booleans_of(mask);
  if (!values || values->empty()) return {};
  Gradients g{(*values)[0], values->size() > 1 && (*values)[1], values->size() > 2 && (*values)[2], true};
  return g;
}

}  // namespace

Work layer_norm_work(const Call& call) {
  const Arg& x = call.at(0);
  if (!x.is_tensor()) return unknown_work(kNoShapes);
  const Amount size = normalised_size(call.at(1), call.at(2));
  const Amount n = numel(x.shape);
  if (!size.known() || size.value() == 0) return unknown_work(kNoConcrete);
  Tally tally(call, x.dtype);
  tally.vector({5, n});
  tally.vector({6, size});
  tally.read(x);
  tally.read_optional(call.at(2));
  tally.read_optional(call.at(3));
  tally.write(bytes_of(n, x.dtype) + n / size * 2 * kStatBytes);
  return tally.work();
}

Work layer_norm_backward_work(const Call& call) {
  const Arg& grad = call.at(0);
  const Arg& x = call.at(1);
  if (!grad.is_tensor() || !x.is_tensor()) return unknown_work(kNoShapes);
  const Gradients wanted = gradients_of(call.at(7));
  const Arg& gamma = call.at(5);
  const Amount size = normalised_size(call.at(2), gamma);
  const Amount n = numel(x.shape);
  Tally tally(call, x.dtype);
  if (!wanted.recorded) tally.estimated();
  tally.vector({wanted.input ? 9 : 4, n});
  for (int i = 0; i <= 1; ++i) tally.read(call.at(i));
  for (int i = 3; i <= 5; ++i) tally.read_optional(call.at(i));
  if (wanted.input) tally.write(bytes_of(n, x.dtype));
  if (wanted.gamma && gamma.is_tensor()) tally.write(bytes_of(size, x.dtype));
  if (wanted.beta && call.at(6).is_tensor()) tally.write(bytes_of(size, x.dtype));
  return tally.work();
}

Work batch_norm_work(const Call& call) {
  const Arg& x = call.at(0);
  if (!x.is_tensor()) return unknown_work(kNoShapes);
  if (x.shape.rank() < 2) return unknown_work(kMalformed);
  const auto recorded = call.detail == 1 ? std::optional<bool>(true) : boolean_of(call.at(5));
  const bool training = recorded.value_or(true);
  const Amount n = numel(x.shape);
  Tally tally(call, x.dtype);
  if (!recorded) tally.estimated();
  tally.vector({training ? 5 : 2, n});
  tally.vector({6, x.shape.dims[1]});
  tally.read(x);
  tally.write(bytes_of(n, x.dtype));
  for (int i = 1; i <= 4; ++i) tally.read_optional(call.at(i));
  if (training)
    for (int i = 3; i <= 4; ++i)
      if (call.at(i).is_tensor()) tally.write(touched_bytes(call.at(i)));
  return tally.work();
}

Work batch_norm_backward_work(const Call& call) {
  const std::int64_t x_index = call.detail;
  const Arg& x = call.at(x_index);
  const Arg& grad = call.at(1 - x_index);
  if (!grad.is_tensor() || !x.is_tensor()) return unknown_work(kNoShapes);
  if (x.shape.rank() < 2) return unknown_work(kMalformed);
  const bool has_mask = x_index == 1;
  const Gradients wanted = has_mask ? gradients_of(call.at(9)) : Gradients{true, true, true, true};
  const Amount n = numel(x.shape);
  const Amount channels = x.shape.dims[1];
  Tally tally(call, x.dtype);
  if (!wanted.recorded) tally.estimated();
  tally.vector({wanted.input ? 9 : 4, n});
  tally.read(grad);
  tally.read(x);
  tally.read_optional(call.at(2));
  tally.read_optional(call.at(6));  // the saved inverse deviation
  if (wanted.input) tally.write(bytes_of(n, x.dtype));
  if (wanted.gamma) tally.write(bytes_of(channels, x.dtype));
  if (wanted.beta) tally.write(bytes_of(channels, x.dtype));
  return tally.work();
}

Work group_norm_work(const Call& call) {
  const Arg& x = call.at(0);
  if (!x.is_tensor()) return unknown_work(kNoShapes);
  if (x.shape.rank() < 2) return unknown_work(kMalformed);
  const Amount n = numel(x.shape);
  const auto groups = integer_of(call.at(6));
  Tally tally(call, x.dtype);
  tally.vector({5, n});
  tally.vector({6, x.shape.dims[1]});
  tally.read(x);
  tally.read_optional(call.at(1));
  tally.read_optional(call.at(2));
  tally.write(bytes_of(n, x.dtype));
  if (groups) {
    tally.write(Amount(x.shape.dims[0]) * *groups * 2 * kStatBytes);
  } else {
    tally.bytes_unknown(kNoConcrete);
  }
  return tally.work();
}

Work group_norm_backward_work(const Call& call) {
  const Arg& grad = call.at(0);
  const Arg& x = call.at(1);
  if (!grad.is_tensor() || !x.is_tensor()) return unknown_work(kNoShapes);
  if (x.shape.rank() < 2) return unknown_work(kMalformed);
  const Gradients wanted = gradients_of(call.at(9));
  const Amount n = numel(x.shape);
  Tally tally(call, x.dtype);
  if (!wanted.recorded) tally.estimated();
  tally.vector({wanted.input ? 9 : 4, n});
  tally.read(grad);
  tally.read(x);
  for (int i = 2; i <= 4; ++i) tally.read_optional(call.at(i));
  if (wanted.input) tally.write(bytes_of(n, x.dtype));
  if (wanted.gamma) tally.write(bytes_of(x.shape.dims[1], x.dtype));
  if (wanted.beta) tally.write(bytes_of(x.shape.dims[1], x.dtype));
  return tally.work();
}

Work rms_norm_work(const Call& call) {
  const Arg& x = call.at(0);
  const Arg& gamma = call.at(2);
  if (!x.is_tensor()) return unknown_work(kNoShapes);
  const Amount size = normalised_size(call.at(1), gamma);
  const Amount n = numel(x.shape);
  if (!size.known() || size.value() == 0) return unknown_work(kNoConcrete);
  const Amount rows = n / size;
  Tally tally(call, x.dtype);
  tally.vector({gamma.is_tensor() ? 4 : 3, n});
  tally.vector({2, rows});
  tally.read(x);
  tally.read_optional(gamma);
  tally.write(bytes_of(n, x.dtype) + rows * kStatBytes);
  return tally.work();
}

Work rms_norm_backward_work(const Call& call) {
  const Arg& grad = call.at(0);
  const Arg& x = call.at(1);
  const Arg& gamma = call.at(4);
  if (!grad.is_tensor() || !x.is_tensor()) return unknown_work(kNoShapes);
  const Gradients wanted = gradients_of(call.at(5));
  const Amount n = numel(x.shape);
  Tally tally(call, x.dtype);
  if (!wanted.recorded) tally.estimated();
  tally.vector({wanted.input ? 9 : 4, n});
  tally.read(grad);
  tally.read(x);
  tally.read_optional(call.at(3));
  tally.read_optional(gamma);
  if (wanted.input) tally.write(bytes_of(n, x.dtype));
  if (wanted.gamma && gamma.is_tensor()) tally.write(bytes_of(numel(gamma.shape), x.dtype));
  return tally.work();
}

Work sync_norm_work(const Call& call) {
  struct Form {
    int flops, large_reads, large_writes;
    int vectors_end;  // per-channel arguments come after the large ones, up to here
    int channel_writes;
  };
  static constexpr Form kForms[] = {{3, 1, 0, 1, 2}, {2, 1, 1, 5, 0}, {4, 2, 0, 5, 4}, {5, 2, 1, 7, 0}};
  const Form& form = kForms[call.detail];
  const Arg& x = call.at(form.large_reads - 1);
  if (!call.at(0).is_tensor() || !x.is_tensor()) return unknown_work(kNoShapes);
  if (x.shape.rank() < 2) return unknown_work(kMalformed);
  const Amount n = numel(x.shape);
  Tally tally(call, x.dtype);
  tally.vector({form.flops, n});
  for (int i = 0; i < form.large_reads; ++i) tally.read(call.at(i));
  for (int i = form.large_reads; i < form.vectors_end; ++i) tally.read_optional(call.at(i));
  if (form.large_writes > 0) tally.write(bytes_of(n, x.dtype));
  tally.write(Amount(form.channel_writes) * x.shape.dims[1] * kStatBytes);
  return tally.work();
}

}  // namespace stepscope::derive
