// A file being written, plain or gzip. The bytes depend on the content alone: no time, no name in the gzip
// header.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace stepscope::make_trace {

class Sink {
 public:
  /// Throws std::runtime_error when the file cannot be created.
  Sink(const std::string& path, bool gzip);
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  ~Sink();

  void write(std::string_view bytes);
  void close();                                      ///< throws when the last bytes do not reach the disk
  std::int64_t written() const { return written_; }  ///< uncompressed bytes

 private:
  [[noreturn]] void fail(const char* what) const;

  std::string path_;
  std::FILE* plain_ = nullptr;
  gzFile gzip_ = nullptr;
  std::int64_t written_ = 0;
};

}  // namespace stepscope::make_trace
