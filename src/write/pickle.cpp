#include "write/pickle.h"

#include <simdjson.h>

#include <bit>
#include <limits>

#include "report/utf8.h"

namespace stepscope::write {
namespace {

constexpr std::size_t kBuffered = std::size_t{1} << 16;
constexpr std::uint32_t kBatch = 1000;  // items between a mark and its end, as Python has it
constexpr int kDeepest = 32;

void put_json(Pickle& out, const simdjson::dom::element& element, int depth) {
  using Type = simdjson::dom::element_type;
  switch (element.type()) {
    case Type::OBJECT:
      out.begin_dict();
      if (depth < kDeepest)
        for (const auto& [name, value] : simdjson::dom::object(element)) {
          out.key(name);
          put_json(out, value, depth + 1);
        }
      return out.end_dict();
    case Type::ARRAY:
      out.begin_list();
      if (depth < kDeepest)
        for (const simdjson::dom::element value : simdjson::dom::array(element)) {
          out.item();
          put_json(out, value, depth + 1);
        }
      return out.end_list();
    case Type::STRING:
      return out.text(std::string_view(element));
    case Type::INT64:
      return out.integer(std::int64_t(element));
    case Type::UINT64:
      return out.address(std::uint64_t(element));
    case Type::DOUBLE:
      return out.real(double(element));
    case Type::BOOL:
      return out.boolean(bool(element));
    case Type::NULL_VALUE:
      return out.none();
  }
}

}  // namespace

Pickle::Pickle(std::function<bool(std::string_view)> put) : put_(std::move(put)) { add("\x80\x04"); }

void Pickle::begin_dict() {
  add("}");
  open_.push_back(0);
}

void Pickle::key(std::string_view name) {
  if (open_.back()++ == 0) add("(");
  text(name);
}

void Pickle::end_dict() {
  if (open_.back() > 0) add("u");
  open_.pop_back();
}

void Pickle::begin_list() {
  add("]");
  open_.push_back(0);
}

void Pickle::item() {
  if (open_.back() == kBatch) {
    add("e");
    open_.back() = 0;
  }
  if (open_.back()++ == 0) add("(");
}

void Pickle::end_list() {
  if (open_.back() > 0) add("e");
  open_.pop_back();
}

void Pickle::text(std::string_view value) {
  const std::string valid = report::valid_utf8(value);
  if (valid.size() < 256) {
    add("\x8c");
    little(valid.size(), 1);
  } else {
    add("X");
    little(valid.size(), 4);
  }
  add(valid);
}

void Pickle::integer(std::int64_t value) {
  if (0 <= value && value < 256) {
    add("K");
    little(value, 1);
  } else if (0 <= value && value < 65536) {
    add("M");
    little(value, 2);
  } else if (std::numeric_limits<std::int32_t>::min() <= value &&
             value <= std::numeric_limits<std::int32_t>::max()) {
    add("J");
    little(value, 4);
  } else {
    add("\x8a\x08");
    little(value, 8);
  }
}

void Pickle::address(std::uint64_t value) {
  if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return integer(static_cast<std::int64_t>(value));
  add("\x8a\x09");
  little(value, 8);
  add(std::string_view("\0", 1));
}

void Pickle::real(double value) {
  add("G");
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int shift = 56; shift >= 0; shift -= 8) buffer_ += static_cast<char>(bits >> shift & 255);
}

void Pickle::boolean(bool value) { add(value ? "\x88" : "\x89"); }
void Pickle::none() { add("N"); }

void Pickle::pair(std::int64_t first, std::int64_t second) {
  integer(first);
  integer(second);
  add("\x86");
}

void Pickle::json(std::string_view value) {
  simdjson::dom::parser parser;
  simdjson::dom::element element;
  if (parser.parse(value.data(), value.size()).get(element) != simdjson::SUCCESS) return text(value);
  put_json(*this, element, 0);
}

std::uint32_t Pickle::remember() {
  add("\x94");
  return remembered_++;
}

void Pickle::again(std::uint32_t number) {
  add(number < 256 ? "h" : "j");
  little(number, number < 256 ? 1 : 4);
}

void Pickle::stop() {
  add(".");
  flush();
}

void Pickle::add(std::string_view bytes) {
  buffer_ += bytes;
  if (buffer_.size() >= kBuffered) flush();
}

template <class T>
void Pickle::little(T value, int bytes) {
  auto bits = static_cast<std::uint64_t>(value);
  for (int i = 0; i < bytes; ++i, bits >>= 8) buffer_ += static_cast<char>(bits & 255);
}

void Pickle::flush() {
  put_(buffer_);
  buffer_.clear();
}

}  // namespace stepscope::write
