// The members of a small JSON object or array, as texts.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepscope::read {

/// A walk over the members of the JSON object at `p`, which ends before `end`; kPadding zero bytes must
/// follow.
class Members {
 public:
  Members(const char* p, const char* end);
  explicit Members(std::string_view object) : Members(object.data(), object.data() + object.size()) {}

  /// Key and value as written, the key without quotes. A value without an end, or with an unescaped quote,
  /// extends to `end`.
  bool next(std::string_view& key, std::string_view& value);
  /// Whether the last value was whole.
  bool whole() const { return whole_; }
  bool at_close() const { return at_ < end_ && *at_ == '}'; }

 private:
  const char *at_, *end_;
  bool whole_ = true;
};

/// (key, text of the value) of an object, keys without quotes; nothing for other values. Stops at damage.
std::vector<std::pair<std::string, std::string>> members_of(std::string_view object);
/// The texts of an array's elements. Stops at damage.
std::vector<std::string> elements_of(std::string_view array);
/// The value of `key` among `members`, "" if absent.
std::string_view member(const std::vector<std::pair<std::string, std::string>>& members,
                        std::string_view key);
/// A string without quotes and escapes; the text of any other value.
std::string text_of(std::string_view value);
/// A whole number, or `otherwise`.
std::int64_t integer_of(std::string_view value, std::int64_t otherwise);

}  // namespace stepscope::read
