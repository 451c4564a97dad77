#include "serve/address.h"

#include <gtest/gtest.h>

namespace stepscope::serve {
namespace {

using Words = std::vector<std::string>;
using report::Given;

TEST(Address, IsSplitBeforeItIsDecoded) {
  const auto address =
      parse_address("api/runs/0/show/a%2Fb%20c+d?top=3&scale=comm%3D0&a+b=c%26d&tb-compat=&flag&&");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->path, (Words{"api", "runs", "0", "show", "a/b c+d"}));
  EXPECT_EQ(address->query,
            (Given{{"top", "3"}, {"scale", "comm=0"}, {"a b", "c&d"}, {"tb-compat", ""}, {"flag", ""}}));
}

TEST(Address, OfThePageIsOneEmptyWord) {
  EXPECT_EQ(parse_address("")->path, Words{""});
  EXPECT_EQ(parse_address("?x=1")->path, Words{""});
  EXPECT_EQ(parse_address("api/")->path, (Words{"api", ""}));
  EXPECT_EQ(parse_address("../a")->path, (Words{"..", "a"}));
}

TEST(Address, MustBeWellEncoded) {
  for (const char* wrong :
       {"%", "%4", "a%zz", "%-1", "%+1", "% 1", "%00", "%0a", "a\x7F", "x?a=%", "x?%=a", "x?a=%1f"})
    EXPECT_FALSE(parse_address(wrong).ok()) << wrong;
  EXPECT_EQ(parse_address("%c3%A9\xFF")->path, Words{"\xC3\xA9\xFF"});
}

TEST(Address, ValuesAreTakenOut) {
  Given query = {{"a", "1"}, {"hash", "x"}, {"hash", "y"}};
  EXPECT_EQ(take(query, "hash"), "x");
  EXPECT_EQ(take(query, "b", "none"), "none");
  EXPECT_EQ(query, (Given{{"a", "1"}, {"hash", "y"}}));
}

}  // namespace
}  // namespace stepscope::serve
