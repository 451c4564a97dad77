#include "report/names.h"

#include <cctype>

#include "report/utf8.h"

namespace stepscope::report {
namespace {

bool is_function(std::string_view name) {
  return name.starts_with("void ") || (name.ends_with(')') && name.find("::") != std::string_view::npos);
}

/// Without "void " in front and the argument list at the end.
std::string_view without_signature(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  if (!name.ends_with(')')) return name;
  int open = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')') ++open;
    if (name[i] == '(' && --open == 0) return i == 0 ? name : name.substr(0, i);
  }
  return name;
}

/// "a::b<c::d>" as "b<d>".
std::string without_namespaces(std::string_view name) {
  std::string out;
  std::size_t word = 0;  // where the current word begins in `out`
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == ':' && i + 1 < name.size() && name[i + 1] == ':') {
      out.resize(word);
      ++i;
      continue;
    }
    out += c;
    const bool in_word = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '~';
    if (!in_word) word = out.size();
  }
  return out;
}

}  // namespace

std::string short_name(std::string_view name, int cells) {
  if (cells_of(name) <= cells || !is_function(name)) return shortened(name, cells);
  const std::string_view bare = without_signature(name);
  if (cells_of(bare) <= cells) return std::string(bare);
  const std::string inner = without_namespaces(bare);
  return shortened(inner.empty() ? bare : inner, cells);
}

}  // namespace stepscope::report
