#include "base/same_bytes.h"

#include <gtest/gtest.h>

#include <string>

namespace stepscope {
namespace {

TEST(SameBytes, AnyDifferingByteIsSeenAtEveryLength) {
  for (std::size_t size = 0; size <= 40; ++size) {
    const std::string text(size, 'x');
    EXPECT_TRUE(same_bytes(text.data(), std::string(text).data(), size)) << size;
    for (std::size_t at = 0; at < size; ++at) {
      std::string other = text;
      other[at] = 'y';
      EXPECT_FALSE(same_bytes(text.data(), other.data(), size)) << size << " at " << at;
    }
  }
}

}  // namespace
}  // namespace stepscope
