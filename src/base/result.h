// Result<T>: a value, or an Error that the user can act on. For bad input; bugs use CHECK.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace stepscope {

/// What went wrong, where, and what to do. `message` is one sentence, without the place.
struct Error {
  std::string message;
  std::string file;        ///< path as the user gave it; empty when no file is involved
  std::int64_t byte = -1;  ///< offset in the uncompressed text; -1 when unknown

  /// "file, at byte N: message", leaving out what is unknown.
  std::string text() const {
    std::string out = file;
    if (!file.empty() && byte >= 0) out += ", at byte " + std::to_string(byte);
    if (!out.empty()) out += ": ";
    return out + message;
  }
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  const T& value() const& {
    CHECK(ok());
    return std::get<0>(state_);
  }
  T& value() & {
    CHECK(ok());
    return std::get<0>(state_);
  }
  T&& value() && {
    CHECK(ok());
    return std::get<0>(std::move(state_));
  }
  const Error& error() const {
    CHECK(!ok());
    return std::get<1>(state_);
  }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }
  const T& operator*() const { return value(); }
  T& operator*() { return value(); }

 private:
  std::variant<T, Error> state_;
};

}  // namespace stepscope
