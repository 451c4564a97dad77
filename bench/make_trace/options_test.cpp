#include "make_trace/options.h"

#include <gtest/gtest.h>

#include "make_trace/model/shapes.h"
#include "make_trace/run/clock.h"

namespace stepscope::make_trace {
namespace {

TEST(Options, StragglerTexts) {
  Straggler s;
  EXPECT_EQ(parse_straggler("3:2.5:compute", s), "");
  EXPECT_EQ(s.rank, 3);
  EXPECT_EQ(s.ms, 2.5);
  EXPECT_EQ(s.phase, Phase::compute);
  EXPECT_EQ(s.step, 0);
  EXPECT_EQ(parse_straggler("0:1", s), "");
  EXPECT_EQ(parse_straggler("0:1:host:7", s), "");
  EXPECT_EQ(s.phase, Phase::host);
  EXPECT_EQ(s.step, 7);
  for (const char* wrong : {"", "3", "x:1", "1:", "1:x", "1:nan", "1:-4", "-1:4", "1:2:disk",
                            "1:2:", "1:2:input:0", "1:2:input:3x", "1:2:input:", "1:2::3"}) {
    EXPECT_NE(parse_straggler(wrong, s), "") << wrong;
  }
}

TEST(Options, KernelScaleTexts) {
  KernelScale scale;
  EXPECT_EQ(parse_kernel_scale("0.7:gemm", scale), "");
  EXPECT_EQ(scale.factor, 0.7);
  EXPECT_EQ(scale.part, "gemm");
  EXPECT_EQ(parse_kernel_scale("2", scale), "");
  EXPECT_EQ(scale.part, "");
  for (const char* wrong : {"", "x", ":gemm", "-1", "nan", "1e9"})
    EXPECT_NE(parse_kernel_scale(wrong, scale), "") << wrong;
}

int parse(std::vector<std::string> words, Options& options) {
  words.insert(words.begin(), "make_trace");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return parse_options(static_cast<int>(argv.size()), argv.data(), options);
}

TEST(Options, CommandLine) {
  Options o;
  EXPECT_EQ(parse({"--out", "x", "--dialect", "2021", "--alloc-churn", "--pageable-copy", "8"}, o), -1);
  EXPECT_EQ(o.dialect, DialectKind::y2021);
  EXPECT_EQ(o.alloc_churn, 4);
  EXPECT_TRUE(o.pageable);
  EXPECT_EQ(o.copy_mb, 8);
  testing::internal::CaptureStderr();
  for (const auto& wrong : std::vector<std::vector<std::string>>{{},
                                                                 {"--out", "x", "--ranks", "0"},
                                                                 {"--out", "x", "--vendor", "abacus"},
                                                                 {"--out", "x", "--without", "rain"},
                                                                 {"--out", "x", "--straggler", "5:1"}}) {
    Options other;
    EXPECT_EQ(parse(wrong, other), 2);
  }
  EXPECT_NE(testing::internal::GetCapturedStderr(), "");
}

TEST(Clock, NeverRunsBackwardsAndDriftsAsSaid) {
  const Clock clock{-5000, -50'000};
  for (std::int64_t at = 0; at < 200'000; ++at) EXPECT_LE(clock.shown(at), clock.shown(at + 1));
  EXPECT_EQ(clock.shown(10'000'000'000) - 10'000'000'000, -5000 - 500'000);
}

TEST(Shapes, TextOfArguments) {
  EXPECT_EQ(shape_args({tensor({2, 3}), transposed({2, 3}), scalar("1"), none()}, false),
            R"("Input Dims": [[2, 3], [2, 3], [], []], )"
            R"("Input type": ["c10::BFloat16", "c10::BFloat16", "Scalar", ""], )"
            R"("Input Strides": [[3, 1], [1, 2], [], []], "Concrete Inputs": ["", "", "1", ""], )");
}

}  // namespace
}  // namespace stepscope::make_trace
