#include "record/events/execution_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/text.h"
#include "record/events/node_inputs.h"
#include "record/interned.h"
#include "record/text/json_text.h"

namespace stepscope::record {
namespace {

constexpr std::string_view kSchema = "1.1.1-chakra.0.0.4";
constexpr std::string_view kProcess = "[pytorch|profiler|execution_trace|process]",
                           kThread = "[pytorch|profiler|execution_trace|thread]";
constexpr std::int64_t kRoot = 1;
constexpr std::size_t kPiece = std::size_t{256} * 1024;

struct OpRow {
  std::int64_t begin, end;
  std::int64_t id;  // in order of writing: ops that end at the same instant are written inner first
  std::uint32_t thread, name, inputs;
  std::int64_t sequence = -1;
  std::uint64_t forward_thread = 0;
  std::uint8_t scope = 0;
  bool is_async = false;
};

/// A thread, and the ops that are open on it while its ops are walked by begin.
struct Thread {
  struct Open {
    std::int64_t end, node;
  };
  std::uint64_t number = 0;  // PyTorch's number; the kernel's id if PyTorch has none
  std::int64_t node = 0;
  std::vector<Open> open;

  std::int64_t around(const OpRow& op) {
    while (!open.empty() && (op.begin >= open.back().end || op.end > open.back().end)) open.pop_back();
    return open.empty() ? node : open.back().node;
  }
  std::int64_t innermost(std::int64_t at) const {
    for (auto it = open.rbegin(); it != open.rend(); ++it)
      if (it->end > at) return it->node;
    return node;
  }
};

struct Attributes {
  std::int64_t rf_id = 0, forward_parent = 0, sequence = -1, scope = kUserScope;
  std::uint64_t thread = 0, forward_thread = 0;
};

class Writer {
 public:
  Writer(const Recording& recording, const std::function<bool(std::string_view)>& take)
      : recording_(recording), take_(take) {}

  void run(std::string_view process_groups) {
    for (const Segment& segment : recording_.segments()) read(segment);
    std::sort(ops_.begin(), ops_.end(), [](const OpRow& a, const OpRow& b) {
      return std::tie(a.begin, b.end, b.id) < std::tie(b.begin, a.end, a.id);
    });
    head();
    node(kRoot, kProcess, kRoot, node_inputs(""), {});
    if (!process_groups.empty()) {
      std::string text;
      append_json(text, process_groups);
      node(++last_node_, "## process_group:init ##", kRoot,
           R"("values": [)" + text + R"(], "shapes": [[]], "types": ["String"], "strides": [[]])", {});
    }
    for (const OpRow& op : ops_) {
      if (!whole_) return;
      write(op);
    }
    out_ += fmt::format("\n  ],\n  \"finish_ts\": {}\n}}\n", recording_.end_ns() / 1'000'000);
    pass_on();
  }

 private:
  void read(const Segment& segment) {
    const Texts texts(segment);
    const std::uint32_t own = thread_of(segment.thread);
    if (segment.torch_thread != 0) threads_[own].number = segment.torch_thread;
    std::map<std::uint32_t, std::uint32_t> signatures;  // from the segment's ids to ids in inputs_
    for_each_record(segment, [&](const Record& record, std::span<const char> bytes) {
      Op op;
      if (record.type != Type::op || !copy_to(op, bytes) || op.scope >= kPythonScope) return;
      OpRow row{recording_.times().ns(op.begin),
                recording_.times().ns(op.end),
                ++count_,
                own,
                names_.id(texts[op.value]),
                0};
      row.end = std::max(row.begin, row.end);
      row.scope = op.scope;
      row.is_async = (op.flags & kAsync) != 0;
      if (const std::string_view signature = texts.signature(op.signature); !signature.empty()) {
        const auto [known, is_new] = signatures.try_emplace(op.signature, 0);
        if (is_new) known->second = inputs_.id(node_inputs(signature));
        row.inputs = known->second;
      }
      SequencedOp more;
      if ((op.flags & (kHasSequence | kOtherThread)) != 0 && copy_to(more, bytes)) {
        row.sequence = more.sequence;
        if ((op.flags & kOtherThread) != 0)
          row.thread = thread_of(static_cast<std::uint32_t>(more.forward_thread));
        else if (more.sequence >= 0)
          row.forward_thread = more.forward_thread;
      }
      ops_.push_back(row);
    });
  }

  std::uint32_t thread_of(std::uint32_t id) {
    const auto [at, added] = thread_of_.try_emplace(id, static_cast<std::uint32_t>(threads_.size()));
    if (added) threads_.push_back({id, 0, {}});
    return at->second;
  }

  void head() {
    const std::time_t seconds = recording_.begin_ns() / 1'000'000'000;
    std::tm local{};
    char text[32] = "";
    if (::localtime_r(&seconds, &local) != nullptr) std::strftime(text, sizeof text, "%F %T", &local);
    out_ += fmt::format(R"({{"schema": "{}", "pid": {}, "time": "{}", "start_ts": {},)"
                        "\n  \"nodes\": [",
                        kSchema, recording_.pid(), text, recording_.begin_ns() / 1'000'000);
  }

  void write(const OpRow& op) {
    Thread& thread = threads_[op.thread];
    if (thread.node == 0) {
      thread.node = ++last_node_;
      node(thread.node, kThread, kRoot, node_inputs(""), {.thread = thread.number});
    }
    const std::int64_t id = ++last_node_;
    const std::int64_t parent = op.is_async ? thread.node : thread.around(op);
    Attributes about{op.id, 0, op.sequence, op.scope, thread.number, op.forward_thread};
    if (op.forward_thread != 0)
      for (const Thread& one : threads_)
        if (one.number == op.forward_thread) about.forward_parent = one.innermost(op.begin);
    if (!op.is_async) thread.open.push_back({op.end, id});
    node(id, names_[op.name], parent, inputs_[op.inputs], about);
  }

  void node(std::int64_t id, std::string_view name, std::int64_t parent, std::string_view inputs,
            const Attributes& about) {
    const auto out = std::back_inserter(out_);
    fmt::format_to(out, R"({}{{"id": {}, "name": )", id == kRoot ? "\n" : ",\n", id);
    append_json(out_, name);
    fmt::format_to(
        out,
        R"(, "ctrl_deps": {}, "inputs": {{{}}}, "outputs": {{"values": [], "shapes": [], "types": [], )"
        R"("strides": []}}, "attrs": [)",
        parent, inputs);
    const auto number = [&](std::string_view key, std::string_view type, std::int64_t value) {
      fmt::format_to(out, R"({{"name": "{}", "type": "{}", "value": {}}}, )", key, type, value);
    };
    number("rf_id", "uint64", about.rf_id);
    number("fw_parent", "uint64", about.forward_parent);
    number("seq_id", "int64", about.sequence);
    number("scope", "uint64", about.scope);
    number("tid", "uint64", static_cast<std::int64_t>(about.thread));
    number("fw_tid", "uint64", static_cast<std::int64_t>(about.forward_thread));
    out_ += R"({"name": "op_schema", "type": "string", "value": ""}, )"
            R"({"name": "kernel_backend", "type": "string", "value": ""}, )"
            R"({"name": "kernel_file", "type": "string", "value": ""}]})";
    if (out_.size() >= kPiece) pass_on();
  }

  void pass_on() {
    if (whole_) whole_ = take_(out_);
    out_.clear();
  }

  const Recording& recording_;
  const std::function<bool(std::string_view)>& take_;
  std::string out_;
  bool whole_ = true;
  std::int64_t count_ = 0, last_node_ = kRoot;
  std::vector<OpRow> ops_;
  std::vector<Thread> threads_;
  std::map<std::uint32_t, std::uint32_t> thread_of_;  // by the thread's kernel id
  Interned names_, inputs_ = none();

  static Interned none() {
    Interned first;
    first.id(node_inputs(""));
    return first;
  }
};

}  // namespace

void write_execution_trace(const Recording& recording, std::string_view process_groups,
                           const std::function<bool(std::string_view)>& take) {
  Writer(recording, take).run(process_groups);
}

}  // namespace stepscope::record
