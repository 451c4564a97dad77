#include <fmt/format.h>

#include <algorithm>

#include "make_trace/model/model.h"

namespace stepscope::make_trace {
namespace {

constexpr const char* kEngine = "autograd::engine::evaluate_function: ";

/// Lists of more than 30 ranks are cut in real traces.
std::string rank_list(const Members& members) {
  std::string text = "[";
  for (int i = 0; i < std::min(members.count, 30); ++i)
    text += fmt::format("{}{}", i > 0 ? ", " : "", members.at(i));
  return text + (members.count > 30 ? ", ...]" : "]");
}

}  // namespace

std::string comm_args(const char* name, const char* dtype, std::int64_t elements, const Group& group) {
  return fmt::format(
      "\"Collective name\": \"{}\", \"dtype\": \"{}\", \"In msg nelems\": {}, \"Out msg nelems\": {}, "
      "\"Group size\": {}, \"In split size\": \"[]\", \"Out split size\": \"[]\", \"Process Group Name\": "
      "\"{}\", "
      "\"Process Group Description\": \"{}\", \"Process Group Ranks\": \"{}\", ",
      name, dtype, elements, elements, group.members.count, group.name, group.description,
      rank_list(group.members));
}

void Model::backward(bool reduces) {
  b_.on_thread(kBackwardThread);
  b_.think(14000);
  reduces = reduces && share_.replicas.members.count > 1;
  if (share_.last) {
    auto engine = b_.op(std::string(kEngine) + "MseLossBackward0", {}, {loss_node_});
    auto node = b_.op("MseLossBackward0", {tensor({})}, {loss_node_, true});
    auto op = b_.op("aten::mse_loss_backward", {tensor({}), tensor({t_, h_}), tensor({t_, h_}), scalar("1")});
    pointwise(v_.mse_back, t_ * h_, 3);
    b_.release(error_);
  }
  for (int i = o_.layers; i > 0; --i) backward_block(i - 1, reduces);
  if (reduces && (o_.exposed_comm || o_.small_reduces > 0)) {
    const Builder::Part part(b_, Lane::collective);
    const int pieces = std::max(1, o_.small_reduces);
    for (int i = 0; i < pieces; ++i) {
      all_reduce(parameters() / pieces);
      if (pieces > 1) b_.wait_event(0, reduced_);
    }
  }
  b_.release(embedded_);
  join_streams();
  b_.think(6000);
  b_.on_thread(kMainThread);
}

void Model::backward_block(int index, bool reduces) {
  Block& block = block_of(index);
  if (o_.checkpointing) recompute(index);
  {
    auto engine = b_.light_op(std::string(kEngine) + "AddBackward0", {}, {block.add});
    auto node = b_.light_op("AddBackward0", {tensor({t_, h_})}, {block.add, true});
  }
  backward_linear(block.down, index);
  {
    auto engine = b_.op(std::string(kEngine) + "GeluBackward0", {}, {block.gelu});
    auto node = b_.op("GeluBackward0", {tensor({t_, 4 * h_})}, {block.gelu, true});
    auto op = b_.op("aten::gelu_backward", {tensor({t_, 4 * h_}), tensor({t_, 4 * h_}), scalar("none")});
    pointwise(v_.gelu_back, t_ * 4 * h_, 3);
    b_.release(block.activated);
  }
  backward_linear(block.up, index);
  {
    auto engine = b_.op(std::string(kEngine) + "NativeLayerNormBackward0", {}, {block.norm});
    {
      auto node = b_.op("NativeLayerNormBackward0", {tensor({t_, h_}), none(), none()}, {block.norm, true});
      auto op = b_.op("aten::native_layer_norm_backward",
                      {tensor({t_, h_}), tensor({t_, h_}), none(), tensor({t_, 1}), tensor({t_, 1}),
                       tensor({h_}), tensor({h_}), none()});
      b_.allocate(block.norm_gradient, 2 * h_ * element_);
      const auto bytes = static_cast<double>(t_ * h_ * element_);
      b_.kernel(v_.norm_back, stream_ns(hw_, bytes * 3), {{static_cast<int>(t_), 1, 1}, {128, 1, 1}, 48, 16});
      b_.kernel(v_.norm_weights, stream_ns(hw_, bytes * 2),
                {{static_cast<int>((h_ + 31) / 32), 1, 1}, {32, 32, 1}, 40, 8448});
      b_.release(block.normed);
    }
    auto add = b_.op("aten::add_", {tensor({t_, h_}), tensor({t_, h_}), scalar("1")});
    pointwise(v_.add, t_ * h_, 3);
    b_.release(block.sum);
  }
  accumulate(2 * h_);
  if (reduces && !o_.exposed_comm && o_.small_reduces == 0) {
    const Builder::Part part(b_, Lane::collective);
    all_reduce(parameters() / o_.layers);
  }
}

void Model::backward_linear(Linear& linear, int index) {
  const auto m = static_cast<double>(t_);
  const auto n = static_cast<double>(linear.out);
  const auto k = static_cast<double>(linear.in);
  {
    auto engine = b_.op(std::string(kEngine) + "AddmmBackward0", {}, {linear.node});
    auto node = b_.op("AddmmBackward0", {tensor({t_, linear.out})}, {linear.node, true});
    {
      auto mm = b_.op("aten::mm", {tensor({t_, linear.out}), tensor({linear.out, linear.in})});
      b_.kernel(matmul_name(), matmul_ns(hw_, m, k, n, element_), matmul_shape(t_, linear.in));
    }
    const int side = o_.streams > 1 ? 1 + index % (o_.streams - 1) : 0;
    if (side > 0) b_.wait_event(side, b_.record_event(0));
    {
      auto mm = b_.op("aten::mm", {transposed({linear.out, t_}), tensor({t_, linear.in})});
      b_.allocate(linear.weight_gradient, linear.in * linear.out * element_);
      b_.kernel(o_.fp32 ? v_.matmul_split_fp32 : v_.matmul_split, matmul_ns(hw_, n, k, m, element_),
                matmul_shape(linear.out, linear.in), side);
    }
    if (side > 0) unjoined_.push_back(b_.record_event(side));
    auto sum = b_.op("aten::sum", {tensor({t_, linear.out}), none(), scalar("True"), none()});
    b_.allocate(linear.bias_gradient, linear.out * element_);
    b_.kernel(v_.sum, stream_ns(hw_, m * n * static_cast<double>(element_)),
              {{static_cast<int>((linear.out + 31) / 32), 1, 1}, {32, 16, 1}, 32, 4096});
    b_.release(linear.result);
  }
  accumulate(linear.out);
  {
    auto engine = b_.light_op(std::string(kEngine) + "TBackward0", {}, {linear.weight_node});
    auto node = b_.light_op("TBackward0", {tensor({linear.in, linear.out})}, {linear.weight_node, true});
    auto t = b_.light_op("aten::t", {tensor({linear.in, linear.out})});
    auto transpose =
        b_.light_op("aten::transpose", {tensor({linear.in, linear.out}), scalar("0"), scalar("1")});
  }
  accumulate(linear.in * linear.out);
}

void Model::accumulate(std::int64_t elements) {
  auto engine = b_.op(std::string(kEngine) + "torch::autograd::AccumulateGrad");
  auto node = b_.op("torch::autograd::AccumulateGrad", {tensor({elements})});
  const Builder::Part part(b_, Lane::accumulate);
  if (!o_.zero_grad_fill) {
    auto detach = b_.light_op("aten::detach", {tensor({elements})});
    return;
  }
  auto add = b_.op("aten::add_", {tensor({elements}), tensor({elements}), scalar("1")});
  pointwise(v_.add, elements, 3);
}

/// Runs a block's forward pass once more, as its activations were not kept.
void Model::recompute(int index) {
  const Builder::Part part(b_, Lane::recompute);
  const int node = block_of(index).checkpoint;
  auto engine = b_.op(std::string(kEngine) + "CheckpointFunctionBackward", {}, {node});
  auto function = b_.op("CheckpointFunctionBackward", {tensor({t_, h_})}, {node, true});
  auto frame = b_.frame("torch/utils/checkpoint.py(298): backward");
  forward_block(index, true);
}

/// Each rank holds a part of every weight, so the outputs of a linear must be summed over ranks first.
void Model::reduce_activations() {
  if (!o_.tensor_parallel || share_.replicas.members.count == 1) return;
  const Builder::Part part(b_, Lane::collective);
  all_reduce(t_ * h_);
  b_.wait_event(0, reduced_);
}

void Model::all_reduce(std::int64_t elements) {
  const Args args = {tensor({elements})};
  const std::string comm = comm_args("allreduce", o_.fp32 ? "Float" : "BFloat16", elements, share_.replicas);
  auto c10d = b_.op("c10d::allreduce_", args);
  auto op = b_.collective_op("record_param_comms", args, comm, share_.replicas);
  b_.call(v_.stream_state, 700);
  for (const std::uint32_t event : unjoined_) b_.wait_event(b_.comm_stream(), event);
  b_.wait_event(b_.comm_stream(), b_.record_event(0));
  {
    auto annotation = b_.annotation("nccl:all_reduce", false, false, args);
    const auto bytes = elements * element_;
    b_.all_reduce(bytes, all_reduce_ns(hw_, static_cast<double>(bytes), share_.replicas.members.count), comm,
                  share_.replicas);
  }
  reduced_ = b_.record_event(b_.comm_stream());
  any_reduced_ = true;
}

void Model::join_streams() {
  for (const std::uint32_t event : unjoined_) b_.wait_event(0, event);
  unjoined_.clear();
  if (!any_reduced_) return;
  auto op =
      b_.collective_op("record_param_comms", {},
                       "\"Collective name\": \"wait\", \"dtype\": \"Byte\", \"In msg nelems\": 0, \"Out msg "
                       "nelems\": 0, \"Group size\": 1, \"Process Group Ranks\": \"[]\", ");
  b_.wait_event(0, reduced_);
}

}  // namespace stepscope::make_trace
