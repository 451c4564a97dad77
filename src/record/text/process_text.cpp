#include "record/text/process_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "record/io/text.h"
#include "record/text/inputs_text.h"
#include "record/text/json_text.h"
#include "record/text/members.h"

namespace stepscope::record {
namespace {

/// Sampled calls have a track of their own beside their thread's: their ends are not exact, so they would not
/// nest with ops. No kernel gives a thread this number.
constexpr std::uint32_t kSampledTrack = 1U << 30;

/// Texts of inputs that are kept for the next ops with the same inputs.
constexpr std::size_t kMostInputs = 1 << 14;

}  // namespace

void ProcessText::events() {
  add_up_memory();
  for (std::size_t i = 0; i < recording_.segments().size(); ++i)
    if (document_.text.whole()) events(i);
  ops_by_begin();
  for (const auto& [thread, op, name, path] : others_) call(thread, op, name, path);
  sampled_.finish();
  calls_.finish();
  links();
  devices_.events(document_.text);
  written_.events += IoText(recording_).events(document_.text, first_ns_, last_ns_);
}

void ProcessText::begin_event(std::string_view phase, std::string_view category, std::string_view name,
                              std::uint32_t thread, std::int64_t ns) {
  document_.text.begin(phase, category, name, recording_.pid(), thread, ns);
}

void ProcessText::events(std::size_t of_segment) {
  const Segment& segment = recording_.segments()[of_segment];
  const Texts& texts = texts_.emplace_back(segment);
  for_each_record(segment, [&](const Record& record, std::span<const char> bytes) {
    if (record.type == Type::op) op(of_segment, bytes);
    if (record.type == Type::memory) memory(segment, bytes);
    if (record.type == Type::sample) sample(texts, bytes);
    if (record.type == Type::flow) flow(segment, bytes);
    if (record.type == Type::counter) counter(segment, texts, bytes);
    document_.text.pass_on_if_long();
  });
}

void ProcessText::op(std::size_t segment, std::span<const char> bytes) {
  Op op;
  if (!copy_to(op, bytes)) return;
  if (op.scope >= kPythonScope) return call_of(recording_.segments()[segment], texts_[segment], op, bytes);
  WrittenOp told{.begin_ns = recording_.times().ns(op.begin),
                 .end_ns = recording_.times().ns(op.end),
                 .number = ++numbered_,
                 .segment = static_cast<std::uint32_t>(segment),
                 .name = op.value,
                 .signature = op.signature,
                 .scope = op.scope,
                 .may_contain_calls = devices_.wants(op)};
  const bool is_left_out = told.begin_ns < first_ns_ || told.end_ns > last_ns_;
  flows_in(told, !is_left_out);
  if (is_left_out) return;
  sequence_of(told, op, bytes);
  if (document_.op_names == OpNames::plain)
    write_op(told);
  else
    ops_.push_back(told);
}

/// Writes the ops that are left in the order of function events.
void ProcessText::ops_by_begin() {
  std::sort(ops_.begin(), ops_.end(), [](const WrittenOp& a, const WrittenOp& b) {
    return std::tie(a.begin_ns, b.end_ns, b.number) < std::tie(b.begin_ns, a.end_ns, a.number);
  });
  for (const WrittenOp& op : ops_) {
    if (!document_.text.whole()) break;
    write_op(op);
    document_.text.pass_on_if_long();
  }
  ops_ = {};
}

void ProcessText::write_op(const WrittenOp& op) {
  const Texts& texts = texts_[op.segment];
  const std::uint32_t thread = recording_.segments()[op.segment].thread;
  const bool is_range = op.scope == kUserScope, plain = document_.op_names == OpNames::plain;
  const std::string_view overload = texts.overload(op.name);
  std::string name(texts[op.name]);
  if (!overload.empty() && !plain) (name += '.') += overload;
  begin_event("X", is_range ? "user_annotation" : "cpu_op", name, thread, op.begin_ns);
  document_.text.duration(op.end_ns - op.begin_ns);
  EventArgs args(out_);
  args.add("External id", ++document_.ops).add("Ev Idx", written_.events++);
  args.add("Record function id", op.number);
  if (!overload.empty() && plain) args.add("Overload name", overload);
  if (op.may_contain_calls)
    devices_.add({thread, op.begin_ns, op.end_ns, document_.ops}, is_range, texts[op.name]);
  if (op.sequence >= 0)
    args.add("Sequence number", op.sequence)
        .add("Fwd thread id", static_cast<std::int64_t>(op.forward_thread));
  if (const std::string_view members = texts.members(op.signature); is_range && are_members(members))
    (out_ += ", ") += members;
  if (const std::string_view signature = texts.signature(op.signature); !signature.empty()) {
    if (inputs_.size() >= kMostInputs) inputs_.clear();
    const auto [known, added] = inputs_.try_emplace(signature);
    if (added) known->second = inputs_text(known->first, plain ? ListedInputs::all : ListedInputs::as_torch);
    out_ += known->second;
  }
  args.end();
}

/// Calls recorded by another thread are written after all calls that their own thread recorded: those ended
/// earlier.
void ProcessText::call_of(const Segment& segment, const Texts& texts, const Op& op,
                          std::span<const char> bytes) {
  const std::string_view path = op.scope == kModuleScope ? texts[op.signature] : "";
  SequencedOp other;
  if ((op.flags & kOtherThread) == 0)
    call(segment.thread, op, texts[op.value], path);
  else if (copy_to(other, bytes))
    others_.push_back({static_cast<std::uint32_t>(other.forward_thread), op, texts[op.value], path});
}

void ProcessText::call(std::uint32_t thread, const Op& op, std::string_view name, std::string_view path) {
  PythonCall call{thread, op.depth, name, recording_.times().ns(op.begin), recording_.times().ns(op.end)};
  call.path = path;
  call.is_module = op.scope == kModuleScope;
  call.ended_late = (op.flags & kEndedLate) != 0;
  add_call(call);
}

void ProcessText::add_call(PythonCall call) {
  call.ids = python_ids_.next(call.track, call.depth);
  calls_.add(call);
}

void ProcessText::write_call(const PythonCall& call) {
  begin_event("X", "python_function", call.name, call.track, call.begin_ns);
  document_.text.duration(call.end_ns - call.begin_ns);
  EventArgs args(out_);
  args.add("Ev Idx", written_.events++).add("Python id", call.ids.id);
  if (call.ids.parent == 0)
    args.key("Python parent id") += "null";
  else
    args.add("Python parent id", call.ids.parent);
  const std::size_t number = call.name.rfind('_');
  if (call.is_module && number != call.name.npos) {
    std::int64_t id = 0;
    std::from_chars(call.name.data() + number + 1, call.name.data() + call.name.size(), id);
    args.add("Python module id", id);
  }
  if (!call.path.empty()) args.add("Module path", call.path);
  if (call.ended_late) args.key("finished") += "false";
  if (call.samples > 0) args.add("sampled", call.track & ~kSampledTrack).add("samples", call.samples);
  args.end();
  document_.text.pass_on_if_long();
}

void ProcessText::sample(const Texts& texts, std::span<const char> bytes) {
  Sample sample;
  if (!copy_to(sample, bytes) || sample.count > (bytes.size() - sizeof sample) / sizeof(std::uint32_t))
    return;
  std::vector<std::string_view> names;
  std::uint32_t id = 0;
  for (std::size_t i = 0; i < sample.count; ++i)
    if (copy_to(id, bytes.subspan(sizeof sample + i * sizeof id))) names.push_back(texts[id]);
  sampled_threads_.insert(sample.value & ~kSampledTrack);
  sampled_.sample(sample.value & ~kSampledTrack, recording_.times().ns(sample.tick),
                  std::int64_t{sample.period_us} * 1000, names);
}

void ProcessText::sampled_call(const SampledCall& call) {
  add_call({call.thread | kSampledTrack, call.depth, call.name, call.begin_ns, call.end_ns, call.samples});
}

/// Also keeps it for the arrows. The engine's op has the number of the backward op inside it: ops are
/// recorded as they end, so that one came before it.
void ProcessText::sequence_of(WrittenOp& told, const Op& op, std::span<const char> bytes) {
  const Segment& segment = recording_.segments()[told.segment];
  SequencedOp own{};
  const bool has_own = (op.flags & kHasSequence) != 0 && copy_to(own, bytes);
  if (has_own && own.sequence >= 0) {
    told.sequence = own.sequence;
    told.forward_thread = own.forward_thread;
    const bool backward = op.scope == kBackwardScope && own.forward_thread != 0;
    if (backward || own.forward_thread == 0)
      sequenced_.push_back({backward ? own.forward_thread : segment.torch_thread, own.sequence, told.begin_ns,
                            segment.thread, backward});
  }
  if (op.scope == kBackwardScope) {
    ran_last_[segment.thread] = {op.begin, has_own ? own.sequence : -1, own.forward_thread};
  } else if (!has_own && texts_[told.segment][op.value].starts_with(kEngineOp)) {
    const auto ran = ran_last_.find(segment.thread);
    if (ran == ran_last_.end() || ran->second.begin < op.begin) return;
    told.sequence = ran->second.sequence;
    told.forward_thread = ran->second.forward_thread;
  }
}

/// Computes the total of main memory after each record; a thread records only its own changes.
void ProcessText::add_up_memory() {
  std::vector<std::size_t> by_time;
  std::vector<std::pair<std::uint64_t, std::int64_t>> changes;  // tick, bytes
  for (const Segment& segment : recording_.segments())
    for_each_record(segment, [&](const Record& record, std::span<const char> bytes) {
      Memory memory;
      if (record.type != Type::memory || !copy_to(memory, bytes) || memory.device_type() != 0) return;
      by_time.push_back(changes.size());
      changes.emplace_back(memory.tick, (memory.value & kNotInTotal) != 0 ? 0 : memory.bytes);
    });
  std::stable_sort(by_time.begin(), by_time.end(),
                   [&](std::size_t a, std::size_t b) { return changes[a].first < changes[b].first; });
  totals_.resize(changes.size());
  std::uint64_t total = 0;  // may wrap around if the file is damaged
  for (const std::size_t i : by_time)
    totals_[i] = static_cast<std::int64_t>(total += static_cast<std::uint64_t>(changes[i].second));
}

void ProcessText::memory(const Segment& segment, std::span<const char> bytes) {
  Memory memory;
  if (!copy_to(memory, bytes)) return;
  begin_event("i", "cpu_instant_event", "[memory]", segment.thread, recording_.times().ns(memory.tick));
  out_ += R"(, "s": "t")";
  EventArgs args(out_);
  args.add("Device Type", memory.device_type()).add("Device Id", memory.device_index());
  args.add("Addr", static_cast<std::int64_t>(memory.address)).add("Bytes", memory.bytes);
  if (memory.device_type() == 0 && next_total_ < totals_.size()) {
    args.add("Total Allocated", totals_[next_total_++]);
    if (document_.op_names == OpNames::with_overloads) args.add("Total Reserved", std::int64_t{0});
  }
  if (DeviceMemory device; memory.device_type() != 0 && copy_to(device, bytes))
    args.add("Total Allocated", static_cast<std::int64_t>(device.allocated))
        .add("Total Reserved", static_cast<std::int64_t>(device.reserved));
  args.add("Ev Idx", written_.events++).end();
}

void ProcessText::counter(const Segment& segment, const Texts& texts, std::span<const char> bytes) {
  Counter counter;
  if (!copy_to(counter, bytes) || !std::isfinite(counter.number)) return;
  begin_event("C", "", texts[counter.value], segment.thread, recording_.times().ns(counter.tick));
  EventArgs args(out_);
  put_real(args.key("value"), counter.number);
  args.end();
  ++written_.events;
}

void ProcessText::flow(const Segment& segment, std::span<const char> bytes) {
  Flow flow;
  if (!copy_to(flow, bytes)) return;
  open_flows_[segment.thread].push_back(
      {flow.id, flow.value == 0, recording_.times().ns(flow.tick), recording_.pid(), segment.thread});
}

void ProcessText::flows_in(const WrittenOp& op, bool is_written) {
  const auto found = open_flows_.find(recording_.segments()[op.segment].thread);
  if (found == open_flows_.end()) return;
  std::erase_if(found->second, [&](const FlowEnd& end) {
    if (end.ns < op.begin_ns || end.ns > op.end_ns) return false;
    if (is_written) document_.flows.push_back(end);
    return true;
  });
}

void ProcessText::links() {
  for (const ForwardLink& link : forward_links(std::move(sequenced_))) {
    ++document_.arrows;
    for (const bool start : {true, false}) {
      const SequencedEvent& at = start ? link.forward : link.backward;
      begin_event(start ? "s" : "f", "fwdbwd", "fwdbwd", at.thread, at.begin_ns);
      document_.text.arrow(document_.arrows, start);
    }
    document_.text.pass_on_if_long();
  }
}

EventArgs ProcessText::about(std::string_view what, std::uint32_t thread) {
  begin_event("M", "", what, thread, recording_.begin_ns());
  return EventArgs(out_);
}

void ProcessText::names(std::string_view process, std::string_view label) {
  about("process_name", 0).add("name", process).end();
  about("process_labels", 0).add("labels", label).end();
  about("process_sort_index", 0).add("sort_index", std::int64_t{recording_.pid()}).end();
  std::set<std::uint32_t> told;
  for (const Segment& segment : recording_.segments())
    if (!devices_.wrote(segment) && told.insert(segment.thread).second)
      about("thread_name", segment.thread)
          .add("name", "thread " + std::to_string(segment.thread) + " (" + segment.thread_name + ")")
          .end();
  for (const std::uint32_t thread : sampled_threads_)
    about("thread_name", thread | kSampledTrack)
        .add("name", "thread " + std::to_string(thread) + ", sampled")
        .end();
}

}  // namespace stepscope::record
