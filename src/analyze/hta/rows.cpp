#include "analyze/hta/rows.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "analyze/question.h"
#include "base/sort_runs.h"
#include "trace/asked_once.h"

namespace stepscope::analyze::hta {
namespace {

using trace::Kind;
using trace::Rank;
using trace::Trace;

std::int64_t number_of(const trace::ArgReader& arg, Row row) {
  if (const auto number = arg.integer(row)) return *number;
  const std::string_view text = arg.text(row);
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? number : -1;
}

bool has_fractions(const Rank& rank) {
  const auto& starts = rank.events.start;
  return std::any_of(starts.begin(), starts.end(), [](Time start) { return start % 1000 != 0; });
}

/// Whole microseconds: starts are rounded up and ends down, in doubles as HTA reads them.
void set_times(Event& event, Time start, Time length, bool fractions) {
  if (!fractions) {
    event.start = start;
    event.length = length;
    return;
  }
  const double begin = microseconds(start);
  const auto up = static_cast<std::int64_t>(std::ceil(begin));
  const auto down = static_cast<std::int64_t>(std::floor(begin + microseconds(length)));
  event.start = up * 1000;
  event.length = (down - up) * 1000;
}

/// Whether HTA takes an event for device work: it has a stream and a correlation, or waits for the device.
class OnDevice {
 public:
  explicit OnDevice(const Trace& trace)
      : waits_{trace.strings.find("Event Sync"), trace.strings.find("Context Sync")} {}
  bool operator()(const Rank& rank, const Event& event) const {
    const trace::StringId name = rank.events.name[event.row];
    return (event.stream >= 0 && event.correlation >= 0) ||
           (name != trace::kEmptyString && name == waits_[0]) ||
           (name != trace::kEmptyString && name == waits_[1]);
  }

 private:
  trace::StringId waits_[2];
};

/// Numbers by key; among equal keys the last one added counts.
class ByKey {
 public:
  void add(std::int64_t key, std::int64_t number) { entries_.push_back({key, number}); }
  void sort() {
    sort_runs(entries_, [](const Entry& a, const Entry& b) { return a.key < b.key; });
  }
  std::optional<std::int64_t> find(std::int64_t key) const {
    const auto after = std::upper_bound(entries_.begin(), entries_.end(), key,
                                        [](std::int64_t k, const Entry& entry) { return k < entry.key; });
    if (after == entries_.begin() || std::prev(after)->key != key) return std::nullopt;
    return std::prev(after)->number;
  }
  std::int64_t count(std::int64_t key) const {
    const auto [first, last] = std::equal_range(entries_.begin(), entries_.end(), Entry{key, 0},
                                                [](const Entry& a, const Entry& b) { return a.key < b.key; });
    return last - first;
  }

 private:
  struct Entry {
    std::int64_t key, number;
  };
  std::vector<Entry> entries_;
};

void link(Table& table, const OnDevice& on_device) {
  ByKey host, device;
  for (const Event& event : table.events)
    if (event.correlation != -1)
      (on_device(*table.rank, event) ? device : host).add(event.correlation, event.index);
  host.sort();
  device.sort();
  for (Event& event : table.events)
    if (event.correlation != -1)
      event.partner = (on_device(*table.rank, event) ? host : device).find(event.correlation).value_or(0);
}

struct StepRange {
  Time start, end;
  std::int64_t number;
  std::string_view name;
};

/// Parses "ProfilerStep#12", with optional blanks around the sign, to 12.
std::optional<std::int64_t> step_number(std::string_view name) {
  constexpr std::string_view kHead = "ProfilerStep";
  if (!name.starts_with(kHead)) return std::nullopt;
  const auto skip_blanks = [&] { name.remove_prefix(std::min(name.find_first_not_of(' '), name.size())); };
  name.remove_prefix(kHead.size());
  skip_blanks();
  if (!name.starts_with('#')) return std::nullopt;
  name.remove_prefix(1);
  skip_blanks();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc{} ? std::optional(number) : std::nullopt;
}

bool is_step_name(std::string_view name) { return step_number(name).has_value(); }

std::vector<StepRange> steps_of(const Trace& trace, const Table& table) {
  trace::AskedOnce is_step(trace.strings, is_step_name);
  std::vector<StepRange> steps;
  for (const Event& event : table.events) {
    const trace::StringId name = table.rank->events.name[event.row];
    if (is_step(name))
      steps.push_back({event.start, event.end(), *step_number(trace.text(name)), trace.text(name)});
  }
  return steps;
}

/// Number of the step that contains a time, -1 for none; of several steps the last one in the table.
class StepAt {
 public:
  explicit StepAt(const std::vector<StepRange>& steps) {
    std::multimap<Time, std::pair<bool, std::size_t>> ends;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].end <= steps[i].start) continue;
      ends.emplace(steps[i].start, std::pair(true, i));
      ends.emplace(steps[i].end, std::pair(false, i));
    }
    std::set<std::size_t> open;
    for (const auto& [time, change] : ends) {
      if (change.first)
        open.insert(change.second);
      else
        open.erase(change.second);
      const std::int64_t number = open.empty() ? -1 : steps[*open.rbegin()].number;
      if (!from_.empty() && from_.back().first == time)
        from_.back().second = number;
      else
        from_.emplace_back(time, number);
    }
  }
  std::int64_t operator()(Time time) const {
    const auto after = std::upper_bound(from_.begin(), from_.end(), time,
                                        [](Time t, const auto& piece) { return t < piece.first; });
    return after == from_.begin() ? -1 : std::prev(after)->second;
  }

 private:
  std::vector<std::pair<Time, std::int64_t>> from_;
};

void set_iterations(const Trace& trace, Table& table) {
  const StepAt step_at(steps_of(trace, table));
  const auto& e = table.rank->events;
  ByKey of_index;
  for (Event& event : table.events) {
    if (event.stream > 0) continue;
    event.iteration = event.stream < 0 || e.kind[event.row] == Kind::op ? step_at(event.start) : kNoIteration;
    if (event.partner > 0) of_index.add(event.index, event.iteration);
  }
  of_index.sort();
  for (Event& event : table.events)
    if (event.stream > 0 && event.partner > 0)
      event.iteration = of_index.find(event.partner).value_or(event.iteration);
}

Table table_of(const Trace& trace, const Rank& rank) {
  Table table{&rank, 0, {}};
  const trace::EventTable& e = rank.events;
  const bool fractions = has_fractions(rank);
  const trace::ArgReader stream(trace, rank, "stream"), correlation(trace, rank, "correlation");
  for (Row row = 0; row < e.size(); ++row) {
    if (!path::is_listed(trace, rank, row)) continue;
    Event event{row, e.source[row], 0, 0, number_of(stream, row), number_of(correlation, row)};
    set_times(event, e.start[row], e.duration(row), fractions);
    table.events.push_back(event);
  }
  sort_runs(table.events, [](const Event& a, const Event& b) { return a.index < b.index; });
  return table;
}

constexpr std::int64_t kMaxCopies = 8;  // per device event; HTA has no limit, but hostile files need one

/// Device events come first, one copy per kept call of their correlation; then host events.
void drop_last_step(Table& table, const OnDevice& on_device, const std::vector<StepRange>& steps,
                    bool include_last) {
  Time last = std::numeric_limits<Time>::min();
  for (const StepRange& step : steps) last = std::max(last, step.start);
  std::vector<Event> host, device;
  ByKey calls;
  for (const Event& event : table.events) {
    if (on_device(*table.rank, event) || (!include_last && event.start >= last)) continue;
    host.push_back(event);
    calls.add(event.correlation, 0);
  }
  calls.sort();
  for (const Event& event : table.events) {
    if (!on_device(*table.rank, event)) continue;
    device.insert(device.end(),
                  static_cast<std::size_t>(std::min(calls.count(event.correlation), kMaxCopies)), event);
  }
  device.insert(device.end(), host.begin(), host.end());
  table.events = std::move(device);
}

std::vector<Table> make_tables(const Trace& trace, Keep keep) {
  const OnDevice on_device(trace);
  std::vector<Table> tables;
  Time first = std::numeric_limits<Time>::max();
  for (const Rank& rank : trace.ranks) {
    tables.push_back(table_of(trace, rank));
    link(tables.back(), on_device);
    set_iterations(trace, tables.back());
    for (const Event& event : tables.back().events) first = std::min(first, event.start);
  }
  std::set<std::string_view> names;
  std::vector<std::vector<StepRange>> steps;
  for (Table& table : tables) {
    table.earliest = first;
    for (Event& event : table.events) event.start -= first;
    steps.push_back(steps_of(trace, table));
    for (const StepRange& step : steps.back()) names.insert(step.name);
  }
  if (names.size() > 1 && keep != Keep::everything)
    for (std::size_t i = 0; i < tables.size(); ++i)
      drop_last_step(tables[i], on_device, steps[i], keep == Keep::with_last_step);
  return tables;
}

}  // namespace

Keep keep_of(const report::Params& params) {
  if (params.flag("everything")) return Keep::everything;
  return params.flag("hta-last-step") ? Keep::with_last_step : Keep::without_last_step;
}

const std::vector<Table>& tables_of(const Derived& derived, Keep keep) {
  return derived.kept<std::vector<Table>>(static_cast<int>(keep),
                                          [&] { return make_tables(derived.trace(), keep); });
}

}  // namespace stepscope::analyze::hta
