// The host and its device: queueing work, waiting for it.
#include <algorithm>
#include <utility>

#include "make_trace/run/host.h"

namespace stepscope::make_trace {
namespace {

constexpr std::int64_t kQueueReturn =
    2000;  // from a free place in the launch queue to the return of the launch

}  // namespace

void Host::describe(Meeting& meeting, const Instr& instr) const {
  if (meeting.transfer_ns > 0) return;
  double network_ms = 0;
  for (const Straggler& s : o_.stragglers) {
    if (s.phase == Phase::network && (s.step == 0 || s.step == step_ + 1)) network_ms += s.ms;
  }
  const WorkInfo& work = program_.works[instr.info];
  const Members& who = work.members;
  meeting.bytes = work.bytes;
  if (who.message) {  // either end may come first
    const std::uint64_t key =
        mix(static_cast<std::uint64_t>(who.first), static_cast<std::uint64_t>(who.at(1)));
    const auto ns = static_cast<std::int64_t>(static_cast<double>(work.device_ns) * o_.network_scale);
    meeting.transfer_ns =
        std::max<std::int64_t>(1, jitter_.stretch(ns, Jitter::place(-1, step_), mix(key, meeting.index)));
    return;
  }
  const double share = static_cast<double>(work.bytes) / static_cast<double>(program_.collective_bytes);
  const auto slow_link = static_cast<std::int64_t>(network_ms * 1e6 * share);
  const auto transfer =
      static_cast<std::int64_t>(static_cast<double>(work.device_ns + slow_link) * o_.network_scale);
  meeting.transfer_ns =
      std::max<std::int64_t>(1, jitter_.stretch(transfer, Jitter::place(-1, step_), 2 * instr.key));
}

/// Host time to launch the work, ns.
std::int64_t Host::launch_ns(const WorkInfo& work, std::int64_t ns) const {
  const bool kernel = work.kind == WorkKind::kernel || work.kind == WorkKind::collective;
  return kernel ? static_cast<std::int64_t>(static_cast<double>(ns) * o_.launch_scale) : ns;
}

std::size_t Host::submit(const Instr& instr, std::int64_t launch_start) {
  const WorkInfo& work = program_.works[instr.info];
  Activity activity;
  activity.stream = instr.stream;
  activity.ready = now_ + launch_ns(work, jitter_.stretch(hw_.launch_latency_ns, place_, 2 * instr.key + 1));
  DeviceRow row;
  row.work = instr.info;
  row.stream = instr.stream;
  row.launch_start = launch_start;
  row.correlation = rows_.host.back().correlation;
  row.external = rows_.host.back().external;
  const Open* annotation = innermost(SpanKind::annotation);
  row.annotation = annotation != nullptr ? static_cast<std::uint32_t>(annotation->row) + 1 : 0;
  if (work.kind == WorkKind::collective) {
    Issued& issued = issued_[work.members];
    const std::size_t k = issued.in_step++, number = collectives_.number(work.members, k);
    activity.meeting = static_cast<int>(number);
    row.collective = collectives_.first_number() + static_cast<std::int64_t>(number);
    row.sequence = work.members.message ? messages_++ : issued.before + static_cast<std::int64_t>(k);
    describe(collectives_.meeting(number), instr);
    for (const Open& span : open_[thread_]) {
      if (!program_.spans[rows_.host[span.row].info].comm_args.empty()) {
        rows_.host[span.row].sequence = row.sequence;
      }
    }
  } else {
    const double clock = step_ >= kThrottledFrom ? o_.slow_clock : 1.0;
    const bool meant = work.name.find(o_.kernel_scale.part) != std::string::npos;
    const double scale = meant ? o_.kernel_scale.factor : 1.0;
    const double factor = work.kind == WorkKind::kernel ? compute_factor_ * clock * scale : 1.0;
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
  pass(launch_ns(program_.works[instr.info], jittered(instr)), Doing::launch);
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

}  // namespace stepscope::make_trace
