#include "make_trace/file/sink.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace stepscope::make_trace {

Sink::Sink(const std::string& path, bool gzip) : path_(path) {
  if (gzip) {
    gzip_ = gzopen(path.c_str(), "wb6");
    if (gzip_ != nullptr) gzbuffer(gzip_, 1 << 18);
  } else {
    plain_ = std::fopen(path.c_str(), "wb");
  }
  if (plain_ == nullptr && gzip_ == nullptr) fail("cannot create");
}

Sink::~Sink() {
  if (plain_ != nullptr) std::fclose(plain_);
  if (gzip_ != nullptr) gzclose(gzip_);
}

void Sink::fail(const char* what) const {
  throw std::runtime_error(path_ + ": " + what + ": " + std::strerror(errno));
}

void Sink::write(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::size_t done = plain_ != nullptr
                               ? std::fwrite(bytes.data(), 1, bytes.size(), plain_)
                               : static_cast<std::size_t>(gzfwrite(bytes.data(), 1, bytes.size(), gzip_));
  if (done != bytes.size()) fail("cannot write");
  written_ += static_cast<std::int64_t>(bytes.size());
}

void Sink::close() {
  if (plain_ != nullptr && std::fclose(std::exchange(plain_, nullptr)) != 0) fail("cannot finish");
  if (gzip_ != nullptr && gzclose(std::exchange(gzip_, nullptr)) != Z_OK) fail("cannot finish");
}

}  // namespace stepscope::make_trace
