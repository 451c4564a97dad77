#include "report/params.h"

#include <gtest/gtest.h>

namespace stepscope::report {
namespace {

TEST(Params, PercentagesAreNumbers) {
  const ParamSpec spec{"min-share", ParamSpec::Type::percentage, "0.1", "", ""};
  for (const char* good : {"0", "0.1", "100", "3"}) EXPECT_EQ(misfit(spec, good), "") << good;
  for (const char* bad : {"abc", "", "-1", "101", "3%", "nan"}) EXPECT_NE(misfit(spec, bad), "") << bad;
}

TEST(Params, RangesAreNumbersOrTwoOfThem) {
  const ParamSpec spec{"instance", ParamSpec::Type::steps, "0", "", ""};
  for (const char* good : {"0", "7", "7-9", "7-7"}) EXPECT_EQ(misfit(spec, good), "") << good;
  for (const char* bad : {"", "a", "9-7", "7-", "-7", "7-9-11"}) EXPECT_NE(misfit(spec, bad), "") << bad;
  Params params;
  using Range = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(params.range("instance", {1, 0}), (Range{1, 0}));
  params.set("instance", "7-9");
  EXPECT_EQ(params.range("instance", {1, 0}), (Range{7, 9}));
  params.set("instance", "4");
  EXPECT_EQ(params.range("instance", {1, 0}), (Range{4, 4}));
}

TEST(Params, TextsAreThoseThatWereGiven) {
  Params params;
  EXPECT_TRUE(params.texts("what").empty());
  params.set("what", "a;;b c");
  EXPECT_EQ(params.texts("what"), (std::vector<std::string>{"a", "b c"}));
}

}  // namespace
}  // namespace stepscope::report
