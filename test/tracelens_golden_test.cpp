// Every row and cell of TraceLens's reports on three recorded traces against the `tracelens` analysis, within
// the deviation that its doubles have at microseconds since boot, and what our own analyses say of the same
// things.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>

#include "derive/dtype.h"
#include "make_rank.h"
#include "tracelens_csv.h"

namespace stepscope::test {
namespace {

namespace fs = std::filesystem;

constexpr double kMicrosecond = 1e3, kMillisecond = 1e6, kMiB = 1024.0 * 1024.0, kPercent = 0.01;
/// TraceLens adds microseconds since boot as doubles, whose steps are 2^-11 µs at these times.
constexpr double kStep = 0.49;

/// A number of its report, the column of ours, and the factor between them.
struct Cell {
  std::string theirs, ours;
  double factor = 1;
};

/// A text of its report and the column of ours.
struct Text {
  std::string theirs, ours;
};

struct Sheet {
  const char* name;
  double tolerance;
  std::vector<Text> keys;  ///< tell the row
  std::vector<Cell> cells;
  std::vector<Text> texts = {};  ///< compared where the report has them
  const char* kernels = nullptr;
  std::set<std::string> looser = {};  ///< rows of these types have another tolerance
  double looser_tolerance = 0;
};

std::vector<Cell> spread(const std::string& theirs, const std::string& ours, double factor) {
  std::vector<Cell> cells;
  for (const char* part : {"_mean", "_median", "_std", "_min", "_max"})
    cells.push_back({theirs + part, ours + part, factor});
  return cells;
}

std::vector<Cell> operator+(std::vector<Cell> a, const std::vector<Cell>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<Cell> rates() {
  return spread("TB/s", "bytes_per_s", 1e12) + spread("TFLOPS/s", "flops_per_s", 1e12) +
         spread("Kernel Time (µs)", "kernel_time", kMicrosecond);
}

const std::vector<Text> kParams = {{"param: B", "b"},
                                   {"param: M", "m"},
                                   {"param: N", "n"},
                                   {"param: K", "k"},
                                   {"param: bias", "bias"},
                                   {"param: stride_A", "stride_a"},
                                   {"param: stride_B", "stride_b"},
                                   {"param: dtype_A_B", "dtypes"},
                                   {"param: transpose", "transpose"},
                                   {"param: convNd", "conv_nd"},
                                   {"param: input_shape", "input_shape"},
                                   {"param: filter_shape", "filter_shape"},
                                   {"param: dtype_input_weight", "dtypes"},
                                   {"param: input_stride", "input_stride"},
                                   {"param: weight_stride", "weight_stride"},
                                   {"param: stride", "stride"},
                                   {"param: padding", "padding"},
                                   {"param: dilation", "dilation"},
                                   {"param: transposed_conv", "transposed"},
                                   {"param: output_padding", "output_padding"},
                                   {"param: groups", "groups"},
                                   {"param: N_Q", "n_q"},
                                   {"param: H_Q", "h_q"},
                                   {"param: N_KV", "n_kv"},
                                   {"param: H_KV", "h_kv"},
                                   {"param: d_h_qk", "d_h_qk"},
                                   {"param: d_h_v", "d_h_v"},
                                   {"param: dropout", "dropout"},
                                   {"param: causal", "causal"},
                                   {"param: flash_impl", "flash_impl"},
                                   {"param: op_shape", "op_shape"},
                                   {"param: dtype_in_out", "dtypes"},
                                   {"param: stride_input", "stride_input"},
                                   {"param: stride_output", "stride_output"},
                                   {"param: num_channels", "num_channels"},
                                   {"param: has_bias", "has_bias"},
                                   {"param: is_affine", "is_affine"},
                                   {"param: is_training", "is_training"},
                                   {"param: output_mask", "output_mask"},
                                   {"param: shape_in1", "shape_in1"},
                                   {"param: shape_in2", "shape_in2"},
                                   {"param: dtype_in1_in2_out", "dtypes"},
                                   {"param: stride_input1", "stride_input1"},
                                   {"param: stride_input2", "stride_input2"},
                                   {"param: num_input_elems", "num_input_elems"},
                                   {"param: num_output_elems", "num_output_elems"},
                                   {"param: reduce_type", "reduce_type"},
                                   {"Compute Spec", "compute_spec"},
                                   {"is_recompute", "is_recompute"}};

Sheet model(const char* name, double tolerance) {
  return {name,
          tolerance,
          {{"name", "name"}, {"UID_first", "first_event"}},
          rates() + std::vector<Cell>{{"GFLOPS_first", "flops", 1e9},
                                      {"Data Moved (MB)_first", "bytes", kMiB},
                                      {"FLOPS/Byte_first", "intensity"},
                                      {"Kernel Time (µs)_sum", "kernel_time_sum", kMicrosecond},
                                      {"name_count", "calls"}},
          kParams,
          "kernel_details__summarize_kernel_stats"};
}

const std::vector<Text> kArguments = {{"name", "name"},
                                      {"op category", "category"},
                                      {"process_name", "process"},
                                      {"thread_name", "thread"},
                                      {"Input Dims", "input_dims"},
                                      {"Input type", "input_types"},
                                      {"Input Strides", "input_strides"},
                                      {"Concrete Inputs", "concrete_inputs"},
                                      {"is_recompute", "is_recompute"}};

const std::vector<Sheet> kSheets = {
    {"gpu_timeline",
     1e-5,
     {{"type", "type"}, {"is_recompute", "is_recompute"}},
     {{"time ms", "time", kMillisecond}, {"percent", "share", kPercent}},
     {},
     nullptr,
     {"exposed_memcpy_time", "total_memcpy_time"},
     3.4e-5},
    model("GEMM", 5e-5),
    model("CONV_fwd", 4e-5),
    model("CONV_bwd", 2e-5),
    model("SDPA_fwd", 2e-5),
    model("Normalization", 4e-5),
    model("BinaryElementwise", 2.6e-4),
    model("UnaryElementwise", 2.2e-4),
    model("Reduce_fwd", 4e-5),
    model("Reduce_bwd", 4e-5),
    {"ops_summary",
     2.6e-4,
     {{"name", "name"}, {"is_recompute", "is_recompute"}},
     {{"total_direct_kernel_time_sum", "direct_kernel_time", kMicrosecond},
      {"total_subtree_kernel_time_sum", "subtree_kernel_time", kMicrosecond},
      {"total_direct_kernel_time_ms", "direct_kernel_time", kMillisecond},
      {"total_subtree_kernel_time_ms", "subtree_kernel_time", kMillisecond},
      {"Count", "calls"},
      {"Percentage (%)", "share", kPercent},
      {"Cumulative Percentage (%)", "cumulative_share", kPercent}},
     {{"Categories", "categories"}}},
    {"ops_summary_by_category",
     2.6e-4,
     {{"op category", "category"}, {"is_recompute", "is_recompute"}},
     {{"total_direct_kernel_time_ms", "direct_kernel_time", kMillisecond},
      {"Count", "calls"},
      {"Percentage (%)", "share", kPercent},
      {"Cumulative Percentage (%)", "cumulative_share", kPercent}}},
    {"ops_unique_args",
     2.6e-4,
     kArguments,
     spread("total_direct_kernel_time", "direct_kernel_time", kMicrosecond) +
         spread("total_subtree_kernel_time", "subtree_kernel_time", kMicrosecond) +
         std::vector<Cell>{{"total_direct_kernel_time_sum", "direct_kernel_time_sum", kMicrosecond},
                           {"total_subtree_kernel_time_sum", "subtree_kernel_time_sum", kMicrosecond},
                           {"operation_count", "calls"},
                           {"ex_UID", "first_event"},
                           {"Percentage (%)", "share", kPercent},
                           {"Cumulative Percentage (%)", "cumulative_share", kPercent}},
     {},
     "kernel_details_summary"},
    {"unified_perf_summary",
     2.6e-4,
     kArguments,
     rates() + std::vector<Cell>{{"Kernel Time (µs)_sum", "kernel_time_sum", kMicrosecond},
                                 {"operation_count", "calls"},
                                 {"ex_UID", "first_event"},
                                 {"GFLOPS", "flops", 1e9},
                                 {"Data Moved (MB)", "bytes", kMiB},
                                 {"FLOPS/Byte", "intensity"},
                                 {"total_duration_us", "host_time_sum", kMicrosecond},
                                 {"mean_duration_us", "host_time_mean", kMicrosecond},
                                 {"std_duration_us", "host_time_std", kMicrosecond},
                                 {"duration_us_median", "host_time_median", kMicrosecond},
                                 {"duration_us_min", "host_time_min", kMicrosecond},
                                 {"duration_us_max", "host_time_max", kMicrosecond},
                                 {"Percentage (%)", "share", kPercent},
                                 {"Cumulative Percentage (%)", "cumulative_share", kPercent}},
     {{"Compute Spec", "compute_spec"}, {"has_perf_model", "has_perf_model"}},
     "kernel_details_summary"},
    {"kernel_summary",
     2e-9,
     {{"Parent op category", "parent_category"},
      {"Parent cpu_op", "parent_op"},
      {"Kernel name", "kernel"},
      {"Kernel stream", "stream"}},
     {{"Kernel duration (µs)_sum", "duration_sum", kMicrosecond},
      {"Kernel duration (µs)_count", "count"},
      {"Kernel duration (µs)_mean", "duration_mean", kMicrosecond},
      {"Kernel duration (µs)_min", "duration_min", kMicrosecond},
      {"Kernel duration (µs)_max", "duration_max", kMicrosecond},
      {"Percent of kernels time (%)", "share_of_kernels_time", kPercent},
      {"Percent of total time (%)", "share_of_total_time", kPercent}}},
    {"short_kernels_summary",
     2e-9,
     {{"Parent cpu_op", "parent_op"},
      {"Input dims", "input_dims"},
      {"Input strides", "input_strides"},
      {"Concrete Inputs", "concrete_inputs"},
      {"Kernel name", "kernel"}},
     {{"Short Kernel duration (µs) sum", "duration_sum", kMicrosecond},
      {"Short Kernel count", "count"},
      {"Short Kernel duration (µs) mean", "duration_mean", kMicrosecond},
      {"Short Kernel duration (µs) percent of total time", "share_of_total_time", kPercent}}},
    {"short_kernel_histogram",
     2e-9,
     {},
     {{"bin_start", "bin_start", kMicrosecond}, {"bin_end", "bin_end", kMicrosecond}, {"count", "count"}}},
    {"coll_analysis",
     1e-12,
     {{"Process Group Name", "process_group"},
      {"Process Group Ranks", "process_group_ranks"},
      {"Collective name", "collective"},
      {"dtype", "dtype"},
      {"In split size", "in_split"},
      {"Out split size", "out_split"},
      {"stream", "stream"},
      {"Group size", "group_size"},
      {"In msg nelems", "in_elements"},
      {"Out msg nelems", "out_elements"}},
     {{"In msg size (MB)_first", "in_bytes", kMiB},
      {"Out msg size (MB)_first", "out_bytes", kMiB},
      {"dur_sum", "duration_sum", kMicrosecond},
      {"dur_mean", "duration_mean", kMicrosecond},
      {"dur_std", "duration_std", kMicrosecond},
      {"dur_min", "duration_min", kMicrosecond},
      {"dur_max", "duration_max", kMicrosecond},
      {"operation_count", "count"}}},
};

/// Both spellings of a text as one: Python's tuples, quotes, type names and truths, numbers with a trailing
/// ".0".
std::string plain(const std::string& text) {
  std::string out, word;
  const auto end_word = [&] {
    while (word.ends_with(' ')) word.pop_back();
    const derive::DType type = derive::dtype_of(word);
    if (word == "True" || word == "yes")
      word = "yes";
    else if (word == "False" || word == "no")
      word = "no";
    else if (type != derive::DType::unknown)
      word = derive::name_of(type);
    else if (word.find_first_not_of("0123456789.") == word.npos && word.find('.') != word.npos)
      word = fmt::format("{}", std::stod(word));
    out += word;
    word.clear();
  };
  for (const char c : json_of(text)) {
    if (std::string_view(",[]").find(c) != std::string_view::npos) {
      end_word();
      out += c;
    } else if (c != '"' && (c != ' ' || !word.empty())) {
      word += c;
    }
  }
  end_word();
  return out;
}

/// As plain(), without the brackets around a list.
std::string unbracketed(const std::string& text) {
  std::string out = plain(text);
  return out.starts_with('[') && out.ends_with(']') ? out.substr(1, out.size() - 2) : out;
}

std::string text_at(const report::Table& table, const std::string& column, std::size_t row) {
  const report::Column* found = table.column(column);
  if (found == nullptr) {
    ADD_FAILURE() << "no column " << column;
    return {};
  }
  if (const auto* ints = std::get_if<report::Ints>(&found->values)) return std::to_string((*ints)[row]);
  return std::get<report::Texts>(found->values)[row];
}

double number_at(const report::Table& table, const std::string& column, std::size_t row) {
  const report::Column* found = table.column(column);
  if (found == nullptr) {
    ADD_FAILURE() << "no column " << column;
    return NAN;
  }
  if (found->missing(row)) return NAN;
  if (const auto* ints = std::get_if<report::Ints>(&found->values)) return static_cast<double>((*ints)[row]);
  return std::get<report::Reals>(found->values)[row];
}

/// The numbers behind `key` in a list of kernels as Python prints it: np.float64(39.75) or 7.
std::vector<double> numbers_behind(const std::string& text, const std::string& key) {
  std::vector<double> numbers;
  const std::string quoted = "'" + key + "': ";
  for (std::size_t at = text.find(quoted); at != text.npos; at = text.find(quoted, at)) {
    at += quoted.size();
    const std::size_t digits = text.compare(at, 11, "np.float64(") == 0 ? at + 11 : at;
    numbers.push_back(std::strtod(text.c_str() + digits, nullptr));
  }
  return numbers;
}

class TraceLensReport : public testing::TestWithParam<std::tuple<const char*, std::size_t>> {
 protected:
  void SetUp() override {
    sheet_ = &kSheets[std::get<1>(GetParam())];
    const std::string trace = std::get<0>(GetParam());
    csv_ = STEPSCOPE_ROOT "/../shared/golden/tracelens/" + trace + "/" + sheet_->name + ".csv";
    const std::string path = STEPSCOPE_ROOT "/../shared/traces/" + trace + "/trace.json.gz";
    if (!fs::exists(path)) GTEST_SKIP() << "no recorded trace at " << path;
    if (!fs::exists(csv_)) GTEST_SKIP() << "TraceLens wrote no " << sheet_->name << " for " << trace;
    theirs_ = rows_of(csv_);
    const std::string paths[] = {path};
    trace_ = read::open(paths).value();
    ours_ = answer("tracelens", trace_, params({{"sheet", sheet_->name}}));
  }

  const report::Table& table() const { return ours_.tables.front(); }

  std::string their_key(const CsvRow& row) const {
    std::string key;
    for (const Text& text : sheet_->keys) {
      const auto found = row.find(text.theirs);
      key += (found == row.end() ? "no" : plain(found->second)) + "|";
    }
    return key;
  }
  std::string our_key(std::size_t row) const {
    std::string key;
    for (const Text& text : sheet_->keys) key += plain(text_at(table(), text.ours, row)) + "|";
    return key;
  }

  /// What one step of its clock changes in a standard deviation: of times that step, of rates as much of
  /// their mean.
  static double step_of(const CsvRow& theirs, const Cell& cell) {
    if (cell.factor == kMicrosecond) return kStep;
    const auto mean = theirs.find(cell.theirs.substr(0, cell.theirs.find("_std")) + "_mean");
    const auto time = theirs.find("Kernel Time (µs)_mean");
    if (mean == theirs.end() || time == theirs.end()) return 0;
    return std::stod(mean->second) * cell.factor * kStep / (std::stod(time->second) * kMicrosecond);
  }

  void compare_cell(const CsvRow& theirs, std::size_t row, const Cell& cell) {
    const auto found = theirs.find(cell.theirs);
    ASSERT_NE(found, theirs.end()) << cell.theirs;
    // A synthetic op has a number beyond the file's events; ours is that of its first kernel.
    if (cell.theirs == "ex_UID" && theirs.at("name").find("(Synthetic Op)") != std::string::npos) return;
    const double ours = number_at(table(), cell.ours, row);
    ++cells_;
    if (found->second.empty()) {
      met_ += std::isnan(ours);
      EXPECT_TRUE(std::isnan(ours)) << cell.theirs << " is empty, ours is " << ours;
      return;
    }
    const double expected = std::stod(found->second) * cell.factor;
    const bool deviation = cell.theirs.find("std") != std::string::npos;
    const auto type = theirs.find("type");
    const bool looser = type != theirs.end() && sheet_->looser.contains(type->second);
    const double relative = deviation ? 2e-3 : looser ? sheet_->looser_tolerance : sheet_->tolerance;
    const double absolute = deviation ? step_of(theirs, cell) : 1e-12;
    const double error = std::abs(ours - expected);
    const bool fits = error <= std::max(absolute, relative * std::abs(expected));
    met_ += fits;
    if (!deviation && expected != 0) worst_ = std::max(worst_, error / std::abs(expected));
    EXPECT_TRUE(fits) << cell.theirs << ": " << expected << ", ours " << ours << ", apart by "
                      << error / std::abs(expected);
  }

  void compare_text(const CsvRow& theirs, std::size_t row, const Text& text) {
    const auto found = theirs.find(text.theirs);
    if (found == theirs.end()) return;
    ++cells_;
    const std::string expected = unbracketed(found->second);
    const std::string ours = unbracketed(text_at(table(), text.ours, row));
    met_ += expected == ours;
    EXPECT_EQ(expected, ours) << text.theirs;
  }

  /// The kernels of a row. Durations are as recorded, to the nanosecond. TraceLens sorts them by total, which
  /// is often equal, so both are put in the order of all their numbers.
  void compare_kernels(const CsvRow& theirs, std::size_t row) {
    static const std::vector<Cell> kCells = {{"total_duration_us", "duration_sum", kMicrosecond},
                                             {"min_duration_us", "duration_min", kMicrosecond},
                                             {"max_duration_us", "duration_max", kMicrosecond},
                                             {"median_duration_us", "duration_median", kMicrosecond},
                                             {"mean_duration_us", "duration_mean", kMicrosecond},
                                             {"std_dev_duration_us", "duration_std", kMicrosecond},
                                             {"count", "count"},
                                             {"stream", "stream"}};
    const report::Table& kernels = ours_.tables.at(1);
    const std::string& text = theirs.at(sheet_->kernels);
    const double event = number_at(table(), "first_event", row);
    std::vector<std::vector<double>> ours, expected(numbers_behind(text, "count").size());
    for (std::size_t kernel = 0; kernel < kernels.rows(); ++kernel) {
      if (number_at(kernels, "first_event", kernel) != event) continue;
      EXPECT_NE(text.find(text_at(kernels, "kernel", kernel)), text.npos)
          << text_at(kernels, "kernel", kernel);
      ours.emplace_back();
      for (const Cell& cell : kCells) ours.back().push_back(number_at(kernels, cell.ours, kernel));
    }
    for (const Cell& cell : kCells) {
      const std::vector<double> values = numbers_behind(text, cell.theirs);
      ASSERT_EQ(values.size(), expected.size()) << cell.theirs;
      for (std::size_t i = 0; i < values.size(); ++i)
        expected[i].push_back(std::round(values[i] * cell.factor * 1e3) / 1e3);
    }
    ASSERT_EQ(ours.size(), expected.size());
    std::ranges::sort(ours);
    std::ranges::sort(expected);
    for (std::size_t i = 0; i < ours.size(); ++i)
      for (std::size_t k = 0; k < kCells.size(); ++k) {
        const bool fits = std::abs(ours[i][k] - expected[i][k]) <= std::max(2e-3, 1e-9 * expected[i][k]);
        ++cells_;
        met_ += fits;
        EXPECT_TRUE(fits) << kCells[k].theirs << ": " << expected[i][k] << ", ours " << ours[i][k];
      }
  }

  const Sheet* sheet_ = nullptr;
  fs::path csv_;
  std::vector<CsvRow> theirs_;
  trace::Trace trace_;
  report::Report ours_;
  int cells_ = 0, met_ = 0;
  double worst_ = 0;
};

TEST_P(TraceLensReport, EveryCell) {
  std::map<std::string, std::vector<std::size_t>> rows;
  for (std::size_t row = 0; row < table().rows(); ++row) rows[our_key(row)].push_back(row);
  EXPECT_EQ(table().rows(), theirs_.size());
  std::size_t met_rows = 0, place = 0;
  for (const CsvRow& theirs : theirs_) {
    const std::string key = their_key(theirs);
    SCOPED_TRACE(key);
    auto& fitting = rows[key];
    if (fitting.empty()) {
      ADD_FAILURE() << "no such row";
      continue;
    }
    // Without keys, and where keys repeat, the order tells.
    const std::size_t row = fitting.front();
    fitting.erase(fitting.begin());
    const int missed = cells_ - met_;
    for (const Cell& cell : sheet_->cells) {
      // Rows of nearly equal time may stand in either order: running totals belong to places.
      const bool running = cell.theirs.starts_with("Cumulative");
      compare_cell(theirs, running ? place : row, cell);
    }
    ++place;
    for (const Text& text : sheet_->texts) compare_text(theirs, row, text);
    if (sheet_->kernels != nullptr) compare_kernels(theirs, row);
    met_rows += cells_ - met_ == missed;
  }
  std::printf("  %s %s: rows %zu of %zu, cells %d of %d, worst %.1e\n", std::get<0>(GetParam()), sheet_->name,
              met_rows, theirs_.size(), met_, cells_, worst_);
}

INSTANTIATE_TEST_SUITE_P(Sheets, TraceLensReport,
                         testing::Combine(testing::Values("h100_qwen1.5_0.5b", "h100_vit",
                                                          "mi300_resnet_checkpointing"),
                                          testing::Range<std::size_t>(0, kSheets.size())),
                         [](const auto& of) {
                           std::string name =
                               std::string(std::get<0>(of.param)) + "_" + kSheets[std::get<1>(of.param)].name;
                           for (char& c : name)
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           return name;
                         });

}  // namespace
}  // namespace stepscope::test
