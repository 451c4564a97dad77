#include "read/kineto/event.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/same_bytes.h"
#include "read/drawn.h"
#include "read/json_text.h"

namespace stepscope::read {
namespace {

using trace::ArgType;
using trace::Kind;
using trace::SchemaId;
using trace::StringId;

// Beyond these too the args of an event are kept as one raw text.
constexpr std::uint32_t kMaxSchemas = 1u << 18;
constexpr std::size_t kMaxSchemaFields = std::size_t{1} << 22;

struct CategoryKind {
  std::string_view category;
  Kind kind;
};
constexpr CategoryKind kCategories[] = {
    {"cpu_op", Kind::op},
    {"operator", Kind::op},
    {"hpu_op", Kind::kernel},
    {"user_annotation", Kind::annotation},
    {"gpu_user_annotation", Kind::device_annotation},
    {"python_function", Kind::python},
    {"python", Kind::python},
    {"runtime", Kind::runtime},
    {"cuda_runtime", Kind::runtime},
    {"cuda_driver", Kind::runtime},
    {"hip_runtime", Kind::runtime},
    {"xpu_runtime", Kind::runtime},
    {"xpu_driver", Kind::runtime},
    {"mtia_runtime", Kind::runtime},
    {"glow_runtime", Kind::runtime},
    {"privateuse1_runtime", Kind::runtime},
    {"privateuse1_driver", Kind::runtime},
    {"kernel", Kind::kernel},
    {"mtia_ccp_events", Kind::kernel},
    {"collective_comm", Kind::kernel},
    {"memcpy", Kind::memcpy},
    {"gpu_memcpy", Kind::memcpy},
    {"memset", Kind::memset},
    {"gpu_memset", Kind::memset},
    {"cuda_sync", Kind::device_sync},
    {"xpu_sync", Kind::device_sync},
    {"cuda_event", Kind::device_mark},
    {"cpu_instant_event", Kind::instant},
    {"overhead", Kind::overhead},
    {"trace", Kind::span},
    {"cuda_profiler_range", Kind::range_metrics},
    {"hardware_counters", Kind::counter},
    {"mtia_counters", Kind::counter},
    {"xpu_scope_profiler", Kind::counter},
};

constexpr std::uint64_t word_of(std::string_view text) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    word |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * i);
  return word;
}
constexpr std::uint64_t mask_of(std::size_t bytes) {
  return bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * bytes)) - 1;
}

/// The 8 bytes at p begin with `key` and its closing quote.
template <std::size_t N>
bool key_is(std::uint64_t word, const char (&key)[N]) {
  return (word & mask_of(N - 1)) == word_of(key);
}

std::uint64_t load8(const char* p) {
  std::uint64_t word;
  std::memcpy(&word, p, 8);
  return word;
}

bool ends_value(char c) {
  return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\r' || c == '\t';
}
bool is_literal_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '/' || c == '-' || c == '+' || c == '.';
}

}  // namespace

struct EventParser::Fields {
  char phase = 0;
  bool has_category = false, time_usable = false, duration_usable = false, has_duration = false;
  StringId name = 0, category = 0;
  Ident pid, tid;
  std::int64_t time = 0, duration = 0, id = 0;
  SchemaId schema = trace::kNoArgs;
  std::size_t field_count = 0;
  bool has_more = false;                // the args were too many and are kept as one text
  const char* first_skipped = nullptr;  // the first field that was not kept
  std::int64_t skipped_bytes = 0;
};

Kind kind_of_category(std::string_view category) {
  std::string lower(category.substr(0, 32));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  for (const CategoryKind& known : kCategories)
    if (lower == known.category && category.size() == lower.size()) return known.kind;
  return Kind::other;
}

Kind kind_by_name(Kind kind, std::string_view name) {
  if (kind != Kind::kernel || !name.starts_with("event_")) return kind;
  return name == "event_wait" ? Kind::device_sync : name == "event_record" ? Kind::device_mark : kind;
}

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
                 "fields of an event that has more than can be kept");
    p = at;
    return Outcome::read;
  }
  reached_ = std::max(reached_, at);
  return whole || *damage_ == '\0' ? Outcome::cut : Outcome::damaged;
}

void EventParser::end_batch(Batch& batch) {
  memory_.keep(parsed_, words_, batch);
  batch.first_value = std::exchange(first_value_, words_.values.size());
  parsed_.rows.clear();
  parsed_.flows.clear();
}

bool EventParser::Gap::learn(const char* from, const char* to, Field next) {
  const std::size_t moved = static_cast<std::size_t>(to - from);
  const std::size_t size = moved + (next == Field::args);  // args that are no object are another thing
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

/// Moves `p`, behind the value of `before`, to the next field's value; `field` is none behind the event.
bool EventParser::find_field(const char*& p, Field before, Field& field) {
  const char* from = p;
  p = skip_space(p);
  if (p >= end_) return false;
  if (*p == '}') {
    ++p;
    field = Field::none;
    return true;
  }
  if (before != Field::none) {
    if (*p != ',') return fail("a comma or a closing brace was expected here; a quote may not be escaped");
    p = skip_space(p + 1);
    if (p >= end_) return false;
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
  if (*p != '"') return fail("a key was expected here");
  key_ = p;
  const std::uint64_t word = load8(p + 1);
  bool escaped = false;
  const char* close = string_end(p + 1, end_, escaped);
  if (close == nullptr) return false;
  const char* colon = skip_space(close + 1);
  if (colon >= end_) return false;
  if (*colon != ':')
    return fail("a colon was expected behind this key; a quote may be missing or not escaped");
  p = skip_space(colon + 1);
  if (p >= end_) return false;
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
  return parse_arg(p, f);
}

bool EventParser::parse_id(const char*& p, std::int64_t& id) {
  double real = 0;
  const char* from = p;
  if (read_number(p, id, real) == Number::integer) return true;
  p = from;
  StringId text = 0;
  if (!(*p == '"' ? parse_text(p, text) : skip_value(p))) return false;
  if (*from != '"') text = intern({from, static_cast<std::size_t>(p - from)});
  id = static_cast<std::int64_t>(std::hash<std::string_view>{}(words_.strings[text]) >> 1);
  return true;
}

bool EventParser::parse_args(const char*& p, Fields& f) {
  const char* whole = p;
  p = skip_space(p + 1);
  if (*p == '}') {
    ++p;
    return true;
  }
  for (;;) {
    if (p >= end_) return false;
    if (!has_room(f)) {
      const char* close = whole;
      if (f.has_more) return skip_field(p = whole, f);
      if (!skip_value(close)) return false;
      f.has_more = true;
      f.schema = extend(f.schema, intern("(more args)"), ArgType::raw);
      values_[f.field_count++] = intern({whole, static_cast<std::size_t>(close - whole)});
      p = close;
      return true;
    }
    if (!parse_arg(p, f)) return false;
    p = skip_space(p);
    if (p >= end_) return false;
    if (*p == ',') {
      p = skip_space(p + 1);
      continue;
    }
    if (*p == '}') {
      ++p;
      return true;
    }
    return fail("a comma or a closing brace was expected in the args; a quote may not be escaped");
  }
}

bool EventParser::parse_arg(const char*& p, Fields& f) {
  if (f.schema >= predictions_.size()) predictions_.resize(words_.schemas.size());
  const Prediction& guess = predictions_[f.schema];
  const std::string_view expected = guess.key_text;
  const bool hit = !expected.empty() && static_cast<std::size_t>(end_ - p) > expected.size() &&
                   same_bytes(p, expected.data(), expected.size());
  StringId key = guess.key;
  if (hit)
    p = skip_space(p + expected.size());
  else if (!parse_key(p, key))
    return false;
  ArgType type{};
  std::int64_t value = 0;
  if (!parse_arg_value(p, type, value)) return false;
  values_[f.field_count++] = value;
  f.schema = hit && type == guess.type ? guess.next : extend(f.schema, key, type);
  return true;
}

/// Moves `p`, at a key of the args, to its value.
bool EventParser::parse_key(const char*& p, StringId& key) {
  if (*p != '"') return fail("a key was expected in the args");
  if (!parse_text(p, key)) return false;
  p = skip_space(p);
  if (p >= end_) return false;
  if (*p != ':') return fail("a colon was expected behind this key; a quote may be missing or not escaped");
  p = skip_space(p + 1);
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
    if (p == from || !ends_value(*p)) return fail("a value was expected here");
  }
  type = ArgType::raw;
  value = intern({from, static_cast<std::size_t>(p - from)});
  return true;
}

bool EventParser::parse_text(const char*& p, StringId& id) {
  bool escaped = false;
  const char* close = string_end(p + 1, end_, escaped);
  if (close == nullptr) return false;
  const std::string_view text(p + 1, static_cast<std::size_t>(close - p - 1));
  p = close + 1;
  if (!escaped) {
    id = intern(text);
  } else {
    unescape(text, scratch_);
    id = intern(scratch_);
  }
  return true;
}

bool EventParser::parse_ident(const char*& p, Ident& ident) {
  if (*p == '"') {
    StringId id = 0;
    if (!parse_text(p, id)) return false;
    const std::string_view text = words_.strings[id];
    // A number in quotes is the number: old files quote some tids and not others.
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
  ident = {intern({from, static_cast<std::size_t>(p - from)}), true};
  return true;
}

bool EventParser::parse_time(const char*& p, std::int64_t& time, bool& usable) {
  const bool quoted = *p == '"';
  const char* from = p;
  if (quoted) ++p;
  usable = read_microseconds(p, time) && time > -kMaxTime && time < kMaxTime;
  if (quoted && usable && *p == '"') ++p;
  if (p >= end_) return false;
  if (usable && ends_value(*p)) return true;
  usable = false;
  p = from;
  return skip_value(p);
}

bool EventParser::skip_value(const char*& p) {
  const char* looked = p;
  const char* behind = value_end(p, end_, &looked);
  if (behind == nullptr) return false;
  if (behind == p) {
    reached_ = looked;
    return fail("a value was expected here; a quote may not be escaped");
  }
  p = behind;
  return true;
}

bool EventParser::skip_field(const char*& p, Fields& f) {
  const char* from = p;
  if (!skip_value(p)) return false;
  if (f.first_skipped == nullptr) f.first_skipped = from;
  f.skipped_bytes += p - from;
  return true;
}

bool may_be_full(std::span<const Vocabulary> words) {
  std::size_t schemas = 0, fields = 0;
  for (const Vocabulary& v : words) {
    schemas += v.schemas.size();
    fields += v.schemas.total_fields();
  }
  return schemas >= kMaxSchemas || fields >= kMaxSchemaFields;
}

bool EventParser::has_room(const Fields& f) const { return schemas_room_ && f.field_count < kMaxFields; }

bool EventParser::parse_phase(const char*& p, char& phase) {
  if (*p == '"' && end_ - p > 2 && p[1] != '\\' && p[1] != '"' && p[2] == '"') {
    phase = p[1];
    p += 3;
    return true;
  }
  phase = '?';
  return *p == '"' ? skip_value(p) : fail("ph is not a text");
}

/// Neighbours nearly always share their category: one comparison then replaces the look-up.
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

/// A batch lists its strings in the order of their first use, so that ids can be settled in the file's order.
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

SchemaId EventParser::extend(SchemaId schema, StringId key, ArgType type) {
  const SchemaId next = words_.schemas.extend(schema, {key, type});
  if (schema >= predictions_.size()) predictions_.resize(words_.schemas.size());
  schemas_room_ = words_.schemas.size() < kMaxSchemas && words_.schemas.total_fields() < kMaxSchemaFields;
  // The quoted key is interned too, so that a prediction is one comparison with the text as it stands in the
  // file.
  if (predictions_[schema].next != next) {
    scratch_.assign(1, '"').append(words_.strings[key]).append("\":");
    const bool plain =
        scratch_.find('\\') == std::string::npos && scratch_.find('"', 1) == scratch_.size() - 2;
    predictions_[schema] = {plain ? words_.strings[words_.strings.intern(scratch_)] : std::string_view{}, key,
                            type, next};
  }
  return next;
}

Kind EventParser::category_kind(StringId category) {
  constexpr std::uint8_t kUnknown = 0xFF;
  if (category >= kinds_.size()) kinds_.resize(category + 1, kUnknown);
  if (kinds_[category] == kUnknown)
    kinds_[category] = static_cast<std::uint8_t>(kind_of_category(words_.strings[category]));
  return static_cast<Kind>(kinds_[category]);
}

LaneId EventParser::lane_of(const Fields& f, Kind kind, char flow) {
  const LaneKey key{{trace::is_device_row(kind), f.pid, f.tid}, f.category, kind, flow};
  // Neighbours of a kind and the flow events between them nearly always share theirs.
  const auto slot = static_cast<std::size_t>(flow == 0 ? static_cast<int>(kind) : trace::kKinds + flow % 4);
  LastLane& last = last_lanes_[slot];
  if (last.lane != kNoLane && last.key == key) return last.lane;
  const auto [found, added] = words_.lane_ids.try_emplace(key, static_cast<LaneId>(words_.lanes.size()));
  if (added) {
    const auto track =
        words_.track_ids.try_emplace(key.track, static_cast<trace::TrackId>(words_.tracks.size()));
    if (track.second) words_.tracks.push_back(key.track);
    words_.lanes.push_back({track.first->second, f.category, kind, flow});
  }
  last = {key, found->second};
  return found->second;
}

void EventParser::add_row(const Fields& f, Kind kind, std::int64_t end) {
  odd_device_ = trace::is_device_row(kind) && !f.pid.text && f.pid.value > kMaxDevice;
  parsed_.rows.push_back({f.time, end, f.name, f.schema, lane_of(f, kind), batch_->listed});
  words_.values.append({values_.data(), f.field_count});
}

bool EventParser::is_left_out(const Fields& f, std::string_view drawn) const {
  return !drawn_ && f.has_category && words_.strings[f.category] == drawn;
}

void EventParser::add(const Fields& f) {
  const Kind kind =
      f.has_category ? kind_by_name(category_kind(f.category), words_.strings[f.name]) : Kind::op;
  const bool timed = f.time_usable;
  switch (f.phase) {
    case 'X': {
      if (!timed) {
        ++batch_->clamped_times;
        break;
      }
      std::int64_t duration = f.duration;
      if (!f.duration_usable || duration < 0) {
        duration = 0;
        batch_->clamped_times += f.has_duration;
      }
      add_row(f, kind, f.time + duration);
      break;
    }
    case 'M':
      for (std::size_t i = 0; i < f.field_count; ++i) {
        const trace::ArgField field = words_.schemas.fields(f.schema)[i];
        if (field.type == ArgType::text)
          batch_->names.push_back({f.pid, f.tid, f.name, static_cast<StringId>(values_[i])});
      }
      break;
    case 's':
    case 't':
    case 'f':
      if (is_left_out(f, kDrawnArrow)) break;
      if (!timed) {
        ++batch_->clamped_times;
        break;
      }
      parsed_.flows.push_back({f.time, f.id, lane_of(f, Kind::other, f.phase)});
      break;
    case 'B':
    case 'E':
      if (!timed) {
        ++batch_->clamped_times;
        break;
      }
      batch_->halves.push_back({f.time, f.name, f.category, words_.lanes[lane_of(f, kind)].track, f.schema,
                                static_cast<std::uint32_t>(words_.half_values.size()), batch_->listed,
                                f.phase == 'B'});
      words_.half_values.append({values_.data(), f.field_count});
      break;
    case 'i':
    case 'I':
    case 'R': {
      const std::string_view name = words_.strings[f.name];
      const bool memory = name == "[memory]" || name == "[OutOfMemory]";
      if (timed)
        add_row(f, memory ? Kind::memory : Kind::instant, f.time);
      else
        ++batch_->clamped_times;
      break;
    }
    case 'C':
      if (is_left_out(f, kDrawnCounter)) break;
      if (timed)
        add_row(f, Kind::counter, f.time);
      else
        ++batch_->clamped_times;
      break;
    default:
      if (timed)
        add_row(f, Kind::other, f.time);
      else
        ++batch_->clamped_times;
  }
  ++batch_->listed;
}

}  // namespace stepscope::read
