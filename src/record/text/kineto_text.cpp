#include "record/text/kineto_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/text.h"
#include "record/text/json_text.h"
#include "record/text/process_text.h"

namespace stepscope::record {
namespace {

constexpr std::int64_t kQuarter = 7'889'238'000'000'000;  // ns, 3 months, in which all bases are equal

constexpr std::string_view kCommand = "command=";
constexpr std::string_view kSourceLines = "sourceLines", kNotRecorded = "stepscope.not_recorded";

class Writer {
 public:
  Writer(const Recording& recording, const std::function<bool(std::string_view)>& take,
         std::span<const std::string> metadata, OpNames op_names)
      : recording_(recording),
        metadata_(metadata),
        base_(recording.begin_ns() - recording.begin_ns() % kQuarter),
        document_{EventText(take, base_), {}, 0, 0, op_names, {}},
        process_(recording, document_) {}

  Written run(std::span<const Recording* const> workers) {
    head(workers);
    if (document_.op_names == OpNames::plain)
      process_.limit(first_whole_ns(), recording_.full_ns() > 0 ? recording_.full_ns() : kForever);
    process_.events();
    process_.names(is_io(recording_) ? command_of(recording_) : "python", "CPU");
    told_pids_.insert(recording_.pid());
    for (const Recording* one : workers)
      if (document_.text.whole()) worker(*one);
    flows();
    tail();
    document_.text.pass_on();
    document_.written.whole = document_.text.whole();
    return document_.written;
  }

 private:
  static constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();

  std::int64_t first_whole_ns() const {
    return recording_.kept_from_ns() > 0 ? recording_.kept_from_ns()
                                         : std::numeric_limits<std::int64_t>::min();
  }

  void worker(const Recording& worker) {
    ProcessText text(worker, document_);
    if (!is_io(recording_))  // else a process that has ended before the others
      text.limit(std::max(recording_.begin_ns(), worker.kept_from_ns()),
                 recording_.stopped() ? recording_.end_ns() : kForever);
    const std::int64_t before = document_.written.events;
    text.events();
    if (document_.written.events == before || !told_pids_.insert(worker.pid()).second) return;
    text.names(is_io(worker) ? command_of(worker) : "DataLoader worker " + std::to_string(worker.worker()),
               "CPU");
  }

  static bool is_io(const Recording& recording) { return (recording.flags() & kIo) != 0; }

  /// What the process of an I/O recording runs.
  std::string command_of(const Recording& recording) {
    std::string command;
    for (const Segment& segment : recording.segments())
      metadata(segment, [&](std::string_view text) {
        if (text.starts_with(kCommand) && text.ends_with('"') && text.size() > kCommand.size() + 1)
          command = text.substr(kCommand.size() + 1, text.size() - kCommand.size() - 2);
      });
    std::erase(command, '\\');
    return command.empty() ? "process " + std::to_string(recording.pid()) : command;
  }

  void head(std::span<const Recording* const> workers) {
    out_ += R"({"schemaVersion": 1, "deviceProperties": [)";
    process_.devices().properties(out_);
    out_ += ']';
    process_.devices().metadata(out_);
    const std::uint32_t flags = recording_.flags();
    for (const auto& [flag, key] : {std::pair{kShapes, "record_shapes"}, std::pair{kMemory, "profile_memory"},
                                    std::pair{kStacks, "with_stack"}, std::pair{kFlops, "with_flops"},
                                    std::pair{kModules, "with_modules"}})
      if ((flags & flag) != 0) out_ += std::string(", \"") + key + "\": 1";
    out_ += R"(, "host_name": )";
    append_json(out_, recording_.host());
    const auto tell_all = [&](std::string_view text) { tell(text); };
    for (const Segment& segment : recording_.segments()) metadata(segment, tell_all);
    for (const Recording* one : workers)
      for (const Segment& segment : one->segments())
        metadata(segment, [&](std::string_view text) {
          const std::string_view key = text.substr(0, text.find('='));
          if (key != kSourceLines && !key.starts_with(kNotRecorded)) return;
          tell(renamed_.emplace_back(fmt::format("{} of {}{}", key, one->pid(), text.substr(key.size()))));
        });
    for (const std::string& text : metadata_) tell(text);
    write_metadata();
    if (recording_.dropped() > 0) {
      out_ += R"(, "stepscope.dropped_records": )";
      put(out_, static_cast<std::int64_t>(recording_.dropped()));
    }
    full(workers);
    if (recording_.kept_from_ns() > 0) {
      out_ += R"(, "stepscope.kept_from_ns": )";
      put(out_, std::max<std::int64_t>(0, recording_.kept_from_ns() - recording_.begin_ns()));
    }
    out_ += R"(, "stepscope.recording": 1)";
    if (!recording_.stopped() && !is_io(recording_)) out_ += R"(, "stepscope.not_stopped": 1)";
    out_ += R"(, "displayTimeUnit": "ms", "baseTimeNanoseconds": )";
    put(out_, base_);
    out_ += ", \"traceEvents\": [";
  }

  /// Since when records are missing, and why: of the recording that was full first, and how many were.
  void full(std::span<const Recording* const> workers) {
    std::vector<const Recording*> all{&recording_};
    all.insert(all.end(), workers.begin(), workers.end());
    std::erase_if(all, [](const Recording* one) { return one->full_ns() <= 0; });
    if (all.empty()) return;
    const Recording& first = **std::ranges::min_element(all, {}, &Recording::full_ns);
    std::uint64_t dropped = 0;
    for (const Recording* one : all) dropped += one->dropped();
    out_ += R"(, "stepscope.full": {"dropped": )";
    put(out_, static_cast<std::int64_t>(dropped));
    out_ += R"(, "after_ns": )";
    put(out_, std::max<std::int64_t>(0, first.full_ns() - recording_.begin_ns()));
    out_ += first.limit() == Limit::disk ? R"(, "disk": true)" : R"(, "disk": false)";
    if (first.limit() > Limit::disk)
      out_ += fmt::format(R"(, "limit": {})", static_cast<std::uint32_t>(first.limit()));
    if (all.size() > 1) out_ += fmt::format(R"(, "recordings": {})", all.size());
    out_ += '}';
  }

  /// Passes on the segment's metadata records, which are `key=JSON`.
  void metadata(const Segment& segment, const std::function<void(std::string_view)>& pass_on) {
    for_each_record(segment, [&](const Record& record, std::span<const char> bytes) {
      std::uint32_t length = 0;
      if (record.type != Type::metadata || bytes.size() < kTextBytes ||
          !copy_to(length, bytes.subspan(sizeof(Record))) || length > bytes.size() - kTextBytes)
        return;
      pass_on({bytes.data() + kTextBytes, length});
    });
  }

  /// Of values of the same key, the last counts.
  void tell(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) return;
    const auto [at, added] = values_.insert_or_assign(text.substr(0, equals), text.substr(equals + 1));
    if (added) keys_.push_back(at->first);
  }

  void write_metadata() {
    for (const std::string_view key : keys_) {
      out_ += ", ";
      append_json(out_, key);
      out_ += ": ";
      out_ += values_[key];
    }
  }

  /// Writes the flows of which both ends were recorded.
  void flows() {
    std::vector<FlowEnd>& ends = document_.flows;
    std::sort(ends.begin(), ends.end(), [](const FlowEnd& a, const FlowEnd& b) {
      return std::tie(a.id, a.ends, a.ns) < std::tie(b.id, b.ends, b.ns);
    });
    for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
      if (ends[i].id != ends[i + 1].id || ends[i].ends || !ends[i + 1].ends) continue;
      ++document_.arrows;
      arrow(ends[i]);
      arrow(ends[i + 1]);
    }
  }

  void arrow(const FlowEnd& end) {
    document_.text.begin(end.ends ? "f" : "s", "dataloader", "dataloader", end.pid, end.thread, end.ns);
    document_.text.arrow(document_.arrows, !end.ends);
    document_.text.pass_on_if_long();
  }

  void tail() {
    const std::int64_t begin = recording_.begin_ns(), end = recording_.end_ns();
    EventText& text = document_.text;
    if (is_io(recording_)) {
      out_ += "\n]}\n";
      return;
    }
    if (document_.op_names == OpNames::plain)
      text.begin("X", "Trace", "PyTorch Profiler (0)", recording_.pid(), 0, begin);
    else
      text.begin("X", "Trace", "PyTorch Profiler (0)", "Spans", "PyTorch Profiler", begin);
    text.duration(end - begin);
    EventArgs(out_).add("Op count", document_.written.events).end();
    if (document_.op_names == OpNames::with_overloads) {
      text.begin("i", "", "Iteration Start: PyTorch Profiler", "Traces", "Trace PyTorch Profiler", begin);
      out_ += R"(, "s": "g"})";
      text.begin("i", "", "Record Window End", "", "", end);
      out_ += R"(, "s": "g"})";
    }
    out_ += "\n]}\n";
  }

  const Recording& recording_;
  const std::span<const std::string> metadata_;
  const std::int64_t base_;
  Document document_;
  std::string& out_ = document_.text.out;
  ProcessText process_;
  std::vector<std::string_view> keys_;  // in order of their first value
  std::map<std::string_view, std::string_view> values_;
  std::deque<std::string> renamed_;    // texts of workers
  std::set<std::uint32_t> told_pids_;  // processes whose name is written
};

}  // namespace

Written write_kineto(const Recording& recording, const std::function<bool(std::string_view)>& take,
                     std::span<const std::string> metadata, std::span<const Recording* const> workers,
                     OpNames op_names) {
  return Writer(recording, take, metadata, op_names).run(workers);
}

}  // namespace stepscope::record
