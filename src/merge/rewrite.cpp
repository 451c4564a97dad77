#include "merge/rewrite.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/key_hash.h"
#include "base/text.h"
#include "read/json_text.h"

namespace stepscope::merge {
namespace {

bool add(std::int64_t a, std::int64_t b, std::int64_t& sum) {
  return !__builtin_add_overflow(a, b, &sum) && sum < read::kMaxTime && sum > -read::kMaxTime;
}

}  // namespace

void append_microseconds(std::int64_t ns, std::string& out) {
  constexpr std::uint64_t kThousand = 1000;
  const bool negative = ns < 0;
  const std::uint64_t size = negative ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  if (negative) out += '-';
  const fmt::format_int whole(size / kThousand);
  out.append(whole.data(), whole.size());
  const auto rest = static_cast<unsigned>(size % kThousand);
  if (rest == 0) return;
  const char fraction[] = {'.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10),
                           static_cast<char>('0' + rest % 10)};
  out.append(fraction, sizeof fraction);
}

void Rewriter::append(const EventText& event, std::string& out) {
  scratch_.clear();
  change_count_ = 0;
  if (const char kind = event.kind();
      event.phase && event.phase.bare() != std::string_view(&kind, 1) && kind != '?')
    change(event.phase, std::string{'"', kind, '"'});
  change_times(event);
  change_ids(event);
  change_lane(event);
  if (event.kind() == 'M') change_name(event);
  std::sort(changes_.begin(), changes_.begin() + change_count_,
            [](const Change& a, const Change& b) { return a.at.begin < b.at.begin; });
  out += ",\n{";
  const char* from = event.whole.begin + 1;
  if (!event.pid && last_lane_ != nullptr) {
    const bool empty = *read::skip_space(from) == '}';
    out += "\"pid\":" + last_lane_->pid + (empty ? "" : ",");
  }
  for (std::size_t i = 0; i < change_count_; ++i) {
    const Change& c = changes_[i];
    if (c.at.begin < from) continue;  // skipped: the key occurs twice
    out.append(from, c.at.begin);
    out.append(scratch_, c.from, c.size);
    from = c.at.end;
  }
  out.append(from, event.whole.end);
}

void Rewriter::change(Span at, std::string_view to) {
  if (!at || change_count_ == kMaxChanges) return;
  changes_[change_count_++] = {at, scratch_.size(), to.size()};
  scratch_ += to;
}

void Rewriter::change_number(Span at, std::int64_t to) {
  const fmt::format_int text(to);
  const bool quoted = *at.begin == '"';
  change(at, quoted ? "\"" + text.str() + "\"" : std::string_view(text.data(), text.size()));
}

/// Maps start and end separately, so that events that touched still touch.
void Rewriter::change_times(const EventText& event) {
  std::int64_t time = 0, duration = 0, start = 0, end = 0, at = 0;
  if (!read_time(event.time, time) || !add(time, source_.base_ns, start) ||
      !add(source_.place(start), -base_ns_, at))
    return;
  const std::size_t from = scratch_.size();
  append_microseconds(at, scratch_);
  changes_[change_count_++] = {event.time, from, scratch_.size() - from};
  if (!read_time(event.duration, duration) || duration < 0 || !add(start, duration, end)) return;
  const std::size_t behind = scratch_.size();
  append_microseconds(std::max<std::int64_t>(0, source_.place(end) - source_.place(start)), scratch_);
  changes_[change_count_++] = {event.duration, behind, scratch_.size() - behind};
}

void Rewriter::change_lane(const EventText& event) {
  if (last_lane_ == nullptr || !same_lane(last_text_, event)) {
    last_text_ = lane_text(event);
    const auto found = source_.lanes.find(last_text_);
    last_lane_ = found == source_.lanes.end() ? nullptr : &found->second;
  }
  if (last_lane_ == nullptr) return;
  change(event.pid, last_lane_->pid);
  if (!last_lane_->tid.empty()) change(event.tid, last_lane_->tid);
}

void Rewriter::change_ids(const EventText& event) {
  for (const EventText::Id& id : event.id_list()) {
    std::int64_t value = 0;
    const auto space = static_cast<std::size_t>(id.space);
    const bool number = read_id(id, value);
    if (id.own && *id.value.begin <= '9')  // null stays
      change_own_id(id, number && !source_.ids_stay[space] ? value + source_.id_shift[space] : -1);
    else if (number && source_.id_shift[space] != 0)
      change_number(id.value, value + source_.id_shift[space]);
    else if (!number && *id.value.begin == '"' &&
             id.value.bare().find_first_not_of("0123456789-") != std::string_view::npos)
      change(id.value, fmt::format("\"{}.{}\"", source_.processes.front().pid, id.value.bare()));
  }
}

/// `number` is below 2^53, or -1: then the id becomes a hash of the source and the text, above all numbers.
void Rewriter::change_own_id(const EventText::Id& id, std::int64_t number) {
  if (number >= 0) return change(id.value, fmt::format_int(number).c_str());
  const auto text = static_cast<std::int64_t>(hash_of(id.value.bare(), kFixedSeed));
  const std::uint64_t hash = hash_of_all(kFixedSeed, source_.processes.front().pid, text);
  change(id.value, fmt::format("\"0x{:x}\"", hash | std::uint64_t{1} << 63));
}

const Process* Rewriter::process() const {
  if (last_lane_ == nullptr) return nullptr;
  for (const Process& process : source_.processes)
    if (std::to_string(process.pid) == last_lane_->pid) return &process;
  return nullptr;
}

void Rewriter::change_name(const EventText& event) {
  const std::string_view what = event.name.bare();
  const Process* of = what == "process_name" || what == "process_sort_index" ? process() : nullptr;
  if (of == nullptr) return;
  if (what == "process_sort_index")
    return event.args_sort ? change_number(event.args_sort, of->sort) : void();
  std::string name = json_text(of->name);
  if (!event.args_was) name += ",\"was\":" + std::string(event.args_name.text());
  change(event.args_name, name);
}

}  // namespace stepscope::merge
