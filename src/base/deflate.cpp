#include "base/deflate.h"

#include <zlib.h>

#include <limits>

#include "base/check.h"

namespace stepscope {

std::string deflated(std::string_view bytes, int level, Wrap wrap) {
  constexpr int kWindow = 15, kMemory = 9;
  CHECK(bytes.size() <= std::numeric_limits<uInt>::max());
  z_stream stream{};
  CHECK(deflateInit2(&stream, level, Z_DEFLATED, wrap == Wrap::gzip ? kWindow + 16 : -kWindow, kMemory,
                     Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace stepscope
