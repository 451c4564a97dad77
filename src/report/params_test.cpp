#include "report/params.h"

#include <gtest/gtest.h>

namespace stepscope::report {
namespace {

TEST(Params, PercentagesAreNumbers) {
  const ParamSpec spec{"min-share", ParamSpec::Type::percentage, "0.1", "", ""};
  for (const char* good : {"0", "0.1", "100", "3"}) EXPECT_EQ(misfit(spec, good), "") << good;
  for (const char* bad : {"abc", "", "-1", "101", "3%", "nan"}) EXPECT_NE(misfit(spec, bad), "") << bad;
}

}  // namespace
}  // namespace stepscope::report
