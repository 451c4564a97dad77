// Parameters of an analysis, declared as data. CLI flags, Python keywords and completion are made
// from them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepscope::report {

struct ParamSpec {
  /// texts: a text that may be given several times; its values are joined by ';'.
  enum class Type : std::uint8_t { flag, integer, percentage, text, texts, choice, steps };
  std::string_view name;  ///< kebab-case, e.g. "tb-compat"
  Type type;
  std::string_view fallback;  ///< value when not given; "" for a flag that is off
  std::string_view choices;   ///< for `choice`: "name|shape|stack"
  std::string_view help;      ///< one line
};

/// Values by name. Unknown names read as their type's zero, so an analysis may ask for any.
class Params {
 public:
  void set(std::string name, std::string value) { values_[std::move(name)] = std::move(value); }
  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  bool flag(std::string_view name) const { return has(name) && text(name) != "false"; }
  /// The integer value, or `fallback` when absent or not a number.
  std::int64_t integer(std::string_view name, std::int64_t fallback = 0) const;
  /// First and last of a number or a range ("7", "7-9"), or `fallback` when absent or invalid.
  std::pair<std::int64_t, std::int64_t> range(std::string_view name,
                                              std::pair<std::int64_t, std::int64_t> fallback) const;
  /// A percentage as a share, 0 … 1, or `fallback` when absent or invalid.
  double share(std::string_view name, double fallback = 0) const;
  /// The text value, or `fallback` when absent.
  std::string_view text(std::string_view name, std::string_view fallback = "") const;
  /// The values of a text that may be given several times, without empty ones.
  std::vector<std::string> texts(std::string_view name) const;
  const std::map<std::string, std::string, std::less<>>& all() const { return values_; }

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

/// Every analysis has these. "sort" names a column; every table with that column is sorted by it.
std::span<const ParamSpec> common_params();

/// One sentence why `value` does not fit `spec`, or "" if it does.
std::string misfit(const ParamSpec& spec, std::string_view value);

}  // namespace stepscope::report
