// A training loop with libtorch that records its operators.
//
//   train run.stepscope && stepscope report run.stepscope
#include <stepscope/collect.h>
#include <torch/torch.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: train FILE.stepscope\n", stderr);
    return 2;
  }
  torch::manual_seed(0);
  torch::nn::Sequential model(torch::nn::Linear(64, 256), torch::nn::ReLU(), torch::nn::Linear(256, 10));
  torch::optim::SGD optimizer(model->parameters(), 0.1);
  stepscope::record_torch();
  const stepscope::Recording recording(argv[1]);
  for (int i = 0; i < 4; ++i) {
    const stepscope::Step step;
    optimizer.zero_grad();
    const torch::Tensor images = torch::randn({32, 64}), labels = torch::randint(10, {32});
    torch::nn::functional::cross_entropy(model->forward(images), labels).backward();
    optimizer.step();
  }
}
