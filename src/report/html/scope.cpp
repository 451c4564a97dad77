// A part of the page that can stand in another page. CSS nesting keeps the rules inside the element; ids
// carry a name made of the content. Text from a trace cannot look like an id: its quotes are escaped.
#include <fmt/format.h>

#include <cstdint>

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

/// The same in every process, so that a page made twice is the same page (FNV-1a).
std::uint64_t fingerprint(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

}  // namespace

std::string scoped(std::string body) {
  const std::string name = fmt::format("stepscope-{:016x}", fingerprint(body));
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
