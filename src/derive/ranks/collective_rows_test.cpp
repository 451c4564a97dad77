// Collectives on the CPU as rows: sizes and groups, by hand.
#include "derive/ranks/collective_rows.h"

#include <gtest/gtest.h>

#include "support/open_text.h"

namespace stepscope::derive {
namespace {

class HostRows {
 public:
  explicit HostRows(std::string_view distributed, std::string_view name, std::string_view args = "") {
    const std::string text = std::string(R"({"distributedInfo": {)") + std::string(distributed) +
                             R"(}, "traceEvents": [{"ph": "X", "cat": "user_annotation", "name": ")" +
                             std::string(name) + R"(", "pid": 5, "tid": 6, "ts": 100, "dur": 60, "args": {)" +
                             std::string(args) + "}}]}";
    auto opened = test::open_text(text);
    EXPECT_TRUE(opened.ok());
    trace_ = std::move(*opened);
    rows_ = collective_rows(trace_, trace_.ranks[0], groups_);
  }
  const CollectiveRow& only() const {
    EXPECT_EQ(rows_.size(), 1U);
    return rows_.front();
  }
  const std::string& members() const { return groups_.members(only().group); }

 private:
  trace::Trace trace_;
  GroupNames groups_;
  std::vector<CollectiveRow> rows_;
};

constexpr std::string_view kOneGroup = R"("backend": "gloo", "rank": 0, "world_size": 3, "pg_count": 1)";
constexpr std::string_view kTensor = R"("Input Dims": [[64, 4]], "Input type": ["double"])";

TEST(HostCollectives, TheOnlyGroupIsTheirs) {
  const HostRows rows(kOneGroup, "gloo:all_reduce", kTensor);
  EXPECT_EQ(rows.members(), "0, 1, 2");
  EXPECT_EQ(rows.only().ranks, 3);
  EXPECT_EQ(rows.only().exchange, Exchange::all_reduce);
  EXPECT_EQ(rows.only().bytes, 64 * 4 * 8);
  EXPECT_EQ(rows.only().dtype, "Double");
  EXPECT_EQ(rows.only().end - rows.only().start, 60'000);
}

TEST(HostCollectives, OneOfSeveralGroupsIsNotKnown) {
  for (const std::string_view said : {R"("rank": 0, "world_size": 3, "pg_count": 2)",
                                      R"("rank": 0, "world_size": 3)", R"("pg_count": 1)"}) {
    const HostRows rows(said, "gloo:all_reduce", kTensor);
    EXPECT_EQ(rows.members(), "") << said;
    EXPECT_EQ(rows.only().ranks, 0);
    EXPECT_EQ(rows.only().bytes, 64 * 4 * 8);
  }
}

TEST(HostCollectives, AGatherTakesOfEach) {
  EXPECT_EQ(HostRows(kOneGroup, "gloo:all_gather", kTensor).only().bytes, 3 * 64 * 4 * 8);
  EXPECT_EQ(HostRows("", "gloo:all_gather", kTensor).only().bytes, 0);
}

TEST(HostCollectives, WithoutShapesNoSizeIsKnown) {
  const HostRows rows(kOneGroup, "gloo:all_reduce");
  EXPECT_EQ(rows.only().bytes, 0);
  EXPECT_EQ(rows.only().dtype, "");
}

TEST(HostCollectives, WhatIsGivenAndTakenIsNotToldApart) {
  EXPECT_EQ(HostRows(kOneGroup, "gloo:all_to_all", kTensor).only().bytes, 0);
  EXPECT_EQ(HostRows(kOneGroup, "gloo:barrier").only().exchange, Exchange::barrier);
}

}  // namespace
}  // namespace stepscope::derive
