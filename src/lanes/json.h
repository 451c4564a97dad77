// Writes JSON from left to right. Texts of recordings are cut and made safe to show.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace stepscope::lanes {

/// Bytes of a name in an answer; the rest is cut off and "…" stands for it.
inline constexpr std::size_t kMaxName = 2'000;

/// `text` on one line without control characters and bidirectional marks, in at most `most` bytes and "…".
std::string shown(std::string_view text, std::size_t most = kMaxName);

/// Commas come by themselves. The caller closes what it opens.
class Json {
 public:
  Json& open(char bracket) {
    comma();
    out_ += bracket;
    first_ = true;
    return *this;
  }
  Json& close(char bracket) {
    out_ += bracket;
    first_ = false;
    return *this;
  }
  Json& key(std::string_view name) {
    comma();
    out_ += fmt::format("\"{}\":", name);
    first_ = true;
    return *this;
  }
  Json& number(std::integral auto value) {
    comma();
    out_ += fmt::format("{}", value);
    return *this;
  }
  /// null if it is not finite.
  Json& real(double value);
  Json& flag(bool value) { return word(value ? "true" : "false"); }
  Json& null() { return word("null"); }
  /// As JSON, whatever is in it; not cut.
  Json& text(std::string_view value);
  std::string take() { return std::move(out_); }
  std::size_t size() const { return out_.size(); }

 private:
  void comma() {
    if (!first_) out_ += ',';
    first_ = false;
  }
  Json& word(std::string_view value) {
    comma();
    out_ += value;
    return *this;
  }

  std::string out_;
  bool first_ = true;
};

}  // namespace stepscope::lanes
