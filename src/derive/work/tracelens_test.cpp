// Our FLOPs and bytes compared with TraceLens's for every row of its model sheets, each difference stated;
// and with torch's.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>

#include "derive/work/work.h"
#include "tracelens_csv.h"

namespace stepscope::derive {
namespace {

namespace fs = std::filesystem;

constexpr double kMiB = 1024.0 * 1024.0;

using test::json_of;
using test::rows_of;
using Row = test::CsvRow;

OpArgs args_of(const Row& row, const std::string& suffix = "_first") {
  const auto field = [&](const char* name) { return json_of(row.at(name + suffix)); };
  return parse_op_args(field("Input Dims"), field("Input type"), field("Input Strides"),
                       field("Concrete Inputs"));
}

struct Sheet {
  const char* name;
  int rows;  // over all three traces
};

class TraceLens : public testing::TestWithParam<Sheet> {
 protected:
  // Calls `check` for every row of the sheet in every trace; skips if the reports are absent.
  void for_each_row(const std::function<void(const Row&, const std::string&)>& check) {
    const fs::path root = fs::path(STEPSCOPE_ROOT "/../shared/golden/tracelens");
    if (!fs::exists(root)) GTEST_SKIP() << "no TraceLens reports at " << root;
    int rows = 0;
    for (const char* trace : {"h100_qwen1.5_0.5b", "h100_vit", "mi300_resnet_checkpointing"}) {
      const fs::path file = root / trace / (std::string(GetParam().name) + ".csv");
      if (!fs::exists(file)) continue;
      for (const Row& row : rows_of(file)) {
        ++rows;
        SCOPED_TRACE(std::string(trace) + " " + row.at("name") + " " + row.at("Input Dims_first"));
        check(row, trace);
      }
    }
    EXPECT_EQ(rows, GetParam().rows);
  }
};

double flops_of(const Row& row) { return std::stod(row.at("GFLOPS_first")) * 1e9; }
double bytes_of(const Row& row) { return std::stod(row.at("Data Moved (MB)_first")) * kMiB; }

// Our FLOPs and bytes ÷ TraceLens's.
struct Ratios {
  double flops, bytes;
};

void check_gemm(const Row& row, const Work& work, const Ratios& r) {
  EXPECT_NEAR(r.flops, 1.0, 1e-9);
  EXPECT_NEAR(r.bytes, 1.0, 1e-9);
  const double added =
      row.at("name") == "aten::addmm" ? std::stod(row.at("param: M")) * std::stod(row.at("param: N")) : 0;
  EXPECT_NEAR(static_cast<double>(work.matrix_flops), flops_of(row) - added, 1.0);
}

void check_conv_forward(const Row& row, const Work& work, const Ratios& r) {
  const bool biased = row.at("Input Dims_first").find("[768], []") != std::string::npos;  // vit's only
  EXPECT_NEAR(static_cast<double>(work.matrix_flops), flops_of(row), 1.0);
  // 768 bias elements of 2 bytes over 3,588,096 bytes are 0.04 %.
  EXPECT_NEAR(r.bytes, biased ? 1.0 + 768 * 2 / 3588096.0 : 1.0, 1e-9);
}

double count(const Arg& arg) { return static_cast<double>(numel(arg.shape).value()); }
double size(const Arg& arg) { return static_cast<double>(bytes_per_element(arg.dtype)); }

// TraceLens counts grad_output twice, the input and the weight as read and written, and both gradients
// whatever the mask.
void check_conv_backward(const Row& row, const Work& work, const Ratios& r) {
  const OpArgs args = args_of(row);
  const Arg &out = args.at(0), &in = args.at(1), &weight = args.at(2);
  EXPECT_NEAR(bytes_of(row), (count(out) + count(in) + count(weight)) * 2 * size(in), 1.0);
  const auto mask = booleans_of(args.at(10));
  ASSERT_TRUE(mask && mask->size() == 3);
  EXPECT_NEAR(r.flops, (*mask)[0] ? 1.0 : 0.5, 1e-9);
  double elements = count(out);
  if ((*mask)[0]) elements += count(weight) + count(in);
  if ((*mask)[1]) elements += count(weight) + count(in);
  if ((*mask)[2]) elements += static_cast<double>(out.shape.dims[1]);
  EXPECT_NEAR(static_cast<double>(work.bytes()), elements * size(in), 1.0);
}

void check_attention(const Row& row, const Work& work, const Ratios& r) {
  const double length = std::stod(row.at("param: N_Q"));
  const bool causal = row.at("param: causal") == "True";
  EXPECT_NEAR(static_cast<double>(work.matrix_flops) / flops_of(row), causal ? (length + 1) / length : 1.0,
              1e-9);
  // Four bytes of log-sum-exp per query and head over 4 · 64 · 2 bytes: + 0.78 %.
  EXPECT_NEAR(r.bytes, 1.0 + 4.0 / (4 * 64 * 2), 1e-9);
}

void check_norm(const Row&, const Work&, const Ratios& r) {
  EXPECT_NEAR(r.flops, 1.0, 1e-3);
  EXPECT_NEAR(r.bytes, 1.0, 1e-3);
}

double touched(const Arg& arg) { return static_cast<double>(touched_elements(arg.shape).value()); }

// TraceLens reads an expanded tensor in full, and a number among tensors as one element (4 bytes if it is not
// a tensor).
void check_binary(const Row& row, const Work& work, const Ratios& r) {
  EXPECT_NEAR(r.flops, 1.0, 1e-9);
  const OpArgs args = args_of(row);
  double more = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const Arg& arg = args.at(i);
    const bool number = arg.shape.dims.empty() && !args.at(1 - i).shape.dims.empty();
    const double element = arg.kind == ArgKind::scalar ? 4 : size(arg);
    more += (number ? 1 : count(arg) - touched(arg)) * element;
  }
  EXPECT_NEAR(static_cast<double>(work.bytes()), bytes_of(row) - more, 1.0) << row.at("Input type_first");
}

void check_unary(const Row& row, const Work& work, const Ratios& r) {
  if (row.at("name") == "aten::copy_") {
    EXPECT_EQ(work.flops(), 0);
  } else {
    EXPECT_NEAR(r.flops, 1.0, 1e-9);
  }
  EXPECT_NEAR(r.bytes, 1.0, 1e-9);
}

// TraceLens counts one output element, of the input's type.
void check_reduce(const Row& row, const Work& work, const Ratios& r) {
  const Arg x = args_of(row).at(0);
  EXPECT_NEAR(r.flops, 1.0, 1e-9);
  EXPECT_NEAR(bytes_of(row), (count(x) + 1) * size(x), 1.0);
  EXPECT_NEAR(static_cast<double>(work.bytes_read), count(x) * size(x), 1.0);
  EXPECT_GE(r.bytes, 1.0);
  EXPECT_LE(r.bytes, 1.10);
}

TEST_P(TraceLens, OursDiffersAsStated) {
  const std::map<std::string, void (*)(const Row&, const Work&, const Ratios&)> checks = {
      {"GEMM", check_gemm},
      {"CONV_fwd", check_conv_forward},
      {"CONV_bwd", check_conv_backward},
      {"SDPA_fwd", check_attention},
      {"Normalization", check_norm},
      {"BinaryElementwise", check_binary},
      {"UnaryElementwise", check_unary},
      {"Reduce_fwd", check_reduce},
      {"Reduce_bwd", check_reduce},
  };
  const auto check = checks.at(GetParam().name);
  for_each_row([&](const Row& row, const std::string&) {
    const Work work = work_of(row.at("name"), args_of(row));
    ASSERT_TRUE(work.flops_known && work.bytes_known) << work.unknown_reason;
    EXPECT_FALSE(work.estimated);
    check(row, work,
          {static_cast<double>(work.flops()) / flops_of(row),
           static_cast<double>(work.bytes()) / bytes_of(row)});
  });
}

INSTANTIATE_TEST_SUITE_P(Sheets, TraceLens,
                         testing::Values(Sheet{"GEMM", 12}, Sheet{"CONV_fwd", 22}, Sheet{"CONV_bwd", 11},
                                         Sheet{"SDPA_fwd", 2}, Sheet{"Normalization", 25},
                                         Sheet{"BinaryElementwise", 46}, Sheet{"UnaryElementwise", 38},
                                         Sheet{"Reduce_fwd", 4}, Sheet{"Reduce_bwd", 1}),
                         [](const auto& sheet) { return std::string(sheet.param.name); });

// FLOPs that torch's FlopCounterMode counted for these calls, which test/data/torch_flops.py ran.
TEST(TorchFlops, ItsConventionGivesItsNumbers) {
  const auto rows = rows_of(STEPSCOPE_ROOT "/test/data/torch_flops.csv");
  EXPECT_EQ(rows.size(), 15u);
  for (const Row& row : rows) {
    const Work work = work_of(row.at("name"), args_of(row, ""), Convention::torch);
    EXPECT_TRUE(work.flops_known) << row.at("name");
    EXPECT_EQ(work.matrix_flops, std::stoll(row.at("flops"))) << row.at("name") << row.at("Input Dims");
  }
}

// Matrix FLOPs of the whole trace, from the report that counts each op once.
TEST(TraceLensTotals, MatrixFlopsOfTheWholeTrace) {
  struct Total {
    const char* trace;
    std::int64_t exact, recomputed, torch;
  };
  const fs::path root = fs::path(STEPSCOPE_ROOT "/../shared/golden/tracelens");
  if (!fs::exists(root)) GTEST_SKIP() << "no TraceLens reports at " << root;
  for (const Total& total :
       {Total{"h100_qwen1.5_0.5b", 5'760'721'390'528, 0, 6'006'026'832'832},
        Total{"h100_vit", 140'509'200'384, 0, 140'509'200'384},
        Total{"mi300_resnet_checkpointing", 319'452'364'800, 101'732'843'520, 421'185'208'320}}) {
    std::int64_t exact = 0;
    std::int64_t recomputed = 0;
    std::int64_t torch = 0;
    for (const Row& row : rows_of(root / total.trace / "unified_perf_summary.csv")) {
      const std::int64_t count = std::stoll(row.at("operation_count"));
      const OpArgs args = args_of(row, "");
      const bool again = row.contains("is_recompute") && row.at("is_recompute") == "True";
      (again ? recomputed : exact) += count * work_of(row.at("name"), args).matrix_flops;
      torch += count * work_of(row.at("name"), args, Convention::torch).matrix_flops;
    }
    EXPECT_EQ(exact, total.exact) << total.trace;
    EXPECT_EQ(recomputed, total.recomputed) << total.trace;
    EXPECT_EQ(torch, total.torch) << total.trace;
  }
}

}  // namespace
}  // namespace stepscope::derive
