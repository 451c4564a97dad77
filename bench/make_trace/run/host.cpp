#include "make_trace/run/host.h"

#include <algorithm>
#include <utility>

namespace stepscope::make_trace {
namespace {

constexpr std::int64_t kDeviceHeap = 0x7f0e4a000000;

}  // namespace

Host::Host(const Options& options, const Program& program, Collectives& collectives, int rank)
    : o_(options),
      program_(program),
      hw_(hardware_of(options.vendor)),
      collectives_(collectives),
      rank_(rank),
      jitter_(options.seed, options.noise_pct),
      device_(hw_, collectives, rank, program.comm_stream + program.comm_streams),
      allocator_(kDeviceHeap + (std::int64_t{rank} << 36), static_cast<std::int64_t>(options.held_gb * 1e9)),
      loader_(options.loader_workers, options.prefetch),
      addresses_(static_cast<std::size_t>(program.tensors), 0) {}

std::int64_t Host::lag_ns(Phase phase) const {
  double ms = 0;
  for (const Straggler& s : o_.stragglers) {
    if (s.rank == rank_ && s.phase == phase && (s.step == 0 || s.step == step_ + 1)) ms += s.ms;
  }
  return static_cast<std::int64_t>(ms * 1e6);
}

void Host::begin_step(int step, bool recorded) {
  pc_ = 0;
  step_ = step;
  place_ = Jitter::place(rank_, step);
  compute_factor_ = 1;
  if (program_.device_ns > 0)
    compute_factor_ += static_cast<double>(lag_ns(Phase::compute)) / static_cast<double>(program_.device_ns);
  recorded_ = recorded;
  for (auto& [members, issued] : issued_)
    issued.before += static_cast<std::int64_t>(std::exchange(issued.in_step, 0));
  rows_.clear();
  rows_.step = step;
  rows_.host_start = now_;
}

bool Host::run() {
  while (pc_ < program_.instrs.size()) {
    if (!execute(program_.instrs[pc_])) return false;
    ++pc_;
  }
  rows_.host_end = now_;
  return true;
}

bool Host::execute(const Instr& instr) {
  switch (instr.act) {
    case Act::think:
      pass_jittered(instr, doing_here());
      break;
    case Act::open:
      open(instr);
      break;
    case Act::close:
      close(instr);
      break;
    case Act::call:
    case Act::record_event:
    case Act::wait_event: {
      HostRow& row = call_row(instr.info, 0);
      pass_jittered(instr, Doing::runtime);
      row.end = now_;
      if (instr.act == Act::record_event) device_.record_event(instr.slot, instr.stream);
      if (instr.act == Act::wait_event) device_.wait_event(instr.slot, instr.stream);
      break;
    }
    case Act::launch:
      return launch(instr);
    case Act::blocking_copy:
      return blocking_copy(instr);
    case Act::synchronize:
      return synchronize(instr);
    case Act::take_batch:
      take_batch(instr);
      break;
    case Act::lag:
      lag(instr);
      break;
    case Act::allocate:
      allocate(instr);
      break;
    case Act::release:
      release(instr);
      break;
    case Act::empty_cache:
      return empty_cache(instr);
    case Act::on_thread:
      thread_ = static_cast<std::uint8_t>(instr.slot);
      break;
    case Act::only_in:
      if (!chosen(instr.steps)) pc_ += instr.slot;
      break;
    case Act::restart_workers:
      loader_.restart(now_ + jittered(instr));
      break;
  }
  return true;
}

void Host::pass(std::int64_t ns, Doing doing) {
  if (ns <= 0) return;
  const auto& spans = open_[kMainThread];
  if (std::ranges::any_of(spans, &Open::loader)) doing = Doing::input;
  std::vector<Segment>& segments = rows_.segments;
  if (!segments.empty() && segments.back().doing == doing && segments.back().end == now_) {
    segments.back().end += ns;
  } else {
    segments.push_back({now_, now_ + ns, doing});
  }
  now_ += ns;
}

/// Unlike the device, the host shares its cores: it is slower in contended steps.
std::int64_t Host::jittered(const Instr& instr) const {
  const std::int64_t ns = jitter_.stretch(instr.ns, place_, 2 * instr.key);
  if (step_ < kContendedFrom || step_ > kContendedTo) return ns;
  return static_cast<std::int64_t>(static_cast<double>(ns) * o_.contention);
}

bool Host::chosen(const Steps& steps) const {
  return steps.every > 0 ? (step_ + o_.warmup) % steps.every == steps.first : step_ == steps.first;
}

void Host::pass_jittered(const Instr& instr, Doing doing) { pass(jittered(instr), doing); }

Doing Host::doing_here() const { return innermost(SpanKind::op) != nullptr ? Doing::op : Doing::other; }

const Host::Open* Host::innermost(SpanKind kind) const {
  const auto& spans = open_[thread_];
  const auto found =
      std::find_if(spans.rbegin(), spans.rend(), [&](const Open& o) { return o.kind == kind; });
  return found == spans.rend() ? nullptr : &*found;
}

void Host::open(const Instr& instr) {
  const SpanInfo& info = program_.spans[instr.info];
  HostRow row;
  row.thread = thread_;
  row.info = instr.info;
  row.start = now_;
  row.index = next_index_++;
  Open span{rows_.host.size(), info.kind, 0, 0, info.loader};
  if (info.kind == SpanKind::python) {
    const Open* caller = innermost(SpanKind::python);
    row.parent = caller != nullptr ? caller->python : 1;
    row.python = span.python = next_python_++;
  } else {
    row.external = span.external = next_external_++;
  }
  if (info.sequence >= 0) row.sequence = sequence_base_ + info.sequence;
  rows_.host.push_back(row);
  open_[thread_].push_back(span);
  pass_jittered(instr, doing_here());
}

void Host::close(const Instr& instr) {
  pass_jittered(instr, doing_here());
  rows_.host[open_[thread_].back().row].end = now_;
  open_[thread_].pop_back();
}

HostRow& Host::call_row(std::uint32_t call, std::uint32_t work) {
  HostRow row;
  row.kind = HostKind::call;
  row.thread = thread_;
  row.info = call;
  row.work = work;
  row.start = row.end = now_;
  row.correlation = next_correlation_++;
  const Open* op = innermost(SpanKind::op);
  row.external = op != nullptr ? op->external : 0;
  rows_.host.push_back(row);
  return rows_.host.back();
}

void Host::take_batch(const Instr& instr) {
  const std::int64_t k = batches_++;
  if (instr.slot > 0) {
    std::int64_t batch_ns = jitter_.stretch(instr.bytes, place_, 2 * instr.key + 1);
    if (k % kBurstEvery == kBurstEvery - 1) batch_ns += static_cast<std::int64_t>(o_.burst_ms * 1e6);
    const std::int64_t ready = loader_.ready(k, batch_ns);
    pass(ready - now_, Doing::input);
  }
  pass_jittered(instr, Doing::input);
  if (instr.slot > 0) loader_.take(k, now_);
}

void Host::lag(const Instr& instr) {
  const auto phase = static_cast<Phase>(instr.slot);
  pass(jitter_.stretch(lag_ns(phase), place_, 2 * instr.key),
       phase == Phase::input ? Doing::input : doing_here());
}

}  // namespace stepscope::make_trace
