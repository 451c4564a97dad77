// Properties of the advice for any recording: bounds of the savings, and the same answer for any order of the
// events and any number of threads.
#include <random>

#include "advise/verdict.h"
#include "make_rank.h"
#include "report/formats/json.h"
#include "support/events_in.h"
#include "support/open_text.h"
#include "support/traces.h"

namespace stepscope {
namespace {

using test::Cells;

std::vector<std::string> all_traces() {
  std::vector<std::string> paths = test::recorded_traces();
  for (const std::string& path : test::shipped_traces()) paths.push_back(path);
  return paths;
}

report::Report advice(const trace::Trace& trace, unsigned threads = 0) {
  const analyze::Derived derived(trace, {});
  return as_report(advise::verdict(derived, advise::gather(derived, threads), threads, true));
}

class AdviceOf : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto trace = read::open(std::vector<std::string>{GetParam()});
    ASSERT_TRUE(trace.ok());
    trace_ = std::move(*trace);
  }
  trace::Trace trace_;
};

/// The cell's value, times in ns; 0 if it is empty.
std::int64_t at(const report::Table& table, std::string_view column, std::size_t row) {
  const auto& values = std::get<report::Ints>(table.column(column)->values);
  return values[row] == report::kNoInt ? 0 : values[row];
}

std::int64_t fact(const report::Report& overview, std::string_view name) {
  for (const report::Table& table : overview.tables) {
    const report::Column* facts = table.column("fact");
    for (std::size_t row = 0; facts != nullptr && row < table.rows(); ++row)
      if (std::get<report::Texts>(facts->values)[row] == name)
        return at(table, table.column("time") != nullptr ? "time" : "count", row);
  }
  return 0;
}

// A change that leaves kernels as they are saves at most the step less its compute time; one that shortens
// kernels saves at most the step.
TEST_P(AdviceOf, SavingsHaveBounds) {
  const report::Report report = advice(trace_), overview = test::answer("overview", trace_);
  const report::Table &verdict = report.tables[0], &findings = report.tables[1];
  const std::int64_t steps = std::max<std::int64_t>(1, fact(overview, "complete_steps"));
  const std::int64_t step = fact(overview, "window") / steps;
  const Cells categories = test::cells(findings, "category"), when = test::cells(findings, "when");
  std::int64_t sum = 0;
  for (std::size_t row = 0; row < findings.rows(); ++row) {
    const bool shortens = categories[row] == "precision" || categories[row] == "kernel";
    const std::int64_t low = at(findings, "saving_low", row), high = at(findings, "saving_high", row);
    EXPECT_LE(0, low);
    EXPECT_LE(low, high);
    EXPECT_LE(high,
              shortens ? step : std::max<std::int64_t>(0, step - fact(overview, "compute") / steps) + 1);
    EXPECT_LE(at(findings, "after_low", row), at(findings, "after_high", row));
    EXPECT_LE(at(findings, "after_high", row), step);
    if (when[row] == "now") sum += high;
  }
  EXPECT_LE(at(verdict, "together_low", 0), at(verdict, "together_high", 0));
  EXPECT_LE(at(verdict, "together_high", 0), std::min(sum, step));
}

TEST_P(AdviceOf, ThreadsChangeNothing) {
  const std::string expected = report::to_json(advice(trace_, 1));
  for (const unsigned threads : {2u, 3u, 8u}) EXPECT_EQ(expected, report::to_json(advice(trace_, threads)));
}

TEST_P(AdviceOf, TheOrderOfTheEventsChangesNothing) {
  const std::string text = test::text_of(test::bytes_of(GetParam()));
  const std::vector<test::Span> events = test::events_in(text);
  std::mt19937_64 random(7);
  const auto other = test::open_text(test::shuffled(text, events, random), test::ReadAs{});
  const auto same = test::open_text(text, test::ReadAs{});
  ASSERT_TRUE(same.ok() && other.ok());
  EXPECT_EQ(report::to_json(advice(*same)), report::to_json(advice(*other)));
}

std::string name_of(const std::string& path) {
  const std::filesystem::path file(path);
  std::string name = file.parent_path().filename().string() + "_" + file.filename().string();
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Traces, AdviceOf, testing::ValuesIn(all_traces()),
                         [](const auto& param) { return name_of(param.param); });

}  // namespace
}  // namespace stepscope
