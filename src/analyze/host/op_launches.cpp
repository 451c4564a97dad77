// What an operator launches: the sequence of kernels, how long it takes until the first launch, how late it
// starts.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "analyze/hta/rows.h"
#include "analyze/idle/device_spans.h"
#include "analyze/list.h"
#include "trace/asked_once.h"

namespace stepscope::analyze {
namespace {

using report::Shape;
using report::Unit;
using timeline::Time;

/// One call of an operator: its name, the names of what it launched, and the first launch.
struct Call {
  trace::StringId op;
  std::vector<trace::StringId> kernels;
  Time launch_delay, start_delay;
};

/// Calls in the order of their first launches.
class Calls {
 public:
  using Key = std::tuple<std::string_view, trace::StringId, Time>;  // thread, operator, its start
  void add(const Key& key, trace::StringId kernel, Time launch_delay, Time start_delay) {
    const auto [at, fresh] = places_.try_emplace(key, calls_.size());
    if (fresh) calls_.push_back({std::get<1>(key), {}, launch_delay, start_delay});
    calls_[at->second].kernels.push_back(kernel);
  }
  const std::vector<Call>& calls() const { return calls_; }

 private:
  std::map<Key, std::size_t> places_;
  std::vector<Call> calls_;
};

/// By HTA's rule: the latest operator of any thread that holds the launch.
Calls hta_calls(const trace::Trace& trace, const hta::Table& table) {
  const auto& e = table.rank->events;
  trace::AskedOnce is_aten(trace.strings, [](std::string_view name) { return name.starts_with("aten::"); });
  trace::AskedOnce is_launch(trace.strings, hta::is_kernel_launch);
  std::unordered_map<std::int64_t, std::pair<const hta::Event*, int>> device;  // by correlation
  std::vector<std::size_t> ops, launches;
  for (std::size_t i = 0; i < table.events.size(); ++i) {
    const hta::Event& event = table.events[i];
    if (event.stream != -1) {
      auto& found = device[event.correlation];
      found = {&event, found.second + 1};
    } else if (is_aten(e.name[event.row])) {
      ops.push_back(i);
    } else if (is_launch(e.name[event.row])) {
      launches.push_back(i);
    }
  }
  const auto by_start = [&](std::size_t a, std::size_t b) {
    return table.events[a].start < table.events[b].start;
  };
  std::stable_sort(ops.begin(), ops.end(), by_start);
  std::vector<std::size_t> in_time = launches;
  std::stable_sort(in_time.begin(), in_time.end(), by_start);
  std::unordered_map<std::size_t, const hta::Event*> op_of;
  std::set<std::pair<Time, std::size_t>> open, ends;  // latest first in time, then first in the table
  std::size_t next = 0;
  for (const std::size_t at : in_time) {
    const hta::Event& launch = table.events[at];
    for (; next < ops.size() && table.events[ops[next]].start <= launch.start; ++next) {
      open.emplace(-table.events[ops[next]].start, ops[next]);
      ends.emplace(table.events[ops[next]].end(), ops[next]);
    }
    for (; !ends.empty() && ends.begin()->first < launch.start; ends.erase(ends.begin()))
      open.erase({-table.events[ends.begin()->second].start, ends.begin()->second});
    for (const auto& [start, op] : open) {
      if (table.events[op].end() < launch.end()) continue;
      op_of[at] = &table.events[op];
      break;
    }
  }
  Calls calls;
  for (const std::size_t at : launches) {
    const hta::Event& launch = table.events[at];
    const auto op = op_of.find(at);
    const auto kernel = device.find(launch.correlation);
    if (op == op_of.end() || kernel == device.end() || kernel->second.second != 1) continue;
    const hta::Event& work = *kernel->second.first;
    calls.add({table.rank->tracks[e.track[op->second->row]].tid, e.name[op->second->row], op->second->start},
              e.name[work.row], launch.start - op->second->start, work.start - launch.start);
  }
  return calls;
}

/// The innermost operator around each launch.
Calls own_calls(const trace::Rank& rank, const StepChoice& choice) {
  const auto& e = rank.events;
  std::vector<trace::Row> rows;
  for (const trace::Row row : rank.device_rows())
    if (is_device_work(e.kind[row]) && e.launch[row] != trace::kNoRow && e.op[row] != trace::kNoRow &&
        choice.includes(rank, row))
      rows.push_back(row);
  std::stable_sort(rows.begin(), rows.end(),
                   [&](trace::Row a, trace::Row b) { return e.start[e.launch[a]] < e.start[e.launch[b]]; });
  Calls calls;
  for (const trace::Row row : rows) {
    const trace::Row call = e.launch[row], op = e.op[row];
    calls.add({rank.tracks[e.track[op]].tid, e.name[op], e.start[op]}, e.name[row],
              e.start[call] - e.start[op], e.start[row] - e.start[call]);
  }
  return calls;
}

struct Means {
  std::int64_t count = 0;
  double launch_delay = 0, start_delay = 0;
};

/// What the table says of an operator and a sequence.
struct SequenceRow {
  std::string name, sequence;
  std::size_t length;
  Means means;
};

std::string joined(const trace::Trace& trace, const std::vector<trace::StringId>& names) {
  std::string text;
  for (const trace::StringId name : names) (text += text.empty() ? "" : " -> ") += trace.text(name);
  return text;
}

constexpr report::ParamSpec kOpLaunchesParams[] = {kHtaCompat, kHtaLastStep};

}  // namespace

constinit const About op_launches_about = {kOpLaunchesParams, false};

report::Report op_launches(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  report::Report report{"op_launches", {}, {}};
  report::Table& table =
      report.tables.emplace_back(report::Table{"Operators and what they launch", Shape::table, {}});
  RankColumn rank(table, trace);
  auto& name = table.texts("name");
  auto& sequence = table.texts("sequence");
  auto& calls_column = table.ints("calls", Unit::count);
  auto& launch_delay = table.reals("launch_delay", Unit::ns);
  auto& start_delay = table.reals("start_delay", Unit::ns);
  auto& length = table.ints("length", Unit::count);
  const auto add = [&](const trace::Rank& of, const Calls& calls) {
    std::map<std::pair<trace::StringId, std::vector<trace::StringId>>, Means> by_ids;
    for (const Call& call : calls.calls()) {
      Means& mean = by_ids[{call.op, call.kernels}];
      ++mean.count;
      mean.launch_delay += static_cast<double>(call.launch_delay);
      mean.start_delay += static_cast<double>(call.start_delay);
    }
    std::vector<SequenceRow> rows;
    for (const auto& [key, mean] : by_ids)
      rows.push_back(
          {std::string(trace.text(key.first)), joined(trace, key.second), key.second.size(), mean});
    std::sort(rows.begin(), rows.end(), [](const SequenceRow& a, const SequenceRow& b) {
      if (a.means.count != b.means.count) return a.means.count > b.means.count;
      return std::tie(a.name, a.sequence) < std::tie(b.name, b.sequence);
    });
    for (SequenceRow& row : rows) {
      rank.add(of);
      name.push_back(std::move(row.name));
      sequence.push_back(std::move(row.sequence));
      calls_column.push_back(row.means.count);
      launch_delay.push_back(row.means.launch_delay / static_cast<double>(row.means.count));
      start_delay.push_back(row.means.start_delay / static_cast<double>(row.means.count));
      length.push_back(static_cast<std::int64_t>(row.length));
    }
  };
  if (params.flag("hta-compat"))
    for (const hta::Table& of : derived.hta(hta::keep_of(params))) add(*of.rank, hta_calls(trace, of));
  else
    for (const trace::Rank& of : trace.ranks) add(of, own_calls(of, derived.choice()));
  if (table.rows() == 0) report.notes.emplace_back(kNoLaunchNote);
  return report;
}

}  // namespace stepscope::analyze
