#include "serve/address.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace stepscope::serve {
namespace {

/// The bytes that an encoded text stands for; nothing if it is not one.
std::optional<std::string> decoded(std::string_view text, bool plus_is_blank) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = static_cast<unsigned char>(text[i]);
    if (byte == '%') {
      const char* hex = text.data() + i + 1;
      if (text.size() - i < 3 || std::from_chars(hex, hex + 2, byte, 16).ptr != hex + 2) return std::nullopt;
      i += 2;
    } else if (byte == '+' && plus_is_blank) {
      byte = ' ';
    }
    if (byte < 0x20 || byte == 0x7F) return std::nullopt;
    out += static_cast<char>(byte);
  }
  return out;
}

/// Calls each(part) for the parts of `text` between separators, until it returns false.
template <class Each>
bool split(std::string_view text, char separator, const Each& each) {
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    if (!each(text.substr(at, end - at))) return false;
    at = end + 1;
  }
  return true;
}

}  // namespace

Result<Address> parse_address(std::string_view target) {
  const std::size_t mark = std::min(target.find('?'), target.size());
  Address address;
  const auto add_word = [&](std::string_view part) {
    auto word = decoded(part, false);
    if (word) address.path.push_back(std::move(*word));
    return word.has_value();
  };
  const auto add_value = [&](std::string_view part) {
    if (part.empty()) return true;
    const std::size_t equals = std::min(part.find('='), part.size());
    auto name = decoded(part.substr(0, equals), true);
    auto value = decoded(part.substr(std::min(equals + 1, part.size())), true);
    if (name && value) address.query.emplace_back(std::move(*name), std::move(*value));
    return name && value;
  };
  if (!split(target.substr(0, mark), '/', add_word) ||
      !split(target.substr(std::min(mark + 1, target.size())), '&', add_value))
    return Error{"the address is not well encoded: after a % come two hex digits, of no control character",
                 ""};
  return address;
}

std::string take(report::Given& query, std::string_view name, std::string_view fallback) {
  const auto found = std::ranges::find(query, name, &report::Given::value_type::first);
  if (found == query.end()) return std::string(fallback);
  std::string value = std::move(found->second);
  query.erase(found);
  return value;
}

}  // namespace stepscope::serve
