// Amount: a count of FLOPs, elements or bytes. It is unknown if any part of it is unknown or a negative size,
// or if it is too large for 63 bits. It never wraps.
#pragma once

#include <cstdint>

namespace stepscope::derive {

class Amount {
 public:
  constexpr Amount(std::int64_t value) : value_(value) {}
  static constexpr Amount unknown() {
    Amount amount(0);
    amount.known_ = false;
    return amount;
  }

  constexpr bool known() const { return known_; }
  /// The count; 0 when unknown.
  constexpr std::int64_t value() const { return known_ ? value_ : 0; }

  friend constexpr Amount operator+(Amount a, Amount b) {
    std::int64_t sum = 0;
    if (!a.known_ || !b.known_ || __builtin_add_overflow(a.value_, b.value_, &sum)) return unknown();
    return sum;
  }
  friend constexpr Amount operator-(Amount a, Amount b) {
    std::int64_t difference = 0;
    if (!a.known_ || !b.known_ || __builtin_sub_overflow(a.value_, b.value_, &difference)) return unknown();
    return difference;
  }
  friend constexpr Amount operator*(Amount a, Amount b) {
    std::int64_t product = 0;
    if (!a.known_ || !b.known_ || __builtin_mul_overflow(a.value_, b.value_, &product)) return unknown();
    return product;
  }
  /// Rounds toward zero; unknown when the divisor is 0.
  friend constexpr Amount operator/(Amount a, Amount b) {
    if (!a.known_ || !b.known_ || b.value_ == 0 || (b.value_ == -1 && a.value_ == INT64_MIN))
      return unknown();
    return a.value_ / b.value_;
  }
  constexpr Amount& operator+=(Amount other) { return *this = *this + other; }
  constexpr Amount& operator*=(Amount other) { return *this = *this * other; }

 private:
  std::int64_t value_;
  bool known_ = true;
};

}  // namespace stepscope::derive
