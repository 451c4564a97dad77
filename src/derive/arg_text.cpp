#include "derive/arg_text.h"

#include <charconv>

#include "base/text.h"

namespace stepscope::derive {
namespace {

constexpr std::size_t kMaxElements = 65536;

// Index after the closing quote of the string that opens at `at`; npos when it never closes.
std::size_t string_end(std::string_view text, std::size_t at) {
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

template <class Number>
std::optional<Number> whole(std::string_view text) {
  text = trimmed(text);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::vector<std::string_view>> array_elements(std::string_view text) {
  text = trimmed(text);
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  const std::string_view inner = text.substr(1, text.size() - 2);
  std::vector<std::string_view> elements;
  std::size_t depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < inner.size(); ++i) {
    const char c = inner[i];
    if (c == '"') {
      const std::size_t end = string_end(inner, i);
      if (end == std::string_view::npos) return std::nullopt;
      i = end - 1;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      if (depth == 0) return std::nullopt;
      --depth;
    } else if (c == ',' && depth == 0) {
      if (elements.size() == kMaxElements) return std::nullopt;
      elements.push_back(trimmed(inner.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  if (depth != 0) return std::nullopt;
  const std::string_view last = trimmed(inner.substr(begin));
  if (!last.empty() || !elements.empty()) elements.push_back(last);
  return elements;
}

std::optional<std::vector<std::int64_t>> integer_array(std::string_view text) {
  const auto elements = array_elements(text);
  if (!elements) return std::nullopt;
  std::vector<std::int64_t> numbers;
  numbers.reserve(elements->size());
  for (const std::string_view element : *elements) {
    const auto number = whole_integer(element);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<std::string> string_text(std::string_view text) {
  text = trimmed(text);
  if (text.size() < 2 || text.front() != '"' || string_end(text, 0) != text.size()) return std::nullopt;
  std::string out;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] == '\\' && (text[i + 1] == '"' || text[i + 1] == '\\' || text[i + 1] == '/')) ++i;
    out.push_back(text[i]);
  }
  return out;
}

std::optional<std::int64_t> whole_integer(std::string_view text) { return whole<std::int64_t>(text); }
std::optional<double> whole_number(std::string_view text) { return whole<double>(text); }

std::string on_one_line(std::string_view json) {
  std::string line;
  bool quoted = false, escaped = false;
  for (const char c : json) {
    if (!quoted && (c == ' ' || c == '\n' || c == '\r' || c == '\t')) continue;
    line += c;
    if (!quoted && c == ',') line += ' ';
    if (c == '"' && !escaped) quoted = !quoted;
    escaped = quoted && c == '\\' && !escaped;
  }
  return line;
}

}  // namespace stepscope::derive
