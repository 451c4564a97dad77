// A fragment for use inside another page. CSS nesting keeps the rules inside the element; a hash of the
// content makes the ids unique. Text from a trace cannot look like an id: its quotes are escaped.
#include <fmt/format.h>

#include "base/key_hash.h"
#include "report/html/parts.h"

namespace stepscope::report {
namespace {

constexpr std::string_view kUndone = ":where(:not(svg,svg *,style)){all:revert}\n";

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::string out;
  std::size_t at = 0;
  for (std::size_t found; (found = text.find(from, at)) != std::string::npos; at = found + from.size())
    out.append(text, at, found - at) += to;
  text = out.append(text, at);
}

}  // namespace

std::string scoped(std::string body) {
  const std::string name = fmt::format("stepscope-{:016x}", hash_of(body, kFixedSeed));
  std::string style = style_sheet();
  replace_all(style, ":root{", "&{");
  replace_all(style, "\nbody{", "\n&{padding:2px 8px 10px;");
  replace_all(style, "url(#", fmt::format("url(#{}-", name));
  replace_all(body, " id=\"", fmt::format(" id=\"{}-", name));
  replace_all(body, "labelledby=\"", fmt::format("labelledby=\"{}-", name));
  replace_all(body, "href=\"#", fmt::format("href=\"#{}-", name));
  return fmt::format("<div class=\"{0}\">\n<style>.{0}.{0}.{0}{{{1}{2}}}</style>\n{3}</div>\n", name, kUndone,
                     style, body);
}

}  // namespace stepscope::report
