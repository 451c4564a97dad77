#include "make_trace/model/model.h"

#include <algorithm>
#include <utility>

namespace stepscope::make_trace {

namespace {

constexpr std::int64_t kIndex = 8;
constexpr std::int64_t kVocabulary = 50304;

}  // namespace

Model::Model(Builder& builder, const Options& options, const Hardware& hw, const Vendor& vendor, Share share)
    : b_(builder),
      o_(options),
      hw_(hw),
      v_(vendor),
      share_(std::move(share)),
      t_(options.tokens),
      h_(options.hidden),
      element_(options.fp32 ? 4 : 2) {
  blocks_.resize(static_cast<std::size_t>(options.layers));
  for (Block& block : blocks_) {
    block.up.in = block.down.out = h_;
    block.up.out = block.down.in = 4 * h_;
    for (Linear* linear : {&block.up, &block.down}) {
      linear->result = b_.new_tensor();
      linear->weight_gradient = b_.new_tensor();
      linear->bias_gradient = b_.new_tensor();
    }
    block.normed = b_.new_tensor();
    block.activated = b_.new_tensor();
    block.sum = b_.new_tensor();
    block.norm_gradient = b_.new_tensor();
  }
  embedded_ = b_.new_tensor();
  error_ = b_.new_tensor();
}

std::int64_t Model::parameters() const { return o_.layers * (8 * h_ * h_ + 5 * h_ + 2 * h_); }

std::int64_t Model::batch_bytes() const {
  return o_.copy_mb > 0 ? static_cast<std::int64_t>(o_.copy_mb * 1e6) : t_ * kIndex;
}

Arg Model::batch() const { return o_.copy_mb > 0 ? tensor({batch_bytes() / element_}) : indices({t_}); }

void Model::pointwise(const std::string& kernel, std::int64_t elements, int tensors, int stream) {
  const double bytes = static_cast<double>(elements * element_ * tensors);
  const int blocks = static_cast<int>(std::max<std::int64_t>(1, (elements + 511) / 512));
  b_.kernel(kernel, stream_ns(hw_, bytes), {{blocks, 1, 1}, {128, 1, 1}, 32, 0}, stream);
}

int Model::next_node() { return differentiable_ ? b_.next_sequence() : -1; }

const std::string& Model::matmul_name() const { return o_.fp32 ? v_.matmul_fp32 : v_.matmul; }

KernelShape Model::matmul_shape(std::int64_t m, std::int64_t n) const {
  const auto tiles = [](std::int64_t length) { return static_cast<int>((length + 127) / 128); };
  return {{tiles(n), tiles(m), 1}, {256, 1, 1}, 230, 81920};
}

void Model::forward(int micro_batch) {
  auto module = b_.module("Model", 0);
  b_.think(9000);
  if (micro_batch == 0) b_.lag(Phase::host);
  if (share_.first) embed();
  project_features();
  pointwise_chain();
  for (int i = 0; i < o_.layers; ++i) {
    if (o_.checkpointing) {
      block_of(i).checkpoint = b_.next_sequence();
      auto function = b_.op("CheckpointFunction", {tensor({t_, h_})}, {block_of(i).checkpoint});
      forward_block(i, false);
    } else {
      forward_block(i, !o_.inference);
    }
    planted_ops(i);
  }
  loop_over_rows();
}

/// The embedding is not trained.
void Model::embed() {
  auto module = b_.module("Embedding", 0);
  auto op = b_.op("aten::embedding", {tensor({kVocabulary, h_}), indices({t_}), scalar("-1")});
  b_.allocate(embedded_, t_ * h_ * element_);
  pointwise(v_.embedding, t_ * h_, 2);
}

void Model::forward_block(int index, bool differentiable) {
  Block& block = block_of(index);
  differentiable_ = differentiable;
  auto module = b_.module("Block", index);
  b_.think(4000);
  {
    auto norm = b_.module("LayerNorm", index);
    auto call = b_.frame("torch/nn/modules/normalization.py(229): forward");
    const Args args = {tensor({t_, h_}), none(), tensor({h_}), tensor({h_}), scalar("1e-05"), scalar("True")};
    block.norm = next_node();
    auto op = b_.op("aten::layer_norm", args, {block.norm});
    auto inner = b_.op("aten::native_layer_norm", args, {block.norm});
    b_.allocate(block.normed, t_ * h_ * element_);
    b_.kernel(v_.norm, stream_ns(hw_, static_cast<double>(t_ * h_ * element_ * 2)),
              {{static_cast<int>(t_), 1, 1}, {32, 4, 1}, 40, 24});
  }
  b_.think(2500);
  forward_linear(block.up, 2 * index);
  reduce_activations();
  b_.think(2500);
  {
    auto gelu = b_.module("GELU", index);
    block.gelu = next_node();
    auto op = b_.op("aten::gelu", {tensor({t_, 4 * h_}), scalar("none")}, {block.gelu});
    b_.allocate(block.activated, t_ * 4 * h_ * element_);
    pointwise(v_.gelu, t_ * 4 * h_, 2);
  }
  b_.think(2500);
  forward_linear(block.down, 2 * index + 1);
  reduce_activations();
  b_.think(1500);
  block.add = next_node();
  auto op = b_.op("aten::add", {tensor({t_, h_}), tensor({t_, h_}), scalar("1")}, {block.add});
  b_.allocate(block.sum, t_ * h_ * element_);
  pointwise(v_.add, t_ * h_, 3);
}

void Model::forward_linear(Linear& linear, int module_id) {
  auto module = b_.module("Linear", module_id);
  auto call = b_.frame("torch/nn/modules/linear.py(134): forward");
  auto builtin = b_.frame("<built-in function linear>");
  linear.weight_node = next_node();
  linear.node = next_node();
  const Arg weight = tensor({linear.out, linear.in});
  auto op =
      b_.op("aten::linear", {tensor({t_, linear.in}), weight, tensor({linear.out})}, {linear.weight_node});
  {
    auto t = b_.light_op("aten::t", {weight}, {linear.weight_node});
    auto transpose = b_.light_op("aten::transpose", {weight, scalar("0"), scalar("1")});
    auto strided = b_.light_op("aten::as_strided", {weight, none(), none(), none()});
  }
  auto addmm = b_.op("aten::addmm",
                     {tensor({linear.out}), tensor({t_, linear.in}), transposed({linear.in, linear.out}),
                      scalar("1"), scalar("1")},
                     {linear.node});
  b_.allocate(linear.result, t_ * linear.out * element_);
  b_.kernel(matmul_name(),
            matmul_ns(hw_, static_cast<double>(t_), static_cast<double>(linear.out),
                      static_cast<double>(linear.in), element_),
            matmul_shape(t_, linear.out));
}

void Model::loss() {
  auto module = b_.module("MSELoss", 0);
  loss_node_ = b_.next_sequence();
  auto op = b_.op("aten::mse_loss", {tensor({t_, h_}), tensor({t_, h_}), scalar("1")}, {loss_node_});
  b_.allocate(error_, t_ * h_ * element_);
  pointwise(v_.mse, t_ * h_, 3);
  b_.fill(512);  // the semaphores of a reduction over many blocks
  b_.kernel(v_.sum, stream_ns(hw_, static_cast<double>(t_ * h_ * element_)),
            {{1, 108, 1}, {512, 1, 1}, 32, 2064});
}

}  // namespace stepscope::make_trace
