#include "read/strict/mend.h"

#include <algorithm>
#include <bitset>

#include "base/text.h"
#include "read/json_text.h"
#include "read/strict/strict.h"

namespace stepscope::read {
namespace {

using trace::Breach;
using trace::Breaches;

/// A number with zeros too many before it, or none behind its point, as it should be; "" if it is something
/// else.
std::string mended_number(std::string_view word) {
  std::string text(word);
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  const std::size_t whole = std::min(text.find_first_not_of('0', sign), text.size());
  const bool zero = whole == text.size() || !is_digit(text[whole]);
  if (whole > sign) text.erase(sign, whole - sign - (zero ? 1 : 0));
  if (const std::size_t point = text.find('.'); point != text.npos)
    if (point + 1 == text.size() || !is_digit(text[point + 1])) text.insert(point + 1, "0");
  return strict_scalar_end(text.c_str()) == text.c_str() + text.size() ? text : "";
}

/// Anything that is neither a string nor has brackets.
void mend_word(std::string_view word, std::int64_t at, std::string& out, Breaches& breaches) {
  const char* end = word.data() + word.size();
  if (strict_scalar_end(word.data()) == end) {
    out += word;
  } else if (const std::string number = mended_number(word); !number.empty()) {
    breaches.add(Breach::number, at);
    out += number;
  } else {
    breaches.add(Breach::value, at);
    append_json(out, word);
  }
}

/// Mends one array or object, as far as its brackets, keys and colons fit.
class Nest {
 public:
  Nest(std::string_view text, std::int64_t at) : text_(text), at_(at) {}

  /// False if they do not.
  bool mend() {
    for (p_ = skip_space(text_.data()); p_ < end(); p_ = skip_space(p_))
      if (!step()) return false;
    return depth_ == 0;
  }
  std::string out;
  Breaches breaches;

 private:
  enum class After : std::uint8_t { open, comma, key, value };

  const char* end() const { return text_.data() + text_.size(); }
  std::int64_t offset() const { return at_ + (p_ - text_.data()); }
  bool in_object() const { return depth_ > 0 && objects_[depth_ - 1]; }

  bool step() {
    switch (*p_) {
      case '[':
      case '{':
        return open();
      case ']':
      case '}':
        return close();
      case ',':
        return comma();
      case '"':
        return string();
      default:
        return word();
    }
  }

  /// Whether a value may begin here; writes the comma before it.
  bool begin(bool key) {
    if (after_ == After::value || (key ? after_ == After::key : in_object() && after_ != After::key))
      return false;
    if (after_ == After::comma) out += ',';
    return true;
  }

  bool open() {
    if (depth_ == kMaxNesting || (depth_ == 0 && !out.empty()) || !begin(false)) return false;
    objects_[depth_++] = *p_ == '{';
    out += *p_++;
    after_ = After::open;
    return true;
  }

  bool close() {
    if (depth_ == 0 || in_object() != (*p_ == '}') || after_ == After::key) return false;
    if (after_ == After::comma) breaches.add(Breach::comma, offset());
    out += *p_++;
    --depth_;
    after_ = After::value;
    return true;
  }

  bool comma() {
    if (after_ == After::key || depth_ == 0) return false;
    if (after_ == After::value)
      after_ = After::comma;
    else
      breaches.add(Breach::comma, offset());
    ++p_;
    return true;
  }

  bool string() {
    const bool key = in_object() && after_ != After::key;
    bool escaped = false;
    const char* close = string_end(p_ + 1, end(), escaped);
    if (close == nullptr || !begin(key)) return false;
    out += '"';
    mend_text(text_between(p_ + 1, close), offset() + 1, out, breaches);
    out += '"';
    p_ = close + 1;
    after_ = key ? After::key : After::value;
    return !key || colon();
  }

  bool colon() {
    p_ = skip_space(p_);
    if (p_ >= end() || *p_ != ':') return false;
    out += *p_++;
    return true;
  }

  /// Up to the next bracket, comma, colon or quote.
  bool word() {
    const std::string_view rest = text_between(p_, end());
    const std::string_view word = trimmed(rest.substr(0, rest.find_first_of(",:[]{}\"")));
    if (word.empty() || !begin(false)) return false;
    mend_word(word, offset(), out, breaches);
    p_ += word.size();
    after_ = After::value;
    return true;
  }

  const std::string_view text_;
  const std::int64_t at_;
  const char* p_ = nullptr;
  std::bitset<kMaxNesting> objects_;
  std::size_t depth_ = 0;
  After after_ = After::open;
};

}  // namespace

void mend_text(std::string_view text, std::int64_t at, std::string& out, Breaches& breaches) {
  const char *p = text.data(), *const end = p + text.size();
  while (p < end) {
    const char* odd = std::min(next_odd(p, end), end);
    out.append(p, odd);
    if (odd == end) return;
    const std::string_view rest = text_between(odd, end);
    const std::int64_t here = at + (odd - text.data());
    std::size_t size = 1;
    if (*odd == '\\') {
      const Escape escape = escape_at(rest);
      size = escape.size;
      if (!escape.known) breaches.add(Breach::escape, here);
      if (!escape.paired) breaches.add(Breach::surrogate, here);
      out += !escape.known ? "\\\\" : !escape.paired ? "\\ufffd" : rest.substr(0, size);
    } else if (static_cast<unsigned char>(*odd) < ' ') {
      breaches.add(Breach::control, here);
      append_json_escape(out, static_cast<unsigned char>(*odd));
    } else {
      std::string_view behind = rest;
      if (code_point_size(rest) == 0) breaches.add(Breach::utf8, here);
      append_utf8(out, take_code_point(behind));
      size = rest.size() - behind.size();
    }
    p = odd + size;
  }
}

void mend_value(std::string_view value, std::int64_t at, std::string& out, Breaches& breaches) {
  if (value.size() > 1 && value.front() == '"') {
    out += '"';
    mend_text(value.substr(1, value.size() - 2), at + 1, out, breaches);
    out += '"';
  } else if (value.find_first_of("[{\"") == value.npos) {
    mend_word(value, at, out, breaches);
  } else if (Nest nest(value, at); nest.mend()) {
    out += nest.out;
    breaches.add(nest.breaches);
  } else {
    breaches.add(Breach::structure, at);
    append_json(out, value);
  }
}

}  // namespace stepscope::read
