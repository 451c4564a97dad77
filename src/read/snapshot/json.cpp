#include "read/snapshot/json.h"

#include <fmt/format.h>

#include <charconv>

#include "read/json_text.h"
#include "read/snapshot/bytes.h"

namespace stepscope::read {
namespace {

constexpr std::size_t kAhead = 64;  // bytes of the longest number or word that is read whole
static_assert(Bytes::kPadded >= kPadding);

class Json {
 public:
  Json(ByteSource& source, Machine& machine, const StoredBytes& progress)
      : source_(source), bytes_(source), machine_(machine), progress_(progress) {}

  Result<DocumentEnd> read() {
    bool cut = false;
    while (!done_ && !cut) {
      if (!bytes_.need(kAhead)) {
        cut = bytes_.at() == bytes_.end();
        if (cut) break;
      }
      if (bytes_.total() != told_) {
        told_ = bytes_.total();
        if (progress_) progress_(source_.position());
        if (!machine_.has_room(source_.position())) return error(machine_.reason());
      }
      const char* p = skip_space(bytes_.at());
      bytes_.go(p);
      if (p == bytes_.end() || !bytes_.need(kAhead)) {
        if (bytes_.at() == bytes_.end()) continue;
      }
      if (!token(cut)) return error(reason_ != nullptr ? reason_ : machine_.reason());
    }
    if (bytes_.expands()) return error(Bytes::kExpands);
    if (cut) machine_.close();
    return DocumentEnd{bytes_.total(), !cut, {}};
  }

 private:
  bool token(bool& cut) {
    const char c = *bytes_.at();
    switch (c) {
      case '{':
      case '[':
        machine_.push(machine_.heap.make(c == '{' ? Object::Kind::dict : Object::Kind::list));
        open_ += c;
        bytes_.pass(1);
        return machine_.mark();
      case '}':
      case ']':
        return close(c);
      case ',':
      case ':':
        bytes_.pass(1);
        return true;
      case '"':
        return text(cut);
      default:
        return word() || number();
    }
  }

  bool close(char c) {
    const char opened = c == '}' ? '{' : '[';
    if (open_.empty() || open_.back() != opened)
      return fail("has a bracket that closes another kind of bracket");
    open_.pop_back();
    bytes_.pass(1);
    done_ = open_.empty();
    return c == '}' ? machine_.set_marked() : machine_.append_marked();
  }

  bool text(bool& cut) {
    bool escaped = false;
    const char* close = string_end(bytes_.at() + 1, bytes_.end(), escaped);
    if (close == nullptr) {
      const bool more = bytes_.need(Bytes::kWindow);
      close = string_end(bytes_.at() + 1, bytes_.end(), escaped);
      if (close == nullptr && more) return fail("has a text of more than 1 MiB");
      if (close == nullptr) {
        cut = true;
        return true;
      }
    }
    std::string_view inside = text_between(bytes_.at() + 1, close);
    if (escaped) {
      unescape(inside, unescaped_);
      inside = unescaped_;
    }
    machine_.push(machine_.heap.text(inside));
    bytes_.go(close + 1);
    return true;
  }

  bool word() {
    constexpr std::pair<std::string_view, Value> kWords[] = {
        {"true", {Tag::boolean, 1}}, {"false", {Tag::boolean, 0}}, {"null", {Tag::none, 0}},
        {"NaN", {Tag::none, 0}},     {"Infinity", {Tag::none, 0}}, {"-Infinity", {Tag::none, 0}}};
    for (const auto& [name, value] : kWords) {
      if (!text_between(bytes_.at(), bytes_.end()).starts_with(name)) continue;
      machine_.push(value);
      bytes_.pass(name.size());
      return true;
    }
    return false;
  }

  bool number() {
    const char* p = bytes_.at();
    std::int64_t integer = 0;
    double real = 0;
    switch (read_number(p, integer, real)) {
      case Number::integer:
        machine_.push(machine_.heap.integer(integer));
        break;
      case Number::real:
        machine_.push(machine_.heap.real(real));
        break;
      case Number::large: {
        const std::string_view digits = text_between(bytes_.at(), p);
        std::uint64_t large = 0;
        const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), large);
        const bool whole = failed == std::errc{} && end == digits.data() + digits.size();
        machine_.push(whole ? machine_.heap.large(large) : machine_.heap.text(digits));
        break;
      }
      case Number::none:
        return fail("has something that is no JSON");
    }
    bytes_.go(p);
    return true;
  }

  bool fail(const char* reason) {
    reason_ = reason;
    return false;
  }
  Error error(std::string_view reason) {
    return {
        fmt::format("{}: the file is damaged, or no snapshot; write it again", reason), {}, bytes_.offset()};
  }

  ByteSource& source_;
  Bytes bytes_;
  Machine& machine_;
  const StoredBytes& progress_;
  std::string open_, unescaped_;
  const char* reason_ = nullptr;
  std::int64_t told_ = -1;
  bool done_ = false;
};

}  // namespace

Result<DocumentEnd> read_json(ByteSource& source, Machine& machine, const StoredBytes& progress) {
  return Json(source, machine, progress).read();
}

}  // namespace stepscope::read
