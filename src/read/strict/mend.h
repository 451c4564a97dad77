// Makes strict JSON of what the forgiving readers here accept. kPadding zero bytes must follow each text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/breaches.h"

namespace stepscope::read {

/// Appends a value to `out` as strict JSON that means the same to the readers here. A word such as NaN
/// becomes a string of its text: null would lose which word it was. So does a value whose brackets do not
/// fit. Adds what was mended to `breaches`; `at` is the value's offset.
void mend_value(std::string_view value, std::int64_t at, std::string& out, trace::Breaches& breaches);

/// The same for a string's text, without its quotes.
void mend_text(std::string_view text, std::int64_t at, std::string& out, trace::Breaches& breaches);

}  // namespace stepscope::read
