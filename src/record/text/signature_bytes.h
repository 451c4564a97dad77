// Takes values off the front of a signature (record/signature.h).
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "record/text/json_text.h"

namespace stepscope::record {

class SignatureBytes {
 public:
  explicit SignatureBytes(std::string_view signature) : rest_(signature) {}
  bool empty() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

 protected:
  /// False: not enough bytes are left.
  template <class T>
  bool take(T& value) {
    if (rest_.size() < sizeof value) return false;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return true;
  }

  /// Sets `out` to `count` integers as a JSON array, separated by `comma`; multiplies `product` by each.
  bool take_numbers(std::size_t count, std::string_view comma, std::string& out, std::uint64_t& product) {
    out = "[";
    for (std::size_t i = 0; i < count; ++i) {
      std::int64_t number = 0;
      if (!take(number)) return false;
      product *= static_cast<std::uint64_t>(number);
      if (i > 0) out += comma;
      put(out, number);
    }
    out += ']';
    return true;
  }

  std::string_view rest_;
};

}  // namespace stepscope::record
