// Problems planted between the blocks of the model.
#include <algorithm>

#include "make_trace/model/model.h"

namespace stepscope::make_trace {

void Model::planted_ops(int index) {
  const auto share = [&](std::int64_t n) {  // this block's share of `n`, as even as integers allow
    return n * (index + 1) / o_.layers - n * index / o_.layers;
  };
  for (std::int64_t i = share(o_.tiny_kernels); i > 0; --i) tiny_op();
  for (std::int64_t i = share(o_.item_sync); i > 0; --i) item();
  for (std::int64_t i = share(o_.alloc_churn); i > 0; --i) {
    const Builder::Part part(b_, Lane::cache);
    auto call = b_.frame("torch/cuda/memory.py(218): empty_cache");
    b_.empty_cache();
    b_.think(8000);
  }
  for (std::int64_t i = share(o_.nonzero); i > 0; --i) select_positive();
  for (std::int64_t i = share(o_.python_calls); i > 0; --i) {
    const Builder::Part part(b_, Lane::calls);
    auto call = b_.frame("model.py(64): check");
  }
  if (o_.python_ms > 0) python(share(static_cast<std::int64_t>(o_.python_ms * 1e6)));
  if (index == o_.layers / 2) pause();
}

void Model::tiny_op() {
  const Builder::Part part(b_, Lane::tiny);
  auto op = b_.op("aten::mul", {tensor({64, 64}), scalar("1.01")});
  pointwise(v_.mul, 64 * 64, 2);
}

void Model::item() {
  const Builder::Part part(b_, Lane::item);
  auto call = b_.frame("<built-in method item of Tensor object>");
  auto op = b_.op("aten::item", {tensor({})});
  {
    auto inner = b_.op("aten::_local_scalar_dense", {tensor({})});
    b_.copy("Memcpy DtoH (Device -> Pinned)", 4, hw_.pinned_bytes_per_ns, false);
    b_.synchronize(0);
  }
}

/// x[x > 0]: the number of positive elements decides the shape, so the host must wait for it.
void Model::select_positive() {
  const Builder::Part part(b_, Lane::nonzero);
  const std::int64_t elements = t_ * 16;
  const int blocks = static_cast<int>(std::max<std::int64_t>(1, elements / 512));
  const double mask_bytes = static_cast<double>(elements);
  {
    auto compare = b_.op("aten::gt", {tensor({t_, 16}), scalar("0")});
    pointwise(v_.compare, elements, 2);
  }
  auto index = b_.op("aten::index", {tensor({t_, 16}), none()});
  {
    auto nonzero = b_.op("aten::nonzero", {tensor({t_, 16})});
    b_.kernel(v_.nonzero_count, stream_ns(hw_, mask_bytes), {{blocks, 1, 1}, {256, 1, 1}, 32, 0});
    b_.copy("Memcpy DtoH (Device -> Pinned)", 4, hw_.pinned_bytes_per_ns, false);
    b_.synchronize(0);
    b_.kernel(v_.nonzero_select, stream_ns(hw_, mask_bytes * 9), {{blocks, 1, 1}, {128, 1, 1}, 40, 9000});
  }
  pointwise(v_.gather, elements / 2, 3);
}

void Model::python(std::int64_t ns) {
  const Builder::Part part(b_, Lane::python);
  auto frame = b_.frame("model.py(88): position_features");
  b_.sleep(ns / 10);
  auto loop = b_.frame("model.py(93): bucket");
  b_.sleep(ns - ns / 10);
}

/// A garbage collection of the interpreter, which nothing records.
void Model::pause() {
  if (o_.gc_pause_ms <= 0) return;
  const Builder::Part part(b_, Lane::pause);
  const Builder::Only only(b_, {kPauseEvery - 1, kPauseEvery});
  b_.sleep(static_cast<std::int64_t>(o_.gc_pause_ms * 1e6));
}

/// y += w[i] * x[i] for every i
void Model::loop_over_rows() {
  const Builder::Part part(b_, Lane::rows);
  for (int i = 0; i < o_.row_loop; ++i) {
    for (const char* side : {"0", "1"}) {
      auto select = b_.light_op("aten::select", {tensor({o_.row_loop, h_}), scalar("0"), scalar(side)});
      auto strided = b_.light_op("aten::as_strided", {tensor({o_.row_loop, h_}), none(), none(), none()});
    }
    {
      auto mul = b_.op("aten::mul", {tensor({h_}), tensor({h_})});
      pointwise(v_.mul, h_, 3);
    }
    auto add = b_.op("aten::add_", {tensor({h_}), tensor({h_}), scalar("1")});
    pointwise(v_.add, h_, 3);
  }
}

/// A frozen projection of scaled float features; numpy's floats have 8 bytes.
void Model::project_features() {
  if (o_.features <= 0) return;
  const Builder::Part part(b_, Lane::features);
  auto module = b_.module("FeatureProjection", 0);
  const std::int64_t width = o_.features, size = o_.fp64 ? 8 : element_;
  const auto typed = [&](std::vector<std::int64_t> dims) {
    return o_.fp64 ? doubles(std::move(dims)) : tensor(std::move(dims));
  };
  const auto bytes = static_cast<double>(t_ * width * size * 2);
  const KernelShape flat{{static_cast<int>(t_ * width / 512 + 1), 1, 1}, {128, 1, 1}, 32, 0};
  {
    auto mul = b_.op("aten::mul", {typed({t_, width}), scalar("0.01")});
    b_.kernel(o_.fp64 ? v_.mul_fp64 : v_.mul, stream_ns(hw_, bytes), flat);
  }
  {
    auto linear = b_.op("aten::linear", {typed({t_, width}), typed({h_, width}), none()});
    auto mm = b_.op("aten::mm", {typed({t_, width}), typed({width, h_})});
    b_.kernel(
        o_.fp64 ? v_.matmul_fp64 : matmul_name(),
        matmul_ns(hw_, static_cast<double>(t_), static_cast<double>(h_), static_cast<double>(width), size),
        matmul_shape(t_, h_));
  }
  if (!o_.fp64) return;
  const Args cast = {doubles({t_, h_}), scalar("15"), none(), none()};
  auto to = b_.op("aten::to", cast);
  auto to_copy = b_.op("aten::_to_copy", cast);
  auto copy = b_.op("aten::copy_", {tensor({t_, h_}), doubles({t_, h_}), scalar("False")});
  b_.kernel(v_.cast_fp64, stream_ns(hw_, static_cast<double>(t_ * h_ * (8 + element_))), flat);
}

void Model::pointwise_chain() {
  if (o_.chain_mb <= 0) return;
  const Builder::Part part(b_, Lane::chain);
  const auto elements = static_cast<std::int64_t>(o_.chain_mb * 1e6) / element_;
  if (!o_.chain_eager) {
    auto region = b_.op("Torch-Compiled Region: 0/0");
    auto graph = b_.op("## Call CompiledFxGraph fgenerated2w5zqk3chain7s4m6t ##");
    auto op =
        b_.op(v_.fused_chain, {tensor({elements}), tensor({elements}), scalar(std::to_string(elements))});
    return pointwise(v_.fused_chain, elements, 2);
  }
  for (int i = 0; i < kChainOps; ++i) {
    auto op = b_.op(i % 2 == 0 ? "aten::mul" : "aten::add", {tensor({elements}), scalar("1.01")});
    pointwise(i % 2 == 0 ? v_.mul : v_.add, elements, 2);
  }
}

}  // namespace stepscope::make_trace
