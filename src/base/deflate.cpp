#include "base/deflate.h"

#include <zlib.h>

#include <limits>

#include "base/check.h"

namespace stepscope {
namespace {

constexpr int kWindow = 15, kMemory = 9;

}  // namespace

std::string deflated(std::string_view bytes, int level, Wrap wrap) {
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

GzipStream::GzipStream(int level) : stream_(new z_stream()) {
  CHECK(deflateInit2(stream_.get(), level, Z_DEFLATED, kWindow + 16, kMemory, Z_DEFAULT_STRATEGY) == Z_OK);
}

void GzipStream::End::operator()(z_stream_s* stream) const {
  deflateEnd(stream);
  delete stream;
}

std::string GzipStream::add(std::string_view bytes) { return compress(bytes, Z_NO_FLUSH); }

std::string GzipStream::finish() { return compress({}, Z_FINISH); }

std::string GzipStream::compress(std::string_view bytes, int flush) {
  constexpr std::size_t kRoom = std::size_t{1} << 16;
  CHECK(bytes.size() <= std::numeric_limits<uInt>::max());
  stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream_->avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  do {
    const std::size_t used = out.size();
    out.resize(used + kRoom);
    stream_->next_out = reinterpret_cast<Bytef*>(out.data() + used);
    stream_->avail_out = kRoom;
    CHECK(deflate(stream_.get(), flush) != Z_STREAM_ERROR);
    out.resize(out.size() - stream_->avail_out);
  } while (stream_->avail_out == 0);
  return out;
}

}  // namespace stepscope
