// Any bytes as Darshan's text: an Error, or JSON that is whole, and reading it ends.
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>

#include "read/darshan/darshan_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* text = reinterpret_cast<const char*>(data);
  (void)stepscope::read::is_darshan({text, size});
  const auto source = stepscope::read::darshan_text(stepscope::memory_bytes(text, size), "x");
  if (!source) return 0;
  std::string out;
  char piece[4096];
  for (std::size_t count; (count = (*source)->read(piece, sizeof piece)) > 0;) out.append(piece, count);
  assert(out.starts_with('{') && out.ends_with("]}\n"));
  return 0;
}
