// Pooling, interpolation and grid sampling.
#include <cmath>
#include <optional>

#include "derive/work/conv_shape.h"
#include "derive/work/families.h"

namespace stepscope::derive {
namespace {

using Sizes = std::vector<std::int64_t>;

// Spatial dimensions of pooling, from the op's name ("…2d").
std::size_t spatial_dims(std::string_view name) {
  for (std::size_t dims = 1; dims <= 3; ++dims)
    if (name.find(std::to_string(dims) + "d") != std::string_view::npos) return dims;
  return 2;
}

struct Pooled {
  Amount outputs = Amount::unknown();
  Amount window = 1;
  bool overlap = false;
};

// `ceil` and `dilation`: argument positions; dilation 0 if the op has none.
std::optional<Pooled> pooled(const Call& call, const Arg& x, std::size_t dilation, std::size_t ceil) {
  const std::size_t spatial = spatial_dims(call.name);
  if (x.shape.dims.size() < spatial) return std::nullopt;
  const auto kernel = integers_of(call.at(1));
  const auto stride = integers_of(call.at(2));
  const auto padding = integers_of(call.at(3));
  if (!kernel || !padding) return std::nullopt;
  const Sizes& steps = stride && !stride->empty() ? *stride : *kernel;
  const Sizes spread = dilation == 0 ? Sizes{1} : integers_of(call.at(dilation)).value_or(Sizes{1});
  const bool rounds_up = boolean_of(call.at(ceil)).value_or(false);
  const std::size_t first = x.shape.dims.size() - spatial;
  Pooled out;
  out.outputs = 1;
  for (std::size_t i = 0; i < first; ++i) out.outputs *= x.shape.dims[i];
  for (std::size_t i = 0; i < spatial; ++i) {
    const auto k = per_dimension(*kernel, i, spatial);
    const auto s = per_dimension(steps, i, spatial);
    const auto p = per_dimension(*padding, i, spatial);
    const auto d = per_dimension(spread, i, spatial);
    if (!k || !s || !p || !d) return std::nullopt;
    const Window window{x.shape.dims[first + i], *k, *s, *p, *d};
    const auto size = rounds_up ? window_output_ceil(window) : window_output(window);
    if (!size) return std::nullopt;
    out.outputs *= *size;
    out.window *= *k;
    out.overlap = out.overlap || *s < *k;
  }
  return out;
}

std::string_view missing(const Call& call) { return call.args.has_concrete ? kMalformed : kNoConcrete; }

}  // namespace

Work max_pool_work(const Call& call) {
  const Arg& x = call.at(0);
  if (!x.is_tensor()) return unknown_work(kNoShapes);
  const auto out = pooled(call, x, 4, 5);
  if (!out) return unknown_work(missing(call));
  Tally tally(call, x.dtype);
  tally.vector({out->outputs, out->window});
  tally.read(x);
  tally.write(bytes_of(out->outputs, x.dtype) + out->outputs * 8);
  return tally.work();
}

Work max_pool_backward_work(const Call& call) {
  const Arg& grad = call.at(0);
  const Arg& x = call.at(1);
  if (!grad.is_tensor() || !x.is_tensor()) return unknown_work(kNoShapes);
  const Amount outputs = numel(grad.shape);
  Tally tally(call, x.dtype);
  tally.vector({outputs});
  tally.read(grad);
  tally.read(outputs * 8);
  tally.write(bytes_of(numel(x.shape), x.dtype));
  return tally.work();
}

Work average_pool_work(const Call& call) {
  const Arg& x = call.at(0);
  if (!x.is_tensor()) return unknown_work(kNoShapes);
  const auto out = pooled(call, x, 0, 4);
  if (!out) return unknown_work(missing(call));
  Tally tally(call, x.dtype);
  if (out->overlap) {
    tally.vector({out->outputs, out->window});
  } else {
    tally.vector({numel(x.shape)});
  }
  tally.read(x);
  tally.write(bytes_of(out->outputs, x.dtype));
  return tally.work();
}

Work adaptive_pool_work(const Call& call) {
  const Arg& x = call.at(0);
  if (!x.is_tensor()) return unknown_work(kNoShapes);
  const std::size_t spatial = spatial_dims(call.name);
  const std::size_t rank = x.shape.dims.size();
  if (rank < spatial) return unknown_work(kMalformed);
  const auto sizes = integers_of(call.at(1));
  Tally tally(call, x.dtype);
  tally.vector({numel(x.shape)});
  tally.read(x);
  Amount outputs = 1;
  for (std::size_t i = 0; i < rank - spatial; ++i) outputs *= x.shape.dims[i];
  for (std::size_t i = 0; i < spatial; ++i) {
    const auto size = sizes ? per_dimension(*sizes, i, spatial) : std::nullopt;
    outputs *= size ? Amount(*size) : Amount::unknown();
  }
  if (outputs.known()) {
    tally.write(bytes_of(outputs, x.dtype));
  } else {
    tally.bytes_unknown(kNoConcrete);
  }
  return tally.work();
}

Work upsample_work(const Call& call) {
  const Arg& x = call.at(0);
  if (!x.is_tensor()) return unknown_work(kNoShapes);
  const std::size_t spatial = spatial_dims(call.name);
  const std::size_t rank = x.shape.dims.size();
  if (rank < spatial) return unknown_work(kMalformed);
  Amount outputs = 1;
  for (std::size_t i = 0; i < rank - spatial; ++i) outputs *= x.shape.dims[i];
  const auto sizes = integers_of(call.at(1));
  if (sizes && sizes->size() == spatial) {
    for (const std::int64_t size : *sizes) outputs *= size < 0 ? Amount::unknown() : Amount(size);
  } else {
    // The scale factors are a list of floats, the last argument of the overload without sizes.
    const auto scales = numbers_of(call.args.args.back());
    if (!scales || scales->size() != spatial) return unknown_work(kNoConcrete);
    for (std::size_t i = 0; i < spatial; ++i) {
      const double size = std::floor(static_cast<double>(x.shape.dims[rank - spatial + i]) * (*scales)[i]);
      if (!(size >= 0 && size < 1e15)) return unknown_work(kMalformed);
      outputs *= static_cast<std::int64_t>(size);
    }
  }
  Tally tally(call, x.dtype);
  tally.vector({call.detail, outputs});
  tally.read(x);
  tally.write(bytes_of(outputs, x.dtype));
  return tally.work();
}

Work grid_sampler_work(const Call& call) {
  const Arg& x = call.at(0);
  const Arg& grid = call.at(1);
  if (!x.is_tensor() || !grid.is_tensor()) return unknown_work(kNoShapes);
  if (x.shape.rank() != 4 || grid.shape.rank() != 4) return unknown_work(kMalformed);
  const Amount outputs = Amount(x.shape.dims[0]) * x.shape.dims[1] * grid.shape.dims[1] * grid.shape.dims[2];
  Tally tally(call, x.dtype);
  tally.vector({7, outputs});
  tally.read(x);
  tally.read(grid);
  tally.write(bytes_of(outputs, x.dtype));
  return tally.work();
}

}  // namespace stepscope::derive
