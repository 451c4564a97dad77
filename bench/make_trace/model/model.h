// The model: a stack of blocks (layer norm, linear, gelu, linear, residual add) under mean squared error, in
// bf16, trained with AdamW, its gradients averaged over the ranks. Forward is in model.cpp, backward in
// backward.cpp, the optimizer in optimizer.cpp, planted problems in planted_ops.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "make_trace/model/builder.h"

namespace stepscope::make_trace {

/// A rank's share of the model: all of it, or the blocks of a stage.
struct Share {
  bool first = true, last = true;  ///< has the embedding; has the loss
  Group replicas;                  ///< ranks with the same share
};

/// A collective's metadata as JSON members, ending in a comma.
std::string comm_args(const char* name, const char* dtype, std::int64_t elements, const Group& group);

class Model {
 public:
  Model(Builder& builder, const Options& options, const Hardware& hw, const Vendor& vendor, Share share);

  void forward(int micro_batch = 0);
  void loss();
  /// Runs on the backward thread, collectives included. `reduces`: gradients are complete.
  void backward(bool reduces = true);
  void zero_grad();
  void optimizer_step();

  std::int64_t parameters() const;  ///< elements
  std::int64_t batch_bytes() const;
  Arg batch() const;  ///< token ids, or the batch of --pageable-copy

 private:
  struct Linear {
    int node = -1, weight_node = -1;  ///< sequence numbers
    std::int64_t in = 0, out = 0;
    std::uint32_t result = 0;  ///< tensors
    std::uint32_t weight_gradient = 0, bias_gradient = 0;
  };
  struct Block {
    Linear up, down;
    int norm = -1, gelu = -1, add = -1;
    std::uint32_t normed = 0, activated = 0, sum = 0;
    std::uint32_t norm_gradient = 0;
    int checkpoint = -1;
  };

  void embed();
  Block& block_of(int index) { return blocks_[static_cast<std::size_t>(index)]; }
  void forward_block(int index, bool differentiable);
  void forward_linear(Linear& linear, int module_id);
  void planted_ops(int index);
  void tiny_op();
  void item();
  void select_positive();
  void python(std::int64_t ns);
  void pause();
  void loop_over_rows();
  void project_features();
  void pointwise_chain();
  void reduce_activations();

  void backward_node(const char* name, int sequence, const char* op);
  void backward_block(int index, bool reduces);
  void backward_linear(Linear& linear, int index);
  void accumulate(std::int64_t elements);
  void recompute(int index);
  void all_reduce(std::int64_t elements);
  void join_streams();

  void fused_step();
  void unfused_step();
  void fill_gradient(std::int64_t elements);

  void pointwise(const std::string& kernel, std::int64_t elements, int tensors, int stream = 0);
  int next_node();
  const std::string& matmul_name() const;
  KernelShape matmul_shape(std::int64_t m, std::int64_t n) const;

  Builder& b_;
  const Options& o_;
  const Hardware& hw_;
  const Vendor& v_;
  const Share share_;
  std::int64_t t_;        ///< tokens
  std::int64_t h_;        ///< hidden
  std::int64_t element_;  ///< bytes per element
  bool differentiable_ = true;
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> unjoined_;  ///< events of side streams that stream 0 has not waited for
  std::uint32_t reduced_ = 0;            ///< event after the last collective
  bool any_reduced_ = false;
  int loss_node_ = -1;
  std::uint32_t embedded_ = 0, error_ = 0;  ///< tensors
};

}  // namespace stepscope::make_trace
