#include <cctype>

#include "base/same_bytes.h"
#include "read/kineto/event.h"

namespace stepscope::read {

using trace::ArgType;
using trace::SchemaId;
using trace::StringId;

namespace {

// Max per file; args of further schemas are kept as one raw text per event.
constexpr std::uint32_t kMaxSchemas = 1u << 18;
constexpr std::size_t kMaxSchemaFields = std::size_t{1} << 22;

bool is_literal_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '/' || c == '-' || c == '+' || c == '.';
}

}  // namespace

bool may_be_full(std::span<const Vocabulary> words) {
  std::size_t schemas = 0, fields = 0;
  for (const Vocabulary& v : words) {
    schemas += v.schemas.size();
    fields += v.schemas.total_fields();
  }
  return schemas >= kMaxSchemas || fields >= kMaxSchemaFields;
}

bool EventParser::has_room(const Fields& f) const { return schemas_room_ && f.field_count < kMaxFields; }

bool EventParser::parse_args(const char*& p, Fields& f) {
  const char* whole = p;
  bool first = true;
  for (++p;; first = false) {
    const Member next = next_member(p, end_, first, damage_);
    if (next != Member::key) return next == Member::close;
    if (!has_room(f)) return keep_as_text(p = whole, f);
    if (!parse_arg(p, f)) return false;
  }
}

/// Keeps the args object at `p` as one text. Args that were parsed before room ran out stay.
bool EventParser::keep_as_text(const char*& p, Fields& f) {
  if (f.has_more) return skip_field(p, f);
  const char* from = p;
  if (!skip_value(p)) return false;
  f.has_more = true;
  f.schema = extend(f.schema, {intern("(more args)"), ArgType::raw});
  values_[f.field_count++] = intern(text_between(from, p));
  return true;
}

bool EventParser::parse_arg(const char*& p, Fields& f) {
  if (f.schema >= predictions_.size()) predictions_.resize(words_.schemas.size());
  const Prediction& guess = predictions_[f.schema];
  const std::string_view expected = guess.key_text;
  const bool hit = !expected.empty() && static_cast<std::size_t>(end_ - p) > expected.size() &&
                   same_bytes(p, expected.data(), expected.size());
  StringId key = guess.field.key;
  std::string_view text;
  if (hit)
    p = skip_space(p + expected.size());
  else if (!pass_key(p, end_, text, damage_))
    return false;
  else
    key = text.find('\\') == text.npos ? intern(text) : intern_escaped(text);
  ArgType type{};
  std::int64_t value = 0;
  const char* from = p;
  if (!parse_arg_value(p, type, value)) return false;
  if (rules_.dftracer) settle_arg(key, text_between(from, p), type, value);
  values_[f.field_count++] = value;
  const bool wide = type == ArgType::real ||
                    (type == ArgType::integer && (rules_.wide || value != static_cast<std::int32_t>(value)));
  const bool fits = hit && type == guess.field.type && (guess.field.wide || !wide);
  f.schema = fits ? guess.next : extend(f.schema, {key, type, wide});
  return true;
}

bool EventParser::parse_arg_value(const char*& p, ArgType& type, std::int64_t& value) {
  if (p >= end_) return false;
  if (*p == '"') {
    StringId id = 0;
    type = ArgType::text;
    if (!parse_text(p, id)) return false;
    value = id;
    return true;
  }
  const char* from = p;
  if (*p == '[' || *p == '{') {
    if (!skip_value(p)) return false;
  } else {
    double real = 0;
    const Number number = read_number(p, value, real);
    if (p >= end_) return false;
    if (number == Number::integer && ends_value(*p)) {
      type = ArgType::integer;
      return true;
    }
    if (number == Number::real && ends_value(*p)) {
      type = ArgType::real;
      value = trace::as_bits(real);
      return true;
    }
    p = from;
    while (p < end_ && is_literal_char(*p)) ++p;
    if (p >= end_) return false;
    if (p == from || !ends_value(*p)) return say_damage(damage_, "a value was expected here");
  }
  type = ArgType::raw;
  value = intern(text_between(from, p));
  return true;
}

SchemaId EventParser::extend(SchemaId schema, trace::ArgField field) {
  const trace::ArgField wider{field.key, field.type, true};  // once wide, a field stays so: few schemas
  if (field.type == ArgType::integer && words_.schemas.find(schema, wider) != trace::kNoArgs) field = wider;
  const SchemaId next = words_.schemas.extend(schema, field);
  if (schema >= predictions_.size()) predictions_.resize(words_.schemas.size());
  schemas_room_ = words_.schemas.size() < kMaxSchemas && words_.schemas.total_fields() < kMaxSchemaFields;
  // The key is also interned with its quotes and colon: a prediction is then one comparison with the file's
  // text.
  if (predictions_[schema].next != next) {
    scratch_.assign(1, '"').append(words_.strings[field.key]).append("\":");
    const bool plain =
        scratch_.find('\\') == std::string::npos && scratch_.find('"', 1) == scratch_.size() - 2;
    predictions_[schema] = {plain ? words_.strings[words_.strings.intern(scratch_)] : std::string_view{},
                            field, next};
  }
  return next;
}

}  // namespace stepscope::read
