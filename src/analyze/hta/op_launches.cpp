// What operators launch: the sequence of kernels, the first launch's delay, and its kernel's delay.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "analyze/hta/spans.h"
#include "analyze/list.h"
#include "report/sheet.h"
#include "trace/asked_once.h"

namespace stepscope::analyze::hta {
namespace {

using report::Unit;

/// One call of an operator: its name, the names of the kernels it launched, the delays of the first launch.
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

/// Assigns each launch to the latest operator, on any thread, that contains it.
Calls calls_of(const trace::Trace& trace, const Table& table) {
  const auto& e = table.rank->events;
  trace::AskedOnce is_aten(trace.strings, [](std::string_view name) { return name.starts_with("aten::"); });
  trace::AskedOnce is_launch(trace.strings, is_kernel_launch);
  std::unordered_map<std::int64_t, std::pair<const Event*, int>> device;  // by correlation
  std::vector<std::size_t> ops, launches;
  for (std::size_t i = 0; i < table.events.size(); ++i) {
    const Event& event = table.events[i];
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
  std::unordered_map<std::size_t, const Event*> op_of;
  std::set<std::pair<Time, std::size_t>> open, ends;  // `open`: latest start first, then in table order
  std::size_t next = 0;
  for (const std::size_t at : in_time) {
    const Event& launch = table.events[at];
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
    const Event& launch = table.events[at];
    const auto op = op_of.find(at);
    const auto kernel = device.find(launch.correlation);
    if (op == op_of.end() || kernel == device.end() || kernel->second.second != 1) continue;
    const Event& work = *kernel->second.first;
    calls.add({table.rank->tracks[e.track[op->second->row]].tid, e.name[op->second->row], op->second->start},
              e.name[work.row], launch.start - op->second->start, work.start - launch.start);
  }
  return calls;
}

struct Means {
  std::int64_t count = 0;
  double launch_delay = 0, start_delay = 0;
};

/// Calls of one operator that launch one sequence. Delays are means in ns.
struct OpSequence {
  std::int64_t rank;
  std::string name, sequence;
  std::int64_t calls;
  double launch_delay, start_delay;
  std::int64_t length;  ///< device events of the sequence
};

std::string joined(const trace::Trace& trace, const std::vector<trace::StringId>& names) {
  std::string text;
  for (const trace::StringId name : names) (text += text.empty() ? "" : " -> ") += trace.text(name);
  return text;
}

/// Most frequent first.
std::vector<OpSequence> sequences_of(const trace::Trace& trace, const Table& table) {
  std::map<std::pair<trace::StringId, std::vector<trace::StringId>>, Means> by_ids;
  const Calls calls = calls_of(trace, table);
  for (const Call& call : calls.calls()) {
    Means& mean = by_ids[{call.op, call.kernels}];
    ++mean.count;
    mean.launch_delay += static_cast<double>(call.launch_delay);
    mean.start_delay += static_cast<double>(call.start_delay);
  }
  std::vector<OpSequence> rows;
  for (const auto& [key, mean] : by_ids) {
    const auto count = static_cast<double>(mean.count);
    rows.push_back({table.rank->rank, std::string(trace.text(key.first)), joined(trace, key.second),
                    mean.count, mean.launch_delay / count, mean.start_delay / count,
                    static_cast<std::int64_t>(key.second.size())});
  }
  std::sort(rows.begin(), rows.end(), [](const OpSequence& a, const OpSequence& b) {
    return a.calls != b.calls ? a.calls > b.calls
                              : std::tie(a.name, a.sequence) < std::tie(b.name, b.sequence);
  });
  return rows;
}

const report::Sheet<OpSequence> kSequences{"Operators and what they launch",
                                           report::Shape::table,
                                           {report::rank_field<OpSequence>(&OpSequence::rank),
                                            {"name", &OpSequence::name},
                                            {"sequence", &OpSequence::sequence},
                                            {"calls", &OpSequence::calls, Unit::count},
                                            {"launch_delay", &OpSequence::launch_delay, Unit::ns},
                                            {"start_delay", &OpSequence::start_delay, Unit::ns},
                                            {"length", &OpSequence::length, Unit::count}}};

}  // namespace

constinit const FormParams op_launches_params = {};

report::Report op_launches(const Derived& derived, const report::Params& params) {
  std::vector<OpSequence> rows;
  for (const Table& table : tables_of(derived, keep_of(params)))
    for (OpSequence& row : sequences_of(derived.trace(), table)) rows.push_back(std::move(row));
  report::Report report{"op_launches", {tabulate(kSequences, rows, derived.trace().several())}, {}};
  if (rows.empty()) report.notes.emplace_back(kNoLaunchNote);
  return report;
}

}  // namespace stepscope::analyze::hta
