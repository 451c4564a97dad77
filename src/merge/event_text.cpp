#include "merge/event_text.h"

#include <algorithm>
#include <charconv>

#include "read/json_text.h"
#include "read/strict/mend.h"
#include "read/strict/strict.h"

namespace stepscope::merge {

std::string_view Span::bare() const {
  return begin != nullptr && end - begin >= 2 && *begin == '"' ? text().substr(1, text().size() - 2) : text();
}

char EventText::kind() const {
  constexpr std::string_view kNumbered = "?XCXM";
  const std::string_view bare = phase.bare();
  if (bare.size() != 1) return '?';
  return bare[0] >= '0' && bare[0] <= '4' ? kNumbered[static_cast<std::size_t>(bare[0] - '0')] : bare[0];
}

bool read_id(const EventText::Id& id, std::int64_t& number) {
  constexpr std::size_t kMaxDigits = 18, kMaxHexDigits = 15;
  std::string_view text = id.value.bare();
  const bool hex = id.own && *id.value.begin == '"';
  if (hex && (text.starts_with("0x") || text.starts_with("0X"))) text.remove_prefix(2);
  if (text.empty() || text.size() > (hex ? kMaxHexDigits : kMaxDigits) || text.front() == '-') return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, hex ? 16 : 10);
  return error == std::errc{} && end == text.data() + text.size() && (id.own || !read::is_no_id(number));
}

bool read_time(Span value, std::int64_t& nanoseconds) {
  const std::string_view text = value.bare();
  const char* p = text.data();
  return value && read::read_microseconds(p, nanoseconds) && p <= text.data() + text.size() &&
         nanoseconds > -read::kMaxTime && nanoseconds < read::kMaxTime;
}

EventScanner::Outcome EventScanner::scan(const char*& p, const char* limit, EventText& event) {
  end_ = limit;
  damage_ = "";
  strict_ = true;
  const char* at = p;
  reached_ = p;
  const bool whole = fields(at, event, false);
  reached_ = std::max(reached_, at);
  if (whole && at <= end_) {
    event.whole = {p, at};
    p = at;
    return Outcome::read;
  }
  return whole || *damage_ == '\0' ? Outcome::cut : Outcome::damaged;
}

/// `p` is at a "{"; moves past its "}".
bool EventScanner::fields(const char*& p, EventText& event, bool in_args) {
  bool first = true;
  for (++p;; first = false) {
    const read::Member next = read::next_member(p, end_, first, damage_);
    if (next != read::Member::key) return next == read::Member::close;
    std::string_view key;
    if (!read::pass_key(p, end_, key, damage_)) return false;
    strict_ &= read::is_strict_text(key);
    const char* from = p;
    const bool args = !in_args && *p == '{' && key == "args";
    if (!(args ? fields(p, event, true) : value(p))) return false;
    note(key, {from, p}, event, in_args);
  }
}

bool EventScanner::value(const char*& p) {
  if (const char* behind = read::strict_end(p, end_); behind != nullptr) {
    p = behind;
    return true;
  }
  strict_ = false;
  const char* from = p;
  if (!read::pass_value(p, end_, damage_, reached_)) return false;
  // A forbidden byte in a string, an array or an object is mended; elsewhere it is damage to every reader.
  if (*from == '"' || *from == '[' || *from == '{') return true;
  const bool whole = read::find_forbidden(read::text_between(from, p)) == std::string_view::npos;
  return whole || read::say_damage(damage_, "a value was expected here");
}

void MendedEvent::mend(std::string_view event, std::int64_t at, trace::Breaches& breaches) {
  text_.clear();
  from_ = event.data(), end_ = from_ + event.size();
  at_ = at;
  breaches_ = &breaches;
  const char* p = from_;
  mend_fields(p, false);
  text_.append(read::kPadding, '\0');
}

/// `p` is at the "{" of fields that an EventScanner has passed; moves past their "}".
void MendedEvent::mend_fields(const char*& p, bool in_args) {
  const char *damage = "", *looked = p;
  bool first = true;
  text_ += '{';
  for (++p; read::next_member(p, end_, first, damage) == read::Member::key; first = false) {
    std::string_view key;
    read::pass_key(p, end_, key, damage);
    text_ += first ? "\"" : ",\"";
    read::mend_text(key, at_ + (key.data() - from_), text_, *breaches_);
    text_ += "\":";
    const char* value = p;
    if (!in_args && *p == '{' && key == "args") {
      mend_fields(p, true);
    } else {
      read::pass_value(p, end_, damage, looked);
      read::mend_value(read::text_between(value, p), at_ + (value - from_), text_, *breaches_);
    }
  }
  text_ += '}';
}

void EventScanner::note(std::string_view key, Span value, EventText& event, bool in_args) {
  if (in_args) return note_arg(key, value, event);
  const auto id = [&] {
    if (event.id_count < EventText::kMaxIds) event.ids[event.id_count++] = {value, Space::link, true};
  };
  switch (key.size()) {
    case 2:
      if (key == "ph") event.phase = value;
      if (key == "ts") event.time = value;
      if (key == "id") id();
      break;
    case 3:
      if (key == "pid") event.pid = value;
      if (key == "tid") event.tid = value;
      if (key == "dur") event.duration = value;
      if (key == "cat") event.category = value;
      break;
    case 4:
      if (key == "name") event.name = value;
      if (key == "args") event.args = value;
      break;
    case 7:
      if (key == "bind_id") id();
      break;
    default:
      break;
  }
}

void EventScanner::note_arg(std::string_view key, Span value, EventText& event) {
  if (key.empty()) return;
  switch (key.front()) {
    case 'n':
      if (key == "name") event.args_name = value;
      return;
    case 'l':
      if (key == "labels") event.args_labels = value;
      return;
    case 'R':
      if (key == "Rank") event.args_rank = value;
      return;
    case 's':
      if (key == "sort_index") event.args_sort = value;
      return;
    case 'c':
    case 'E':
    case 'e':
    case 'w':
      if (key == "was") event.args_was = value;
      [[fallthrough]];
    case 'P':
    case 'g':
      break;
    default:
      return;
  }
  if (*value.begin == '[' || *value.begin == '{' || event.id_count == EventText::kMaxIds) return;
  if (const auto space = read::id_space_of(key)) event.ids[event.id_count++] = {value, *space, false};
}

}  // namespace stepscope::merge
