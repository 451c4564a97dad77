#include "read/strace/line.h"

#include <algorithm>
#include <charconv>

namespace stepscope::read {
namespace {

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\r') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

/// Takes digits from the front; -1 if there are none, or too many.
std::int64_t digits(std::string_view& text) {
  std::int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0) return -1;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// Takes "1700000000.123456" from the front, as ns; -1 if it is none.
std::int64_t seconds(std::string_view& text) {
  constexpr std::int64_t kMost = 4'000'000'000;
  const std::int64_t whole = digits(text);
  if (whole < 0 || whole > kMost || !text.starts_with('.')) return -1;
  text.remove_prefix(1);
  std::int64_t ns = 0, unit = 100'000'000;
  std::size_t count = 0;
  for (; count < text.size() && text[count] >= '0' && text[count] <= '9'; ++count, unit /= 10)
    ns += (text[count] - '0') * unit;
  text.remove_prefix(count);
  return count == 0 ? -1 : whole * 1'000'000'000 + ns;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 32 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// Takes " <0.000012>" from the end, as ns; -1 if there is none.
std::int64_t duration(std::string_view& text) {
  if (!text.ends_with('>')) return -1;
  const std::size_t begin = text.rfind('<');
  if (begin == std::string_view::npos) return -1;
  std::string_view inside = text.substr(begin + 1, text.size() - begin - 2);
  const std::int64_t ns = seconds(inside);
  if (ns < 0 || !inside.empty()) return -1;
  text = trimmed(text.substr(0, begin));
  return ns;
}

/// Of "3, \"a)\") = 2</b>" the bracket that ends the args; npos: there is none. Texts and paths may have
/// brackets of their own.
std::size_t end_of_args(std::string_view text) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at)
        if (text[at] == '\\') ++at;
    } else if (c == '<' && at + 1 < text.size() && text[at + 1] == '/') {
      at = std::min(text.find('>', at), text.size());
    } else if (c == '(') {
      ++depth;
    } else if (c == ')' && depth-- == 0) {
      return at;
    }
  }
  return std::string_view::npos;
}

/// Takes ") = -1 ENOENT (No such file)" from the end.
bool result(StraceLine& line, std::string_view& text) {
  const std::size_t at = end_of_args(text);
  if (at == std::string_view::npos) return false;
  std::string_view value = trimmed(text.substr(at + 1));
  if (!value.starts_with("= ")) return false;
  value = trimmed(value.substr(2));
  text = text.substr(0, at);
  const bool negative = value.starts_with('-');
  if (negative) value.remove_prefix(1);
  if (value.starts_with("0x")) return true;  // an address
  const std::int64_t number = digits(value);
  line.result = negative ? -number : number;
  if (!negative || number < 0) return true;
  value = trimmed(value);
  line.error = value.substr(0, value.find(' '));
  if (!line.error.starts_with('E')) line.error = "";
  return true;
}

constexpr std::string_view kUnfinished = "<unfinished ...>", kResumed = " resumed>";

}  // namespace

std::optional<StraceLine> strace_line(std::string_view text) {
  StraceLine line;
  text = trimmed(text);
  if (text.starts_with("[pid")) {
    text = trimmed(text.substr(4));
    line.thread = digits(text);
    if (line.thread < 0 || !text.starts_with(']')) return std::nullopt;
    text = trimmed(text.substr(1));
  } else {
    std::string_view rest = text;
    const std::int64_t number = digits(rest);
    if (number < 0) return std::nullopt;
    if (!rest.starts_with('.')) {
      line.thread = number;
      text = trimmed(rest);
    }
  }
  line.ns = seconds(text);
  if (line.ns < 0 || !text.starts_with(' ')) return std::nullopt;
  text = trimmed(text);
  if (text.starts_with("+++ exited") || text.starts_with("+++ killed")) line.kind = StraceLine::Kind::ended;
  if (text.starts_with("---") || text.starts_with("+++")) return line;
  if (text.starts_with("<... ")) {
    const std::size_t end = text.find(kResumed);
    if (end == std::string_view::npos) return std::nullopt;
    line.name = text.substr(5, end - 5);
    text.remove_prefix(end + kResumed.size());
    line.kind = StraceLine::Kind::resumed;
  } else {
    const std::size_t open = text.find('(');
    if (open == std::string_view::npos) return std::nullopt;
    line.name = text.substr(0, open);
    text.remove_prefix(open + 1);
    line.kind = StraceLine::Kind::call;
  }
  if (!is_name(line.name)) return std::nullopt;
  if (text.ends_with(kUnfinished)) {
    line.kind = StraceLine::Kind::unfinished;
    line.args = trimmed(text.substr(0, text.size() - kUnfinished.size()));
    return line;
  }
  if (text.ends_with('?')) {  // the process ended in the call
    line.kind = StraceLine::Kind::other;
    return line;
  }
  line.duration = duration(text);
  if (line.duration < 0 || !result(line, text)) return std::nullopt;
  line.args = text;
  return line;
}

std::vector<std::string_view> strace_args(std::string_view args) {
  constexpr std::size_t kMost = 16;
  std::vector<std::string_view> out;
  int depth = 0;
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < args.size() && out.size() < kMost; ++at) {
    const char c = args[at];
    if (quoted) {
      if (c == '\\') ++at;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '<') {  // a descriptor's path
      at = std::min(args.find('>', at), args.size());
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      out.push_back(trimmed(args.substr(begin, at - begin)));
      begin = at + 1;
    }
  }
  if (const std::string_view last = trimmed(args.substr(std::min(begin, args.size())));
      !last.empty() && out.size() < kMost)
    out.push_back(last);
  return out;
}

std::optional<std::string> strace_path(std::string_view arg) {
  if (!arg.starts_with('"')) return std::nullopt;
  std::string out;
  for (std::size_t at = 1; at < arg.size(); ++at) {
    if (arg[at] == '"') return out;
    if (arg[at] != '\\' || at + 1 == arg.size()) {
      out += arg[at];
      continue;
    }
    const char escaped = arg[++at];
    if (escaped >= '0' && escaped <= '7') {
      int value = 0;
      for (int i = 0; i < 3 && at < arg.size() && arg[at] >= '0' && arg[at] <= '7'; ++i)
        value = value * 8 + (arg[at++] - '0');
      --at;
      out += static_cast<char>(value);
    } else {
      constexpr std::string_view kFrom = "ntrvf", kTo = "\n\t\r\v\f";
      const std::size_t known = kFrom.find(escaped);
      out += known == std::string_view::npos ? escaped : kTo[known];
    }
  }
  return std::nullopt;
}

std::int64_t strace_number(std::string_view arg, std::int64_t otherwise) {
  std::string_view rest = arg;
  const bool negative = rest.starts_with('-');
  if (negative) rest.remove_prefix(1);
  const std::int64_t value = digits(rest);
  if (value < 0 || (!rest.empty() && !rest.starts_with('<'))) return otherwise;
  return negative ? -value : value;
}

std::int64_t strace_descriptor(std::string_view arg) {
  if (arg.starts_with("AT_FDCWD")) return -100;
  return std::max<std::int64_t>(-1, strace_number(arg, -1));
}

std::string_view strace_descriptor_path(std::string_view arg) {
  const std::size_t begin = arg.find('<');
  if (begin == std::string_view::npos || !arg.ends_with('>')) return "";
  const std::string_view path = arg.substr(begin + 1, arg.size() - begin - 2);
  return path.starts_with('/') ? path : "";
}

}  // namespace stepscope::read
