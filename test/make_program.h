// A made training loop for tests of rules: all steps are the same, and one problem can be planted.
#pragma once

#include <fmt/format.h>

#include <string>

#include "advise/verdict.h"
#include "make_rank.h"

namespace stepscope::test {

/// Each step: loading, then preparing the batch, then rounds of [host work, a launch of 5 µs whose kernel
/// starts 1 µs later], then a pause. Times in µs.
struct Program {
  struct Range {
    std::string category = "cpu_op", name;  ///< `{}` in a name is the round's number
    int length = 0;
  };
  int steps = 4, rounds = 20;
  Range loading{"user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0};
  int first_loading = 0;  ///< extra time in the first step
  Range prepare, work{"cpu_op", "aten::mm", 50}, pause;
  bool launch_inside = false;         ///< the launch is part of the host work's range
  std::string kernel = "k", op_args;  // "{}" in op_args: a number that grows
  int kernel_length = 50;
};

class EventText {
 public:
  void add(const Program::Range& range, int from, int round = 0, const std::string& args = "") {
    if (range.length > 0 && !range.name.empty())
      add(range.category, fmt::format(fmt::runtime(range.name), round), 5, 5, from, range.length, args);
  }
  void add(const std::string& category, const std::string& name, int pid, int tid, int from, int length,
           const std::string& args = "") {
    text_ += fmt::format(
        R"J({}{{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}})J",
        text_.empty() ? "" : ",", category, name, pid, tid, from, length, args);
  }
  void counter(const std::string& name, int pid, int at, std::int64_t value) {
    text_ += fmt::format(
        R"J({}{{"ph": "C", "cat": "", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "args": {{"value": {}}}}})J",
        text_.empty() ? "" : ",", name, pid, pid, at, value);
  }
  /// From one moment of a process to one of another; not the first event.
  void arrow(const std::string& category, int id, int from_pid, int from, int to_pid, int to) {
    for (const bool begins : {true, false})
      text_ += fmt::format(
          R"J(,{{"ph": "{}", "cat": "{}", "name": "{}", "id": {}, "pid": {}, "tid": {}, "ts": {}, "bp": "e"}})J",
          begins ? "s" : "f", category, category, id, begins ? from_pid : to_pid, begins ? from_pid : to_pid,
          begins ? from : to);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

inline std::string events_of(const Program& p) {
  EventText events;
  int at = 0, id = 0;
  for (int step = 1; step <= p.steps; ++step) {
    const int begin = at;
    Program::Range loading = p.loading;
    if (step == 1) loading.length += p.first_loading;
    for (const Program::Range& range : {loading, p.prepare}) {
      events.add(range, at);
      at += range.length;
    }
    for (int round = 0; round < p.rounds; ++round) {
      Program::Range work = p.work;
      work.length += p.launch_inside ? 5 : 0;
      events.add(work, at, round, fmt::format(fmt::runtime(p.op_args), step * p.rounds + round));
      at += p.work.length;
      const std::string link = fmt::format(R"("correlation": {})", ++id);
      events.add("cuda_runtime", "cudaLaunchKernel", 5, 5, at, 5, link);
      events.add("kernel", p.kernel, 0, 7, at + 6, p.kernel_length, R"("device": 0, "stream": 7, )" + link);
      at += 5;
    }
    events.add(p.pause, at);
    at += p.pause.length;
    events.add("user_annotation", fmt::format("ProfilerStep#{}", step), 5, 5, begin, at - begin);
  }
  return events.text();
}

/// Findings about the program.
class Advice {
 public:
  explicit Advice(const Program& program) : Advice(events_of(program)) {}
  explicit Advice(const std::string& events) { judge(open_events(events)); }
  explicit Advice(const trace::Trace& trace) { judge(trace); }
  /// `head`: members of the file before its events, each with a comma.
  Advice(const std::string& head, const std::string& events) {
    judge(open_json("{\"schemaVersion\": 1, " + head + "\"traceEvents\": [" + events + "]}"));
  }
  Cells ids() const { return cells(report_.tables[1], "id"); }
  bool has(const char* id) const { return cell(id, "id") == id; }
  /// A cell of the finding `id`; "none" without the finding.
  std::string cell(const char* id, const char* column) const {
    const Cells all = ids();
    const auto at = static_cast<std::size_t>(std::find(all.begin(), all.end(), id) - all.begin());
    return at < all.size() ? cells(report_.tables[1], column)[at] : "none";
  }
  std::string verdict(const char* column) const { return cells(report_.tables[0], column)[0]; }

 private:
  void judge(const trace::Trace& trace) {
    const analyze::Derived derived(trace, {});
    report_ = as_report(advise::verdict(derived, advise::gather(derived, 1), 1));
  }
  report::Report report_;
};

}  // namespace stepscope::test
