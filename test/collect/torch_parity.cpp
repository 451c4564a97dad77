// Runs a training step of libtorch once under stepscope and twice under libtorch's own profilers, and prints
// what those saw: from the one with Kineto, `op` lines with name, shapes and FLOPs; from the legacy one,
// `push` lines with name and `pop` lines, which nest whatever the times are. FILE.stepscope.json is written
// by Kineto, if libtorch has it.
//
//   torch_parity FILE.stepscope
#include <stepscope/collect.h>
#include <torch/csrc/autograd/profiler_kineto.h>
#include <torch/csrc/autograd/profiler_legacy.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>

#include <cstdio>
#include <string>
#include <torch/csrc/distributed/c10d/ParamCommsUtils.hpp>
#include <vector>

namespace {

namespace autograd = torch::autograd::profiler;
namespace impl = torch::profiler::impl;

/// Records what a backend records around a collective: rank 1 of 2, in the group of all ranks.
void all_reduce(const torch::Tensor& tensor) {
  const std::vector<torch::Tensor> tensors = {tensor};
  const std::vector<std::int64_t> even;
#ifdef RECORD_PARAM_COMMS_DATA
  RECORD_PARAM_COMMS_DATA(std::make_tuple(std::int64_t{41}, false),
                          std::make_tuple(std::string("0"), std::string("default_pg")), tensors, tensors, 1,
                          "allreduce", tensor.numel(), tensor.numel(), tensor.scalar_type(), even, even, 0, 1,
                          2);
#else
  const int count = static_cast<int>(tensor.numel());
  RECORD_PARAM_COMMS(1, "allreduce", count, count, tensor.scalar_type(), even, even);
#endif
}

struct Program {
  torch::nn::Conv2d conv{torch::nn::Conv2dOptions(3, 4, 3).padding(1)};
  torch::nn::BatchNorm2d norm{4};
  torch::nn::Linear linear{4 * 8 * 8, 10};
  std::vector<torch::Tensor> parameters() const {
    std::vector<torch::Tensor> all;
    for (const torch::nn::Module* module : {static_cast<const torch::nn::Module*>(conv.get()),
                                            static_cast<const torch::nn::Module*>(norm.get()),
                                            static_cast<const torch::nn::Module*>(linear.get())})
      for (const torch::Tensor& parameter : module->parameters()) all.push_back(parameter);
    return all;
  }
  torch::optim::SGD optimizer{parameters(), torch::optim::SGDOptions(0.1).momentum(0.9)};
  torch::Tensor images = torch::randn({2, 3, 8, 8}), labels = torch::randint(10, {2}, torch::kLong);

  void step() {
    optimizer.zero_grad();
    const torch::Tensor seen = torch::relu(norm->forward(conv->forward(images))).flatten(1);
    torch::nn::functional::cross_entropy(linear->forward(seen), labels).backward();
    all_reduce(linear->weight.grad());
    optimizer.step();
  }
};

void print(const autograd::LegacyEvent& event) {
  if (event.kind() == autograd::EventKind::PushRange) std::printf("push\t%s\n", event.name());
  if (event.kind() == autograd::EventKind::PopRange) std::printf("pop\n");
}

void print(const autograd::KinetoEvent& event) {
  std::printf("op\t%s\t", event.name().c_str());
  if (event.hasShapes())
    for (const auto& sizes : event.shapes()) {
      std::printf("[");
      for (std::size_t i = 0; i < sizes.size(); ++i)
        std::printf("%s%lld", i == 0 ? "" : ", ", static_cast<long long>(sizes[i]));
      std::printf("]");
    }
  std::printf("\t%llu\n", static_cast<unsigned long long>(event.flops()));
}

void under_stepscope(Program& program, const char* path) {
  stepscope::record_torch();
  const stepscope::Recording recording(path);
  program.step();
}

void under_kineto(Program& program, const std::string& path) {
  const impl::ProfilerConfig config(impl::ProfilerState::KINETO, true, false, false, true);
  autograd::prepareProfiler(config, {impl::ActivityType::CPU});
  autograd::enableProfiler(config, {impl::ActivityType::CPU});
  program.step();
  const auto result = autograd::disableProfiler();
  for (const autograd::KinetoEvent& event : result->events()) print(event);
#ifdef RECORD_PARAM_COMMS_DATA  // otherwise PyTorch is Debian's, which is built without Kineto
  result->save(path);
#endif
}

void under_the_legacy_one(Program& program) {
  autograd::enableProfilerLegacy(impl::ProfilerConfig(impl::ProfilerState::CPU));
  program.step();
  for (const auto& thread : autograd::disableProfilerLegacy())
    for (const autograd::LegacyEvent& event : thread) print(event);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  at::set_num_threads(1);
  torch::manual_seed(0);
  Program program;
  for (int i = 0; i < 3; ++i) program.step();
  under_stepscope(program, argv[1]);
  stepscope_torch_detach();
  under_kineto(program, std::string(argv[1]) + ".json");
  under_the_legacy_one(program);
}
