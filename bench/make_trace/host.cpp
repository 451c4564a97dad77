#include "make_trace/host.h"

#include <algorithm>

namespace stepscope::make_trace {
namespace {

constexpr std::int64_t kSyncReturn = 7000;   // from the end of the awaited work to the return of the call
constexpr std::int64_t kQueueReturn = 2000;  // from a free place in the launch queue to the return
constexpr std::int64_t kDeviceHeap = 0x7f0e4a000000;

}  // namespace

Host::Host(const Options& options, const Program& program, Collectives& collectives, int rank)
    : o_(options),
      program_(program),
      hw_(hardware_of(options.vendor)),
      collectives_(collectives),
      rank_(rank),
      jitter_(options.seed, options.noise_pct),
      device_(hw_, collectives, rank, program.comm_stream + 1),
      allocator_(kDeviceHeap + (std::int64_t{rank} << 36)),
      loader_(options.loader_workers),
      addresses_(static_cast<std::size_t>(program.tensors), 0) {
  const std::int64_t compute_lag = lag_ns(Phase::compute);
  if (compute_lag > 0 && program.device_ns > 0) {
    compute_factor_ += static_cast<double>(compute_lag) / static_cast<double>(program.device_ns);
  }
}

std::int64_t Host::lag_ns(Phase phase) const {
  double ms = 0;
  for (const Straggler& s : o_.stragglers) {
    if (s.rank == rank_ && s.phase == phase) ms += s.ms;
  }
  return static_cast<std::int64_t>(ms * 1e6);
}

void Host::begin_step(int step, bool recorded) {
  pc_ = 0;
  step_ = step;
  place_ = Jitter::place(rank_, step);
  recorded_ = recorded;
  collectives_issued_ = 0;
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

void Host::describe(Meeting& meeting, const Instr& instr) const {
  if (meeting.transfer_ns > 0) return;
  double network_ms = 0;
  for (const Straggler& s : o_.stragglers) {
    if (s.phase == Phase::network) network_ms += s.ms;
  }
  const WorkInfo& work = program_.works[instr.info];
  const double share = static_cast<double>(work.bytes) / static_cast<double>(program_.collective_bytes);
  const auto slow_link = static_cast<std::int64_t>(network_ms * 1e6 * share);
  meeting.bytes = work.bytes;
  meeting.transfer_ns = jitter_.stretch(work.device_ns + slow_link, Jitter::place(-1, step_), 2 * instr.key);
}

std::size_t Host::submit(const Instr& instr, std::int64_t launch_start) {
  const WorkInfo& work = program_.works[instr.info];
  Activity activity;
  activity.stream = instr.stream;
  activity.ready = now_ + jitter_.stretch(hw_.launch_latency_ns, place_, 2 * instr.key + 1);
  DeviceRow row;
  row.work = instr.info;
  row.stream = instr.stream;
  row.launch_start = launch_start;
  row.correlation = rows_.host.back().correlation;
  row.external = rows_.host.back().external;
  const Open* annotation = innermost(SpanKind::annotation);
  row.annotation = annotation != nullptr ? static_cast<std::uint32_t>(annotation->row) + 1 : 0;
  if (work.kind == WorkKind::collective) {
    const std::size_t k = collectives_issued_++;
    activity.meeting = static_cast<int>(k);
    row.collective = collectives_.first_sequence() + static_cast<std::int64_t>(k);
    describe(collectives_.meeting(k), instr);
    for (const Open& span : open_[thread_]) {
      if (!program_.spans[rows_.host[span.row].info].comm_args.empty()) {
        rows_.host[span.row].sequence = row.collective;
      }
    }
  } else {
    const double factor = work.kind == WorkKind::kernel ? compute_factor_ : 1.0;
    const auto ns = static_cast<std::int64_t>(static_cast<double>(work.device_ns) * factor);
    activity.duration = jitter_.stretch(ns, place_ + 1, 2 * instr.key + 1);
  }
  rows_.device.push_back(row);
  return device_.submit(std::move(activity));
}

void Host::end_step() {
  device_.settle();
  const std::vector<Activity>& activities = device_.activities();
  for (std::size_t i = 0; i < activities.size(); ++i) {
    rows_.device[i].start = activities[i].start;
    rows_.device[i].end = activities[i].end;
  }
  device_.next_step();
  sequence_base_ += program_.sequences;
}

std::optional<HostRow> Host::drain(bool recorded) {
  const std::int64_t start = now_;
  now_ = std::max(now_ + 5000, device_.idle_from(-1) + kSyncReturn);
  if (!recorded) return std::nullopt;
  HostRow row;
  row.kind = HostKind::call;
  row.start = start;
  row.end = now_;
  row.info = program_.device_sync;
  row.correlation = next_correlation_++;
  return row;
}

bool Host::launch(const Instr& instr) {
  const std::int64_t accepted = device_.accepts_from();
  if (accepted == kUnknown) return false;
  const std::int64_t start = now_;
  const std::size_t row = rows_.host.size();
  call_row(program_.works[instr.info].call, instr.info + 1);
  pass_jittered(instr, Doing::launch);
  if (accepted > start) pass(accepted + kQueueReturn - now_, Doing::sync);
  rows_.host[row].end = now_;
  submit(instr, start);
  return true;
}

bool Host::blocking_copy(const Instr& instr) {
  if (!awaited_) {
    blocked_since_ = now_;
    call_row(program_.works[instr.info].call, instr.info + 1);
    pass_jittered(instr, Doing::runtime);
    awaited_ = submit(instr, blocked_since_);
  }
  const std::int64_t end = device_.end_of(*awaited_);
  if (end == kUnknown) return false;
  pass(end + kSyncReturn - now_, Doing::sync);
  rows_.host.back().end = now_;
  awaited_.reset();
  return true;
}

bool Host::synchronize(const Instr& instr) {
  const std::int64_t idle = device_.idle_from(instr.stream);
  if (idle == kUnknown) return false;
  const std::size_t row = rows_.host.size();
  call_row(instr.info, 0);
  pass_jittered(instr, Doing::sync);
  pass(idle + kSyncReturn - now_, Doing::sync);
  rows_.host[row].end = now_;
  return true;
}

void Host::take_batch(const Instr& instr) {
  const std::int64_t k = batches_++;
  if (instr.slot > 0) {
    const std::int64_t ready = loader_.ready(k, jitter_.stretch(instr.bytes, place_, 2 * instr.key + 1));
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

void Host::remember_memory(std::int64_t address, std::int64_t bytes) {
  if (!recorded_ || !o_.memory) return;
  rows_.memory.push_back({thread_, now_, address, bytes, allocator_.allocated(), allocator_.reserved()});
}

void Host::allocate(const Instr& instr) {
  std::int64_t& address = addresses_[instr.slot];
  if (address != 0) return;  // the gradient of the last step is still there
  const Allocator::Grant grant = allocator_.allocate(instr.bytes);
  if (grant.from_device) {
    const std::size_t row = rows_.host.size();
    call_row(instr.info, 0);
    pass_jittered(instr, Doing::alloc);
    rows_.host[row].end = now_;
  }
  address = grant.address;
  remember_memory(grant.address, grant.bytes);
}

void Host::release(const Instr& instr) {
  std::int64_t& address = addresses_[instr.slot];
  if (address == 0) return;
  const std::int64_t before = allocator_.allocated();
  allocator_.release(address);
  remember_memory(address, allocator_.allocated() - before);
  address = 0;
}

bool Host::empty_cache(const Instr& instr) {
  const std::int64_t idle = device_.idle_from(-1);
  if (idle == kUnknown) return false;
  const int blocks = allocator_.empty_cache();
  for (int i = 0; i < blocks; ++i) {
    const std::size_t row = rows_.host.size();
    call_row(instr.info, 0);
    if (i == 0) pass(idle + kSyncReturn - now_, Doing::alloc);
    pass_jittered(instr, Doing::alloc);
    rows_.host[row].end = now_;
  }
  return true;
}

}  // namespace stepscope::make_trace
