// What only DFTracer's events have: hashes for names, numbers in quotes, layers.
#include <algorithm>
#include <string>

#include "read/kineto/event.h"
#include "read/pfw/hashes.h"

namespace stepscope::read {

using trace::ArgType;
using trace::Kind;
using trace::StringId;

namespace {

bool is_one_of(std::string_view key, std::span<const std::string_view> keys) {
  return std::ranges::find(keys, key) != keys.end();
}

/// The digits of a number, or the text of a string without its quotes.
std::string_view bare(std::string_view value) {
  return value.size() > 1 && value.front() == '"' ? value.substr(1, value.size() - 2) : value;
}

/// Whether the value is a whole number as a program prints it.
bool is_whole(std::string_view value) {
  const std::string_view digits = value.substr(value.starts_with('-'));
  return !digits.empty() && digits.size() <= 18 &&
         digits.find_first_not_of("0123456789") == std::string_view::npos &&
         (digits.front() != '0' || value == "0");
}

}  // namespace

EventParser::KeyClass EventParser::class_of(StringId key) {
  // Of the calls that the tool records itself; args of the program's own events keep their types.
  static constexpr std::string_view kNumbers[] = {"ret", "count", "size", "offset", "length",
                                                  "fd",  "flags", "mode", "whence"};
  if (key >= key_classes_.size()) key_classes_.resize(key + 1 + key / 2);
  KeyClass& known = key_classes_[key];
  if (known == KeyClass::unknown) {
    const std::string_view text = words_.strings[key];
    known = is_hash_key(text)           ? KeyClass::hash
            : is_one_of(text, kNumbers) ? KeyClass::number
                                        : KeyClass::plain;
  }
  return known;
}

/// Many events have the same few hashes. Those of old files have 16 bits.
StringId EventParser::text_of_hash(std::string_view text, std::int64_t hash) {
  constexpr std::int64_t kFew = 1 << 16;
  if (hash < 0 || hash >= kFew) return intern(text);
  if (hash_texts_.empty()) hash_texts_.assign(kFew, trace::kNoString);
  StringId& id = hash_texts_[static_cast<std::size_t>(hash)];
  if (id == trace::kNoString) id = words_.strings.intern(text);
  note_use(id);
  return id;
}

/// Hashes become texts, whatever the file's generation wrote; numbers in quotes become numbers. `text` is the
/// value in the file.
void EventParser::settle_arg(StringId key, std::string_view text, ArgType& type, std::int64_t& value) {
  const KeyClass of = class_of(key);
  if (of == KeyClass::hash && type != ArgType::text && (is_whole(text) || type == ArgType::raw)) {
    if (text.front() == '[' || text.front() == '{') return;
    value = type == ArgType::integer ? text_of_hash(text, value) : intern(text);
    type = ArgType::text;
  } else if (of == KeyClass::number && type == ArgType::text && is_whole(bare(text))) {
    const char* digits = text.data() + 1;
    double real = 0;
    if (read_number(digits, value, real) == Number::integer) type = ArgType::integer;
  }
}

bool EventParser::parse_units(const char*& p, std::int64_t& time) const {
  if (rules_.unit > 1)  // microseconds become a thousand of what is read
    return read_microseconds(p, time) && !__builtin_mul_overflow(time, rules_.unit / 1000, &time);
  double real = 0;
  const Number number = read_number(p, time, real);
  if (number != Number::real) return number == Number::integer;
  if (!(real > -9e18 && real < 9e18)) return false;
  time = static_cast<std::int64_t>(real);
  return true;
}

Kind EventParser::kind_of_line(const Fields& f) {
  constexpr std::int64_t kCalls = 3;  // of the C library
  const Kind kind = f.has_category ? category_kind(f.category) : Kind::annotation;
  if (kind == Kind::io_library) return kind;
  return f.layer == kCalls || kind == Kind::io ? Kind::io : Kind::annotation;
}

void EventParser::add_metadata(const Fields& f) {
  StringId name = trace::kNoString, value = trace::kNoString;
  for (std::size_t i = 0; i < f.field_count; ++i) {
    const trace::ArgField field = words_.schemas.fields(f.schema)[i];
    const std::string_view key = words_.strings[field.key];
    StringId* of = key == "name" ? &name : key == "value" ? &value : nullptr;
    if (of == nullptr || field.type == ArgType::real) continue;
    *of = field.type == ArgType::integer ? intern(std::to_string(values_[i]))
                                         : static_cast<StringId>(values_[i]);
  }
  if (name == trace::kNoString) return;
  const std::string_view what = words_.strings[f.name];
  using Of = Definition::Of;
  const auto define = [&](Of of, StringId hash, StringId meaning) {
    if (hash != trace::kNoString) batch_->definitions.push_back({of, hash, meaning, batch_->listed});
  };
  if (what == "FH")
    define(Of::file, value, name);
  else if (what == "HH")
    define(Of::host, value, name);
  else if (what == "SH")
    define(Of::text, value, name);
  else if (what == "PR" && words_.strings[name] == "rank" && value != trace::kNoString)
    define(Of::rank, name, value);
  else
    batch_->names.push_back({f.pid, f.tid, f.name, name});
}

}  // namespace stepscope::read
