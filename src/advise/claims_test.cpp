#include "advise/claims.h"

#include <gtest/gtest.h>

namespace stepscope::advise {
namespace {

Claim claim_of(RuleId id, const char* line, std::int64_t saving) {
  Claim claim;
  claim.id = id;
  claim.line = line;
  claim.saving_high = saving;
  return claim;
}

/// How many are left of a line of the program (H11) that saves 9 ms, and a file that the thread syncs (I09).
std::size_t left(const char* line_of_file, std::int64_t saving) {
  return with_symptoms_attached(
             {claim_of(RuleId::H11, "train.py:5", 9'000'000), claim_of(RuleId::I09, line_of_file, saving)})
      .size();
}

TEST(Claims, ALineThatWaitsForTheDisk) {
  EXPECT_EQ(left("train.py:5", 3'000'000), 1U);
  EXPECT_EQ(left("train.py:5", 2'999'999), 2U);
  EXPECT_EQ(left("train.py:6", 9'000'000), 2U);
}

}  // namespace
}  // namespace stepscope::advise
