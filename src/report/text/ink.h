// Colour and weight on a terminal: SGR codes when wanted, nothing otherwise.
#pragma once

#include <string>
#include <string_view>

namespace stepscope::report {

inline constexpr int kPlainInk = -1;
inline constexpr int kWarningInk = 172;
inline constexpr int kBarInk = 33;
inline constexpr int kMoreInk = 172, kLessInk = 33;  ///< orange and blue: told apart with any vision

class Ink {
 public:
  explicit Ink(bool on) : on_(on) {}
  std::string bold(std::string_view text) const { return dressed("1", text); }
  std::string dim(std::string_view text) const { return dressed("2", text); }
  /// One of the 256 terminal colours, or kPlainInk.
  std::string paint(int colour, std::string_view text) const {
    return colour == kPlainInk ? std::string(text) : dressed("38;5;" + std::to_string(colour), text);
  }

 private:
  std::string dressed(std::string_view code, std::string_view text) const {
    if (!on_ || text.empty()) return std::string(text);
    return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
  }
  bool on_;
};

}  // namespace stepscope::report
