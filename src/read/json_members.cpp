#include "read/json_members.h"

#include <charconv>

#include "read/json_text.h"

namespace stepscope::read {
namespace {

/// The text, followed by the zero bytes that the primitives need.
std::string padded(std::string_view text) {
  std::string copy(text);
  copy.append(kPadding, '\0');
  return copy;
}

}  // namespace

Members::Members(const char* p, const char* end) : at_(p), end_(end) {
  if (at_ < end_ && *at_ == '{') at_ = skip_space(at_ + 1);
}

bool Members::next(std::string_view& key, std::string_view& value) {
  const char* damage = "";
  if (at_ >= end_ || !pass_key(at_, end_, key, damage)) return false;
  const char *from = at_, *looked = at_;
  whole_ = pass_value(at_, end_, damage, looked);
  if (!whole_) at_ = end_;
  value = text_between(from, at_);
  at_ = skip_space(at_);
  if (at_ < end_ && *at_ == ',') at_ = skip_space(at_ + 1);
  return true;
}

std::vector<std::pair<std::string, std::string>> members_of(std::string_view object) {
  std::vector<std::pair<std::string, std::string>> members;
  const std::string copy = padded(object);
  const char* start = skip_space(copy.data());
  const char* end = copy.data() + object.size();
  if (start >= end || *start != '{') return members;
  Members walk(start, end);
  for (std::string_view key, value; walk.next(key, value) && walk.whole();) members.emplace_back(key, value);
  return members;
}

std::vector<std::string> elements_of(std::string_view array) {
  std::vector<std::string> elements;
  const std::string copy = padded(array);
  const char* end = copy.data() + array.size();
  const char* p = skip_space(copy.data());
  if (p >= end || *p != '[') return elements;
  do {
    p = skip_space(p + 1);
    const char* behind = p < end && *p != ']' ? value_end(p, end) : nullptr;
    if (behind == nullptr || behind == p) break;
    elements.emplace_back(p, behind);
    p = skip_space(behind);
  } while (p < end && *p == ',');
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

}  // namespace stepscope::read
