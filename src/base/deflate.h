// Deflate (RFC 1951) by zlib.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct z_stream_s;

namespace stepscope {

enum class Wrap : std::uint8_t { none, gzip };

/// `bytes`: less than 4 GiB. `level`: 1, fast, to 9, small.
std::string deflated(std::string_view bytes, int level = 9, Wrap wrap = Wrap::none);

/// One gzip member of any length, made piece by piece.
class GzipStream {
 public:
  explicit GzipStream(int level);
  /// The compressed bytes that are ready after `bytes`. Less than 4 GiB at a time.
  std::string add(std::string_view bytes);
  /// The rest. Call it once, at the end.
  std::string finish();

 private:
  struct End {
    void operator()(z_stream_s* stream) const;
  };
  std::string compress(std::string_view bytes, int flush);
  std::unique_ptr<z_stream_s, End> stream_;
};

}  // namespace stepscope
