#include "read/kineto/event.h"

#include <algorithm>

#include "base/key_hash.h"
#include "base/same_bytes.h"

namespace stepscope::read {
namespace {

using trace::StringId;

constexpr std::uint64_t word_of(std::string_view text) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    word |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * i);
  return word;
}
constexpr std::uint64_t mask_of(std::size_t bytes) {
  return bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * bytes)) - 1;
}

/// Whether `word`, 8 bytes of text, begins with `key` and its closing quote.
template <std::size_t N>
bool key_is(std::uint64_t word, const char (&key)[N]) {
  return (word & mask_of(N - 1)) == word_of(key);
}

/// The letter of a phase that DFTracer numbers; letters stay.
char phase_of(char digit) {
  constexpr char kPhases[] = {'?', 'X', 'C', kAggregated, 'M'};
  return digit < '0' || digit > '9' ? digit : digit < '5' ? kPhases[digit - '0'] : '?';
}

std::uint64_t load8(const char* p) {
  std::uint64_t word;
  std::memcpy(&word, p, 8);
  return word;
}

}  // namespace

EventParser::Outcome EventParser::parse(const char*& p, const char* limit, const Block& block, Batch& batch) {
  batch_ = &batch;
  end_ = limit;
  block_ = block.index + 1;
  damage_ = "";
  reached_ = p;
  Fields f;
  const char* at = p;
  const bool whole = parse_fields(at, f);
  if (whole && at <= end_) {
    odd_device_ = false;
    add(f);
    if (odd_device_)
      batch.lose(block.offset + (p - block.begin()), 0,
                 "a device id beyond 2^31; the event is kept without a device");
    if (f.first_skipped != nullptr)
      batch.lose(block.offset + (f.first_skipped - block.begin()), f.skipped_bytes,
                 "this event has more fields than can be kept");
    p = at;
    return Outcome::read;
  }
  reached_ = std::max(reached_, at);
  return whole || *damage_ == '\0' ? Outcome::cut : Outcome::damaged;
}

bool EventParser::Gap::learn(const char* from, const char* to, Field next) {
  const std::size_t moved = static_cast<std::size_t>(to - from);
  const std::size_t size = moved + (next == Field::args);  // `"args":{`: only objects are read as args
  if (size > 16) return false;
  size_ = static_cast<std::uint8_t>(moved);
  next_ = next;
  low_mask_ = mask_of(std::min<std::size_t>(size, 8));
  high_mask_ = size > 8 ? mask_of(size - 8) : 0;
  low_ = load8(from) & low_mask_;
  high_ = load8(from + 8) & high_mask_;
  return true;
}

bool EventParser::Gap::stands_at(const char* p) const {
  return size_ != 0 && (load8(p) & low_mask_) == low_ && (load8(p + 8) & high_mask_) == high_;
}

bool EventParser::parse_fields(const char*& p, Fields& f) {
  Field field = Field::none;
  for (++p;;) {
    const Gap* gaps = gaps_[static_cast<std::size_t>(field)];
    const Gap* known = gaps[0].stands_at(p) ? gaps : gaps[1].stands_at(p) ? gaps + 1 : nullptr;
    if (known != nullptr) {
      p += known->size();
      if (*p <= ' ') p = skip_space(p);
      field = known->next();
    } else {
      if (!find_field(p, field, field)) return false;
      if (field == Field::none) return true;
    }
    if (p >= end_ || !parse_field(p, field, f)) return false;
  }
}

/// Moves `p` from after the value of `before` to the next field's value; `field` is none at the event's end.
bool EventParser::find_field(const char*& p, Field before, Field& field) {
  const char* from = p;
  const Member next = next_member(p, end_, before == Field::none, damage_);
  if (next != Member::key) {
    field = Field::none;
    return next == Member::close;
  }
  if (!read_key(p, field)) return false;
  Gap* gaps = gaps_[static_cast<std::size_t>(before)];
  Gap gap;
  if (field < Field::unused && gap.learn(from, p, field)) {
    gaps[1] = gaps[0];
    gaps[0] = gap;
  }
  return true;
}

bool EventParser::read_key(const char*& p, Field& field) {
  key_ = p;
  const std::uint64_t word = load8(p + 1);
  std::string_view key;
  if (!pass_key(p, end_, key, damage_)) return false;
  field = key_is(word, "ph\"")                          ? Field::ph
          : key_is(word, "cat\"")                       ? Field::cat
          : key_is(word, "name\"")                      ? Field::name
          : key_is(word, "pid\"")                       ? Field::pid
          : key_is(word, "tid\"")                       ? Field::tid
          : key_is(word, "ts\"")                        ? Field::ts
          : key_is(word, "dur\"")                       ? Field::dur
          : key_is(word, "args\"") && *p == '{'         ? Field::args
          : key_is(word, "id\"")                        ? Field::id
          : key_is(word, "bp\"") || key_is(word, "s\"") ? Field::unused
                                                        : Field::other;
  return true;
}

bool EventParser::parse_field(const char*& p, Field field, Fields& f) {
  switch (field) {
    case Field::ph:
      return parse_phase(p, f.phase);
    case Field::cat:
      f.has_category = *p == '"' ? parse_category(p, f.category) : skip_value(p);
      return f.has_category;
    case Field::name:
      return *p == '"' ? parse_text(p, f.name) : skip_value(p);
    case Field::pid:
      return parse_ident(p, f.pid);
    case Field::tid:
      return parse_ident(p, f.tid);
    case Field::ts:
      return parse_time(p, f.time, f.time_usable);
    case Field::dur:
      f.has_duration = true;
      return parse_time(p, f.duration, f.duration_usable);
    case Field::args:
      return parse_args(p, f);
    case Field::id:
      return parse_id(p, f.id);
    case Field::none:
    case Field::unused:
      return skip_value(p);
    case Field::other:
      break;
  }
  if (!has_room(f)) return skip_field(p, f);
  p = key_;
  const bool layer = rules_.dftracer && key_is(load8(key_ + 1), "type\"");
  if (!parse_arg(p, f)) return false;
  if (layer) f.layer = values_[f.field_count - 1];
  return true;
}

bool EventParser::parse_id(const char*& p, std::int64_t& id) {
  double real = 0;
  const char* from = p;
  if (read_number(p, id, real) == Number::integer) return true;
  p = from;
  StringId text = 0;
  if (!(*p == '"' ? parse_text(p, text) : skip_value(p))) return false;
  if (*from != '"') text = intern(text_between(from, p));
  id = static_cast<std::int64_t>(hash_of(words_.strings[text], kFixedSeed) >> 1);
  return true;
}

bool EventParser::parse_text(const char*& p, StringId& id) {
  bool escaped = false;
  const char* close = string_end(p + 1, end_, escaped);
  if (close == nullptr) return false;
  const std::string_view text = text_between(p + 1, close);
  p = close + 1;
  id = escaped ? intern_escaped(text) : intern(text);
  return true;
}

bool EventParser::parse_ident(const char*& p, Ident& ident) {
  if (*p == '"') {
    StringId id = 0;
    if (!parse_text(p, id)) return false;
    const std::string_view text = words_.strings[id];
    // A number in quotes equals the number: old files quote some tids and not others.
    double real = 0;
    char copy[24 + kPadding] = {};
    if (!text.empty() && text.size() < 24) {
      std::memcpy(copy, text.data(), text.size());
      const char* digits = copy;
      if (read_number(digits, ident.value, real) == Number::integer && *digits == '\0') {
        ident.text = false;
        return true;
      }
    }
    ident = {id, true};
    return true;
  }
  const char* from = p;
  std::int64_t integer = 0;
  double real = 0;
  const Number number = read_number(p, integer, real);
  if (number == Number::integer) {
    ident = {integer, false};
    return true;
  }
  p = from;
  if (!skip_value(p)) return false;
  ident = {intern(text_between(from, p)), true};
  return true;
}

bool EventParser::parse_time(const char*& p, std::int64_t& time, bool& usable) {
  const bool quoted = *p == '"';
  const char* from = p;
  if (quoted) ++p;
  usable = (rules_.unit == 1000 ? read_microseconds(p, time) : parse_units(p, time)) && time > -kMaxTime &&
           time < kMaxTime;
  if (quoted && usable && *p == '"') ++p;
  if (p >= end_) return false;
  if (usable && ends_value(*p)) return true;
  usable = false;
  p = from;
  return skip_value(p);
}

bool EventParser::skip_field(const char*& p, Fields& f) {
  const char* from = p;
  if (!skip_value(p)) return false;
  if (f.first_skipped == nullptr) f.first_skipped = from;
  f.skipped_bytes += p - from;
  return true;
}

bool EventParser::parse_phase(const char*& p, char& phase) {
  if (rules_.dftracer && *p >= '0' && *p <= '9') {
    phase = phase_of(*p);
    return skip_value(p);
  }
  if (*p == '"' && end_ - p > 2 && p[1] != '\\' && p[1] != '"' && p[2] == '"') {
    phase = rules_.dftracer ? phase_of(p[1]) : p[1];
    p += 3;
    return true;
  }
  phase = '?';
  return *p == '"' ? skip_value(p) : say_damage(damage_, "ph is not a string");
}

/// Most events have the category of the previous event: comparing is cheaper than interning.
bool EventParser::parse_category(const char*& p, StringId& id) {
  const std::string_view last = last_category_.first;
  const auto size = static_cast<std::ptrdiff_t>(last.size());
  if (!last.empty() && end_ - p > size + 2 && p[size + 1] == '"' &&
      same_bytes(p + 1, last.data(), last.size())) {
    id = last_category_.second;
    note_use(id);
    p += size + 2;
    return true;
  }
  if (!parse_text(p, id)) return false;
  const std::string_view text = words_.strings[id];
  const bool plain = text.find_first_of("\\\"") == std::string_view::npos;
  last_category_ = {plain ? text : std::string_view{}, id};
  return true;
}

/// Lists the string in its batch when first used there; seal() numbers strings in that order.
void EventParser::note_use(StringId id) {
  if (id >= words_.used_in.size()) words_.used_in.resize(id + 1 + id / 2);
  if (words_.used_in[id] == block_) return;
  words_.used_in[id] = block_;
  batch_->first_uses.push_back(id);
}

StringId EventParser::intern(std::string_view text) {
  const StringId id = words_.strings.intern(text);
  note_use(id);
  return id;
}

StringId EventParser::intern_escaped(std::string_view text) {
  unescape(text, scratch_);
  return intern(scratch_);
}

}  // namespace stepscope::read
