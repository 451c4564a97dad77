#include "derive/steps/found_steps.h"

#include <algorithm>
#include <map>
#include <span>

#include "derive/kernel_class.h"
#include "trace/asked_once.h"

namespace stepscope::derive {
namespace {

using trace::EventTable;
using trace::Kind;
using trace::Rank;
using trace::Row;
using trace::StringId;
using trace::Trace;

constexpr std::size_t kFewest = 3;      // steps
constexpr double kLeastCovered = 0.5;   // of the recording, between the first and the last border
constexpr double kLeastRegular = 0.75;  // of the intervals: between half and twice their median
constexpr std::size_t kMostSteps = 100'000;

std::vector<trace::Step> between(const std::vector<std::int64_t>& borders) {
  std::vector<trace::Step> steps;
  for (std::size_t i = 1; i < borders.size(); ++i) {
    trace::Step step;
    step.number = static_cast<std::int64_t>(i);
    step.name = "step " + std::to_string(i);
    step.start = borders[i - 1];
    step.end = borders[i];
    step.found = true;
    steps.push_back(std::move(step));
  }
  return steps;
}

/// No device work, nor calls that would start some.
bool is_of_cpu(const Trace& trace, const Rank& rank) {
  trace::AskedOnce launches(trace.strings, is_launch_call);
  const EventTable& e = rank.events;
  for (Row row = 0; row < e.size(); ++row)
    if (is_device_work(e.kind[row]) || (e.kind[row] == Kind::runtime && launches(e.name[row]))) return false;
  return true;
}

/// The ends of the optimizer's steps. Those without a backward pass since the one before belong to the same
/// step, as do all between two waits for data of a program that waits for data.
std::vector<std::int64_t> optimizer_ends(const Trace& trace, const Rank& rank, StringId& name) {
  enum class Sign : std::uint8_t { none, optimizer, backward, data };
  trace::AskedOnce sign(trace.strings, [](std::string_view text) {
    if (text.starts_with("Optimizer.step#")) return Sign::optimizer;
    if (is_autograd_node(text)) return Sign::backward;
    return is_data_loading(text) ? Sign::data : Sign::none;
  });
  const EventTable& e = rank.events;
  struct Event {
    std::int64_t at;
    Sign sign;
    Row row;
  };
  std::vector<Event> events;
  std::int64_t optimizers = 0, waits = 0;
  for (const Row row : rank.host_rows()) {
    if (e.kind[row] != Kind::annotation && e.kind[row] != Kind::op) continue;
    const Sign of = sign(e.name[row]);
    if (of == Sign::none) continue;
    optimizers += of == Sign::optimizer;
    waits += of == Sign::data;
    events.push_back({of == Sign::optimizer ? e.end[row] : e.start[row], of, row});
  }
  std::sort(events.begin(), events.end(),
            [](const Event& a, const Event& b) { return std::pair(a.at, a.row) < std::pair(b.at, b.row); });
  const bool by_data = 4 * waits >= optimizers && optimizers > waits;
  std::vector<std::int64_t> ends;
  bool passed = true, waited = true;
  for (const Event& event : events) {
    passed |= event.sign == Sign::backward;
    waited |= event.sign == Sign::data;
    if (event.sign != Sign::optimizer) continue;
    if (ends.empty() || (passed && (waited || !by_data)))
      ends.push_back(event.at);
    else
      ends.back() = event.at;
    name = e.name[event.row];
    passed = waited = false;
  }
  return ends;
}

/// The outermost operators of the thread that has most of their time, in order.
std::vector<Row> main_operators(const Rank& rank) {
  const EventTable& e = rank.events;
  std::vector<Row> most;
  std::int64_t most_time = 0;
  for (const trace::Track& track : rank.tracks) {
    if (track.side != trace::Track::Side::host) continue;
    std::vector<Row> own;
    std::int64_t time = 0, until = trace::kNoTime;
    for (Row row = track.begin; row < track.end; ++row) {
      if (e.kind[row] != Kind::op || e.start[row] < until) continue;
      own.push_back(row);
      time += e.duration(row);
      until = e.end[row];
    }
    if (time <= most_time) continue;
    most_time = time;
    most = std::move(own);
  }
  return most;
}

/// The median interval if the times are regular and cover the operators' span, else 0.
std::int64_t regular_interval(const std::vector<std::int64_t>& times, std::int64_t span) {
  if (times.size() <= kFewest ||
      static_cast<double>(times.back() - times.front()) < kLeastCovered * static_cast<double>(span))
    return 0;
  std::vector<std::int64_t> lengths;
  for (std::size_t i = 1; i < times.size(); ++i) lengths.push_back(times[i] - times[i - 1]);
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  const std::int64_t median = *middle;
  const auto regular = std::count_if(lengths.begin(), lengths.end(), [&](std::int64_t length) {
    return 2 * length >= median && length <= 2 * median;
  });
  return static_cast<double>(regular) >= kLeastRegular * static_cast<double>(lengths.size()) ? median : 0;
}

/// Steps by the operator that repeats most regularly with the longest interval.
FoundSteps repeated(const Trace& trace, const EventTable& e, std::span<const Row> operators) {
  FoundSteps found;
  if (operators.empty()) return found;
  std::map<StringId, std::vector<std::int64_t>> starts;
  for (const Row row : operators) starts[e.name[row]].push_back(e.start[row]);
  const std::int64_t span = e.end[operators.back()] - e.start[operators.front()];
  std::int64_t longest = 0;
  const std::vector<std::int64_t>* chosen = nullptr;
  for (const auto& [of, times] : starts) {
    const std::int64_t interval = regular_interval(times, span);
    if (interval < longest || interval == 0 || times.size() > kMostSteps) continue;
    if (interval == longest && trace.text(of) >= found.border) continue;
    longest = interval;
    chosen = &times;
    found.border = trace.text(of);
  }
  if (chosen != nullptr) found.steps = between(*chosen);
  return found;
}

/// The longer of the stretches before and after a time that training takes.
std::span<const Row> outside(const EventTable& e, const std::vector<Row>& operators, std::int64_t from,
                             std::int64_t to) {
  const auto starts_before = [&](Row row, std::int64_t time) { return e.start[row] < time; };
  const std::span<const Row> all(operators);
  const auto before = all.first(static_cast<std::size_t>(
      std::lower_bound(operators.begin(), operators.end(), from, starts_before) - operators.begin()));
  const auto after = all.subspan(static_cast<std::size_t>(
      std::lower_bound(operators.begin(), operators.end(), to, starts_before) - operators.begin()));
  const auto length = [&](std::span<const Row> rows) {
    return rows.empty() ? 0 : e.end[rows.back()] - e.start[rows.front()];
  };
  return length(before) > length(after) ? before : after;
}

}  // namespace

FoundSteps found_steps(const Trace& trace, const Rank& rank) {
  FoundSteps found;
  StringId name = trace::kEmptyString;
  const std::vector<std::int64_t> ends = optimizer_ends(trace, rank, name);
  const EventTable& e = rank.events;
  const bool repeats = rank.whole_program || is_of_cpu(trace, rank);
  const std::vector<Row> operators = repeats ? main_operators(rank) : std::vector<Row>{};
  if (ends.empty()) return repeated(trace, e, operators);
  if (ends.size() > kFewest && ends.size() < kMostSteps) {
    found.border = trace.text(name);
    found.steps = between(ends);
  }
  if (operators.empty()) return found;
  const std::int64_t whole = e.end[operators.back()] - e.start[operators.front()];
  const std::int64_t trained = ends.back() - ends.front();
  if (static_cast<double>(trained) >= kLeastCovered * static_cast<double>(whole)) return found;
  FoundSteps other = repeated(trace, e, outside(e, operators, ends.front(), ends.back()));
  const bool longer = !other.steps.empty() && other.steps.back().end - other.steps.front().start > trained;
  return longer ? other : found;
}

}  // namespace stepscope::derive
