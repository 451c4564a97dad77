#include "compare/kernel_names.h"

#include <algorithm>
#include <cctype>

namespace stepscope::compare {
namespace {

constexpr std::size_t kMaxRead = 4096;
constexpr std::string_view kGenerations[] = {"maxwell", "pascal", "volta",     "turing", "ampere",
                                             "ada",     "hopper", "blackwell", "void"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }
bool all_of(std::string_view text, bool (*is)(char)) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is);
}

/// The text outside <…>, (…), […] and {…}. The brackets of an operator's own name do not matter.
std::string outside_brackets(std::string_view name) {
  std::string out;
  int open = 0;
  for (const char c : name.substr(0, kMaxRead)) {
    if (c == '<' || c == '(' || c == '[' || c == '{') ++open;
    if (open == 0) out += c;
    if ((c == '>' || c == ')' || c == ']' || c == '}') && open > 0) --open;
  }
  return out;
}

/// "128x64", "64x64x32", "1688", a hash, a generation, "sm80", "gfx942".
bool tells_the_build(std::string_view word) {
  if (all_of(word, [](char c) { return is_digit(c) || c == 'x'; })) return true;
  if (word.size() >= 6 && all_of(word, is_hex) && std::any_of(word.begin(), word.end(), is_digit))
    return true;
  if (std::find(std::begin(kGenerations), std::end(kGenerations), word) != std::end(kGenerations))
    return true;
  if (word.starts_with("gfx")) return all_of(word.substr(3), is_hex);
  return word.starts_with("sm") && all_of(word.substr(2), is_digit);
}

/// A word without the number at its end: "MT128" becomes "MT", "sliced1x4" "sliced"; "s1688gemm" stays.
std::string_view without_size(std::string_view word) {
  const std::size_t last = word.find_last_not_of("0123456789x");
  return last == std::string_view::npos ? word : word.substr(0, last + 1);
}

}  // namespace

std::string plain_kernel_name(std::string_view name) {
  const std::string text = outside_brackets(name);
  std::string out;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0) continue;
    const std::string_view word = std::string_view(text).substr(begin, at - begin);
    begin = at + 1;
    if (word.empty() || tells_the_build(word)) continue;
    out += (out.empty() ? "" : "_") + std::string(without_size(word));
  }
  return out.empty() ? std::string(name) : out;
}

}  // namespace stepscope::compare
