#include "read/json_members.h"

#include <gtest/gtest.h>

#include "read/json_text.h"

namespace stepscope::read {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

TEST(JsonMembers, KeysAndTextsOfValues) {
  EXPECT_EQ(members_of(R"( { "a" : 1, "b": "x\"y" ,"c":[1,{"d":2}], "e":{}} )"),
            (Pairs{{"a", "1"}, {"b", R"("x\"y")"}, {"c", R"([1,{"d":2}])"}, {"e", "{}"}}));
  EXPECT_EQ(members_of("{}"), Pairs());
  EXPECT_EQ(members_of("[1]"), Pairs());
  EXPECT_EQ(members_of(""), Pairs());
}

TEST(JsonMembers, StopAtDamage) {
  EXPECT_EQ(members_of(R"({"a":1,"b")"), (Pairs{{"a", "1"}}));
  EXPECT_EQ(members_of(R"({"a":1,"b":[2)"), (Pairs{{"a", "1"}}));
  EXPECT_EQ(members_of(R"({"a":1,b:2})"), (Pairs{{"a", "1"}}));
}

TEST(JsonMembers, Elements) {
  EXPECT_EQ(elements_of(R"( [ 1, "a,b" ,[2,3]] )"), (std::vector<std::string>{"1", R"("a,b")", "[2,3]"}));
  EXPECT_EQ(elements_of("[]"), std::vector<std::string>());
  EXPECT_EQ(elements_of("[1,"), (std::vector<std::string>{"1"}));
}

// A value cut by the end of the text extends to the end; whole() is then false.
TEST(JsonMembers, AValueWithoutAnEnd) {
  std::string text = R"({"a":1,"b":[2)";
  const std::size_t size = text.size();
  text.append(kPadding, '\0');
  Members members(std::string_view(text).substr(0, size));
  std::string_view key, value;
  ASSERT_TRUE(members.next(key, value));
  EXPECT_TRUE(members.whole());
  ASSERT_TRUE(members.next(key, value));
  EXPECT_EQ(key, "b");
  EXPECT_EQ(value, "[2");
  EXPECT_FALSE(members.whole());
  EXPECT_FALSE(members.next(key, value));
  EXPECT_FALSE(members.at_close());
}

}  // namespace
}  // namespace stepscope::read
