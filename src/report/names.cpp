#include "report/names.h"

#include <algorithm>
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

/// Where the file's name begins in "/a/b/train.py(7): step", 0 if there are no folders; npos for what is no
/// line.
std::size_t file_of_line(std::string_view frame) {
  for (std::size_t open = frame.find('('); open != std::string_view::npos; open = frame.find('(', open + 1)) {
    const std::size_t close = frame.find_first_not_of("0123456789", open + 1);
    if (close == std::string_view::npos || close == open + 1 || frame[close] != ')') continue;
    const std::string_view path = frame.substr(0, open);
    return path.find('.') == std::string_view::npos ? std::string_view::npos : path.rfind('/') + 1;
  }
  return std::string_view::npos;
}

/// Without the folders of its lines; "" if there are none.
std::string without_folders(std::string_view stack) {
  std::string out;
  bool any = false;
  while (!stack.empty()) {
    const std::size_t end = std::min(stack.find(';'), stack.size());
    const std::size_t file = file_of_line(stack.substr(0, end));
    any |= file != std::string_view::npos && file > 0;
    const std::size_t from = file == std::string_view::npos ? 0 : file;
    out += stack.substr(from, end - from);
    if (end < stack.size()) out += ';';
    stack.remove_prefix(std::min(end + 1, stack.size()));
  }
  return any ? out : "";
}

/// As many folders of a line as fit.
std::string short_line(std::string_view line, int cells) {
  const std::size_t file = file_of_line(line);
  for (std::size_t slash = line.find('/', 1); slash < file; slash = line.find('/', slash + 1))
    if (cells_of(line.substr(slash)) < cells) return "…" + std::string(line.substr(slash));
  return shortened(line.substr(file), cells);
}

}  // namespace

int cells_of_line(std::string_view name) {
  if (name.find(';') != std::string_view::npos) return 0;
  const std::size_t file = file_of_line(name);
  return file == std::string_view::npos ? 0 : cells_of(name.substr(file));
}

std::string short_name(std::string_view name, int cells) {
  if (cells_of(name) <= cells) return std::string(name);
  if (cells_of_line(name) > 0) return short_line(name, cells);
  if (const std::string bare = without_folders(name); !bare.empty()) return shortened(bare, cells);
  if (!is_function(name)) return shortened(name, cells);
  const std::string_view bare = without_signature(name);
  if (cells_of(bare) <= cells) return std::string(bare);
  const std::string inner = without_namespaces(bare);
  return shortened(inner.empty() ? bare : inner, cells);
}

}  // namespace stepscope::report
