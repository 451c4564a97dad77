// The types that HTA gives kernels, by their names.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <filesystem>

#include "analyze/hta/names.h"

namespace stepscope::analyze::hta {
namespace {

TEST(HtaNames, OnePatternAfterTheOther) {
  EXPECT_EQ(kernel_type("ncclDevKernel_AllReduce"), KernelType::communication);
  EXPECT_EQ(kernel_type("void ncclKernel_X(int)"), KernelType::communication);
  EXPECT_EQ(kernel_type("hipMemcpy"), KernelType::communication);
  EXPECT_EQ(kernel_type("Memcpy HtoD (Pinned -> Device)"), KernelType::memory);
  EXPECT_EQ(kernel_type("dma_0"), KernelType::memory);
  EXPECT_EQ(kernel_type("void cudnn_dma_kernel()"), KernelType::other);
  EXPECT_EQ(kernel_type("Context Sync"), KernelType::other);
  EXPECT_EQ(kernel_type("cudaLaunchKernelExC"), KernelType::other);
  EXPECT_EQ(kernel_type("vllm::cross_device_reduce_1stage"), KernelType::computation);
}

void expect_types(const std::string& path) {
  simdjson::dom::parser parser;
  std::size_t names = 0;
  for (const auto [name, answer] : simdjson::dom::object(parser.load(path)["result"])) {
    EXPECT_EQ(name_of(kernel_type(name)), std::string_view(answer.at(1))) << name;
    ++names;
  }
  EXPECT_GT(names, 0u);
}

// bench/peers/hta_names.py wrote it.
TEST(HtaNames, AsHtaHasThemInShippedTraces) { expect_types(STEPSCOPE_ROOT "/test/data/hta_names.json"); }

TEST(HtaNames, AsHtaHasThem) {
  const std::string path = STEPSCOPE_ROOT "/../shared/golden/hta/names__shorten_name_and_kernel_type.json";
  if (!std::filesystem::exists(path))
    GTEST_SKIP() << path << " is absent: HTA's results are not part of the project";
  expect_types(path);
}

}  // namespace
}  // namespace stepscope::analyze::hta
