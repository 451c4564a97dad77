#include <gtest/gtest.h>

#include "base/byte_source.h"
#include "base/gzip.h"

namespace stepscope {
namespace {

std::string inflated(const std::string& stored) {
  const auto source = memory_bytes(stored.data(), stored.size());
  std::string out(std::size_t{1} << 22, '\0');
  out.resize(source->read(out.data(), out.size()));
  EXPECT_EQ(source->fault_count, 0);
  return out;
}

TEST(GzipMember, IsWhatItWasMadeOf) {
  std::string noise;
  std::uint32_t state = 1;
  for (int i = 0; i < 300'000; ++i) noise += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  for (const std::string& text : {std::string("a"), std::string(1'000'000, 'x'), noise})
    EXPECT_EQ(inflated(gzip_member(text)), text);
}

TEST(GzipMember, JoinsByStandingBehindAnother) {
  EXPECT_EQ(inflated(gzip_member("one ") + gzip_member("two")), "one two");
}

}  // namespace
}  // namespace stepscope
