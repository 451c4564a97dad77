// Hostile gzip and zstd: reading any bytes ends, in bounded time and memory, with the same result for any
// size of the pieces.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/byte_source.h"
#include "base/check.h"

namespace {

struct Drained {
  std::string text;
  std::int64_t faults;
};

Drained drained(std::string_view bytes, std::size_t piece) {
  constexpr std::size_t kEnough = std::size_t{1} << 24;
  const auto source = stepscope::memory_bytes(bytes.data(), bytes.size());
  Drained out{"", 0};
  std::string part(piece, '\0');
  for (std::size_t n; out.text.size() < kEnough && (n = source->read(part.data(), piece)) != 0;) {
    CHECK(n <= piece);
    out.text.append(part, 0, n);
    CHECK(source->position() <= static_cast<std::int64_t>(bytes.size()));
  }
  out.faults = source->fault_count;
  CHECK(source->faults.size() <= 16);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Drained whole = drained(bytes, std::size_t{1} << 16), pieces = drained(bytes, 61);
  const std::size_t common = std::min(whole.text.size(), pieces.text.size());
  CHECK(whole.text.compare(0, common, pieces.text, 0, common) == 0);
  return 0;
}
