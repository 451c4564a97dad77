#include "read/json_members.h"

#include <charconv>

#include "read/json_text.h"

namespace stepscope::read {
namespace {

/// With the zero bytes behind it that the primitives need.
std::string padded(std::string_view text) {
  std::string copy(text);
  copy.append(kPadding, '\0');
  return copy;
}

/// Behind the comma before the next member, or nullptr at the end.
const char* next(const char* p, const char* end) {
  p = skip_space(p);
  return p < end && *p == ',' ? skip_space(p + 1) : nullptr;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> members_of(std::string_view object) {
  std::vector<std::pair<std::string, std::string>> members;
  const std::string copy = padded(object);
  const char* end = copy.data() + object.size();
  const char* p = skip_space(copy.data());
  if (p >= end || *p != '{') return members;
  for (p = skip_space(p + 1); p != nullptr && p < end && *p == '"'; p = next(p, end)) {
    bool escaped = false;
    const char* close = string_end(p + 1, end, escaped);
    if (close == nullptr) break;
    const char* colon = skip_space(close + 1);
    if (colon >= end || *colon != ':') break;
    const char* value = skip_space(colon + 1);
    const char* behind = value_end(value, end);
    if (behind == nullptr || behind == value) break;
    members.emplace_back(std::string(p + 1, close), std::string(value, behind));
    p = behind;
  }
  return members;
}

std::vector<std::string> elements_of(std::string_view array) {
  std::vector<std::string> elements;
  const std::string copy = padded(array);
  const char* end = copy.data() + array.size();
  const char* p = skip_space(copy.data());
  if (p >= end || *p != '[') return elements;
  for (p = skip_space(p + 1); p != nullptr && p < end && *p != ']'; p = next(p, end)) {
    const char* behind = value_end(p, end);
    if (behind == nullptr || behind == p) break;
    elements.emplace_back(p, behind);
    p = behind;
  }
  return elements;
}

std::string_view member(const std::vector<std::pair<std::string, std::string>>& members,
                        std::string_view key) {
  for (const auto& [name, value] : members)
    if (name == key) return value;
  return {};
}

std::string text_of(std::string_view value) {
  if (value.size() < 2 || value.front() != '"') return std::string(value);
  std::string out;
  unescape(value.substr(1, value.size() - 2), out);
  return out;
}

std::int64_t integer_of(std::string_view value, std::int64_t otherwise) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc{} && end == value.data() + value.size() ? number : otherwise;
}

double real_of(std::string_view value, double otherwise) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc{} && end == value.data() + value.size() ? number : otherwise;
}

}  // namespace stepscope::read
