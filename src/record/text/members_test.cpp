#include "record/text/members.h"

#include <gtest/gtest.h>

#include "record/recording_for_test.h"

namespace stepscope::record {
namespace {

TEST(Members, OfOneObject) {
  for (const char* text : {R"("a":1)", R"("a": -0.5e+3, "b":"c\"\u00e9\n","d":null)", R"("é":true,"":0)"})
    EXPECT_TRUE(are_members(text)) << text;
  for (const char* text : {"", "1", R"("a")", R"("a":)", R"("a":01)", R"("a":1,)", R"("a":1}, {"b":2)",
                           R"("a":"\x")", R"("a":"\u12)", R"("a":[1])", "\"a\":\"\xff\"", "\"a\":\"\n\"",
                           R"("a":1e)", R"("a":1.)", R"("a":tru)", R"("a":"b)"})
    EXPECT_FALSE(are_members(text)) << text;
}

std::string range_with(std::string_view members, Type type = Type::text, std::uint8_t scope = kUserScope) {
  std::string records;
  put_text(records, 1, "read");
  put_text(records, 2, members, type);
  put_bytes(records, Op{{Type::op, 4, 1}, 2000, 5000, 2, scope, 0, 0});
  return text_of(made_recording(records));
}

TEST(Members, AreArgsOfRanges) {
  EXPECT_EQ(count_of(range_with(R"("cat":"data","step":3)"), R"(, "cat":"data","step":3})"), 1);
}

TEST(Members, OfOtherRecordsAreNone) {
  EXPECT_EQ(count_of(range_with(R"("cat":"data")", Type::signature), "data"), 0);
  EXPECT_EQ(count_of(range_with(R"("cat":"data")", Type::text, kFunctionScope), "data"), 0);
  EXPECT_EQ(count_of(range_with(R"("cat":"data"}, {)"), "data"), 0);
}

}  // namespace
}  // namespace stepscope::record
