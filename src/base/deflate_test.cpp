#include "base/deflate.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace stepscope {
namespace {

TEST(Deflate, IsInflatedToTheSameBytes) {
  std::string bytes;
  for (unsigned i = 0; i < 100'000; ++i) bytes += static_cast<char>(i * i >> 7);
  for (const std::string& text : {std::string(), std::string("abc"), bytes}) {
    std::string packed = deflated(text), out(text.size() + 1, '\0');
    z_stream stream{};
    ASSERT_EQ(inflateInit2(&stream, -15), Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(stream.total_out);
    inflateEnd(&stream);
    EXPECT_EQ(out, text);
  }
}

}  // namespace
}  // namespace stepscope
