// Runs the whole engine on hostile lines of events. The invariants of a Trace must hold, in any blocks.
#include <cstdint>
#include <string_view>

#include "support/check_timeline.h"
#include "support/check_trace.h"
#include "support/open_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepscope;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto whole = test::open_lines(text, {1, {1 << 14, 1 << 20}});
  if (whole.ok()) {
    test::check_trace(*whole);
    test::check_analyses(*whole);
    test::check_timeline(*whole);
  }
  const unsigned threads = size % 4 == 0 ? 2 : 1;  // starting threads is most of the cost
  const auto pieces = test::open_lines(text, {threads, {97, 1 << 20}});
  CHECK(pieces.ok() == whole.ok());
  if (whole.ok()) CHECK(test::dump(*pieces) == test::dump(*whole));
  return 0;
}
