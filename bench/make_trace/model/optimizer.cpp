#include <algorithm>

#include "make_trace/model/model.h"

namespace stepscope::make_trace {

void Model::zero_grad() {
  auto frame = b_.frame("torch/optim/optimizer.py(974): zero_grad");
  auto annotation = b_.annotation("Optimizer.zero_grad#AdamW.zero_grad");
  const Builder::Part part(b_, Lane::zero_grad);
  if (o_.zero_grad_fill) {
    for (int i = 0; i < o_.layers; ++i) {
      for (const std::int64_t elements : {4 * h_ * h_, 4 * h_ * h_, 4 * h_, h_, 2 * h_})
        fill_gradient(elements);
    }
    return;
  }
  b_.think(20000);
  for (const Block& block : blocks_) {
    for (const std::uint32_t gradient :
         {block.up.weight_gradient, block.up.bias_gradient, block.down.weight_gradient,
          block.down.bias_gradient, block.norm_gradient}) {
      b_.release(gradient);
    }
  }
}

void Model::fill_gradient(std::int64_t elements) {
  auto zero = b_.op("aten::zero_", {tensor({elements})});
  auto fill = b_.op("aten::fill_", {tensor({elements}), scalar("0")});
  pointwise(v_.fill, elements, 1);
}

void Model::optimizer_step() {
  auto frame = b_.frame("torch/optim/adamw.py(220): step");
  auto annotation = b_.annotation("Optimizer.step#AdamW.step");
  const Builder::Part part(b_, Lane::optimizer);
  if (o_.unfused_optimizer > 0) {
    unfused_step();
  } else {
    fused_step();
  }
}

void Model::fused_step() {
  constexpr std::int64_t kElementsPerLaunch = 12'000'000;
  const std::int64_t all = parameters();
  const std::int64_t launches = (all + kElementsPerLaunch - 1) / kElementsPerLaunch;
  b_.think(60000);
  auto op = b_.op("aten::_fused_adamw_", {tensor({all}), tensor({all}), tensor({all}), tensor({all})});
  for (std::int64_t i = 0; i < launches; ++i) {
    const std::int64_t elements = all * (i + 1) / launches - all * i / launches;
    const int blocks = static_cast<int>(std::max<std::int64_t>(1, elements / 65536));
    b_.kernel(v_.fused_step, stream_ns(hw_, static_cast<double>(elements * element_ * 7)),
              {{blocks, 1, 1}, {512, 1, 1}, 64, 0});
  }
}

void Model::unfused_step() {
  struct Update {
    const char* op;
    const std::string Vendor::* kernel;
    int tensors;
  };
  const Update updates[] = {{"aten::mul_", &Vendor::mul, 2},        {"aten::lerp_", &Vendor::lerp, 3},
                            {"aten::mul_", &Vendor::mul, 2},        {"aten::addcmul_", &Vendor::addcmul, 3},
                            {"aten::sqrt", &Vendor::sqrt, 2},       {"aten::add_", &Vendor::add, 2},
                            {"aten::addcdiv_", &Vendor::addcdiv, 4}};
  const std::int64_t elements = std::max<std::int64_t>(1, parameters() / o_.unfused_optimizer);
  for (int i = 0; i < o_.unfused_optimizer; ++i) {
    b_.think(4000);
    for (const Update& update : updates) {
      auto op = b_.op(update.op, {tensor({elements}), tensor({elements})});
      pointwise(v_.*update.kernel, elements, update.tensors);
    }
  }
}

}  // namespace stepscope::make_trace
