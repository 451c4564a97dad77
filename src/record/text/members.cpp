#include "record/text/members.h"

#include <cctype>

#include "base/text.h"

namespace stepscope::record {
namespace {

/// Takes values off the front of a text.
class Members {
 public:
  explicit Members(std::string_view text) : rest_(text) {}

  bool empty() const { return rest_.empty(); }
  bool member() { return string() && sign(':') && (string() || word() || number()); }
  bool sign(char wanted) {
    blanks();
    const bool is_there = rest_.starts_with(wanted);
    if (is_there) rest_.remove_prefix(1);
    blanks();
    return is_there;
  }

 private:
  void blanks() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }

  bool string() {
    if (!rest_.starts_with('"')) return false;
    rest_.remove_prefix(1);
    while (!rest_.empty() && rest_.front() != '"')
      if (!letter()) return false;
    if (rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool letter() {
    if (rest_.front() != '\\') {
      if (static_cast<unsigned char>(rest_.front()) < 0x20) return false;
      // A replacement that is written as such is left out, too.
      return take_code_point(rest_) != kReplacement;
    }
    if (rest_.size() < 2) return false;
    const char kind = rest_[1];
    rest_.remove_prefix(2);
    if (kind != 'u') return std::string_view(R"("\/bfnrt)").find(kind) != std::string_view::npos;
    for (int i = 0; i < 4; ++i, rest_.remove_prefix(1))
      if (rest_.empty() || std::isxdigit(static_cast<unsigned char>(rest_.front())) == 0) return false;
    return true;
  }

  bool word() {
    for (const std::string_view one : {"true", "false", "null"}) {
      if (!rest_.starts_with(one)) continue;
      rest_.remove_prefix(one.size());
      return true;
    }
    return false;
  }

  bool number() {
    if (rest_.starts_with('-')) rest_.remove_prefix(1);
    const bool begins_with_zero = rest_.starts_with('0');
    const std::size_t whole = digits();
    if (whole == 0 || (begins_with_zero && whole > 1)) return false;
    if (rest_.starts_with('.')) {
      rest_.remove_prefix(1);
      if (digits() == 0) return false;
    }
    if (!rest_.starts_with('e') && !rest_.starts_with('E')) return true;
    rest_.remove_prefix(1);
    if (rest_.starts_with('+') || rest_.starts_with('-')) rest_.remove_prefix(1);
    return digits() > 0;
  }

  std::size_t digits() {
    std::size_t count = 0;
    for (; !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; ++count) rest_.remove_prefix(1);
    return count;
  }

  std::string_view rest_;
};

}  // namespace

bool are_members(std::string_view text) {
  Members members(text);
  do {
    if (!members.member()) return false;
    if (members.empty()) return true;
  } while (members.sign(','));
  return false;
}

}  // namespace stepscope::record
