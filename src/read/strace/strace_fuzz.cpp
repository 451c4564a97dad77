// Any bytes as strace's output: the JSON is whole, and reading it ends.
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>

#include "read/strace/strace_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* text = reinterpret_cast<const char*>(data);
  (void)stepscope::read::is_strace({text, size});
  const auto source = stepscope::read::strace_text(stepscope::memory_bytes(text, size));
  std::string out;
  char piece[4096];
  for (std::size_t count; (count = source->read(piece, sizeof piece)) > 0;) out.append(piece, count);
  assert(out.starts_with('{') && out.ends_with("]}\n"));
  return 0;
}
