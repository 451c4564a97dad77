// The documentation of analyses is Markdown; a terminal gets it as plain text.
#pragma once

#include <string>
#include <string_view>

namespace stepscope::cli {

/// Paragraphs and list items wrapped at `columns`, tables as columns, emphasis and code marks left out.
std::string plain_text(std::string_view markdown, int columns);

}  // namespace stepscope::cli
