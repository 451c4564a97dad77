#include "analyze/host/op_groups.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/key_hash.h"
#include "derive/roof/roof.h"
#include "derive/row_time.h"
#include "derive/work/op_args.h"
#include "trace/asked_once.h"

namespace stepscope::analyze {
namespace {

using derive::Claim;
using derive::Work;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::StringId;

/// Whether a range frames work and is no operator: step marks, loaders, optimizers, data-parallel wrappers.
bool frames_work(std::string_view name) {
  for (std::string_view head : {"ProfilerStep", "enumerate(DataLoader)#", "enumerate(DataPipe)#",
                                "Optimizer.", "DataParallel.forward", "DistributedDataParallel.forward"})
    if (name.starts_with(head)) return true;
  return false;
}

struct GroupKey {
  StringId name, detail;
  friend bool operator==(const GroupKey&, const GroupKey&) = default;
};
struct GroupKeyHash {
  std::size_t operator()(const GroupKey& k) const {
    return hash_of_all(process_hash_seed(), k.name, k.detail);
  }
};

/// Device and kernel facts that a roof needs, per device of a rank.
class Roofs {
 public:
  Roofs(const trace::Trace& trace, const Rank& rank, std::string_view device_name) : trace_(trace) {
    for (const trace::Device& d : rank.devices) {
      const std::string_view name = device_name.empty() ? std::string_view(d.name) : device_name;
      peaks_[d.id] = derive::peaks_of(name, d.compute_major, d.compute_minor, static_cast<int>(d.sm_count),
                                      static_cast<double>(d.total_memory));
    }
    if (!device_name.empty()) fallback_ = derive::peaks_of(device_name);
  }
  const derive::DevicePeaks* peaks(std::int64_t device) const {
    const auto found = peaks_.find(device);
    const auto& peaks = found != peaks_.end() ? found->second : fallback_;
    return peaks ? &*peaks : nullptr;
  }
  derive::KernelSetting setting(std::int64_t device) const {
    derive::KernelSetting setting;
    if (const derive::DevicePeaks* p = peaks(device)) {
      setting.vendor = p->vendor;
      setting.compute_major = p->compute_major;
      setting.compute_minor = p->compute_minor;
    }
    return setting;
  }
  derive::Roof of(const Work& work, const Claim& claim) const {
    const derive::DevicePeaks* p = peaks(claim.device);
    if (p == nullptr) return {};
    const derive::Precision precision =
        derive::precision_of(work.compute, trace_.text(claim.longest_kernel), setting(claim.device));
    return derive::roof_of(work, precision, *p, claim.kernels, claim.largest_grid);
  }

 private:
  const trace::Trace& trace_;
  std::unordered_map<std::int64_t, std::optional<derive::DevicePeaks>> peaks_;
  std::optional<derive::DevicePeaks> fallback_;
};

/// Gathers one rank's calls into groups.
class OpGroupGatherer {
 public:
  OpGroupGatherer(const trace::Trace& trace, const Rank& rank, const StepChoice& choice,
                  const OperatorQuestion& question)
      : trace_(trace),
        rank_(rank),
        e_(rank.events),
        choice_(choice),
        grouping_(question.grouping),
        times_(derive::row_times(rank)),
        work_(derive::op_work(trace, rank, question.convention)),
        roofs_(trace, rank, question.device_name),
        dims_(trace, rank, "Input Dims"),
        old_dims_(trace, rank, "Input dims"),
        stack_(trace, rank, "Call stack"),
        frames_work_(trace.strings, frames_work) {}

  OpGroups run() {
    group_of_.assign(e_.size(), kNoGroup);
    for (Row row = 0; row < e_.size() && !has_device_; ++row) has_device_ = is_device_work(e_.kind[row]);
    for (const trace::Track& track : rank_.tracks)
      if (track.side == trace::Track::Side::host) gather_track(track);
    for (const Claim& claim : work_.claims)
      if (group_of_[claim.row] != kNoGroup) add_work(groups_[group_of_[claim.row]], claim);
    add_matrix_time();
    return {std::move(groups_), has_device_};
  }

 private:
  static constexpr std::uint32_t kNoGroup = 0xFFFFFFFF;

  bool is_operator(Row row) {
    return e_.kind[row] == Kind::op && choice_.includes(rank_, row) && !frames_work_(e_.name[row]);
  }

  StringId detail(Row row) const {
    if (grouping_ == OpGrouping::name) return trace::kEmptyString;
    if (grouping_ == OpGrouping::stack) return stack_.id(row);
    const StringId dims = dims_.id(row);
    return dims != trace::kEmptyString ? dims : old_dims_.id(row);
  }

  /// Nested calls of one group count once in its totals: only the outermost call adds.
  void gather_track(const trace::Track& track) {
    open_.clear();
    for (Row row = track.begin; row < track.end; ++row) {
      if (!is_host_range(e_.kind[row])) continue;
      while (!open_.empty() && open_.back() != e_.parent[row]) close_last();
      if (is_operator(row)) add_call(row);
      open_.push_back(row);
    }
    while (!open_.empty()) close_last();
  }

  void close_last() {
    if (const std::uint32_t group = group_of_[open_.back()]; group != kNoGroup) --depth_[group];
    open_.pop_back();
  }

  void add_call(Row row) {
    const GroupKey key{e_.name[row], detail(row)};
    const auto [found, added] = index_.try_emplace(key, static_cast<std::uint32_t>(groups_.size()));
    if (added) {
      OpGroup group;
      group.name = key.name;
      group.detail = key.detail;
      groups_.push_back(group);
      depth_.push_back(0);
    }
    OpGroup& group = groups_[found->second];
    group_of_[row] = found->second;
    ++group.calls;
    group.host_self += times_.host_self[row];
    group.device_self += times_.device_self[row];
    if (depth_[found->second]++ == 0) {
      group.host_total += e_.duration(row);
      group.device_total += times_.device_total[row];
    }
    const std::uint32_t claim = work_.claim_of[row];
    group.counted_above |= claim != derive::OpWork::kNone && work_.claims[claim].row != row;
  }

  void add_work(OpGroup& group, const Claim& claim) {
    const Work& work = work_.works[claim.work];
    ++group.claims;
    const std::int64_t measured = has_device_ ? times_.device_total[claim.row] : e_.duration(claim.row);
    group.work_time += measured;
    if (work.flops_known) {
      group.flops_known = true;
      group.matrix_flops += static_cast<double>(work.matrix_flops);
      group.vector_flops += static_cast<double>(work.vector_flops);
      if (measured > 0) group.timed_flops += static_cast<double>(work.flops());
      group.flop_time += static_cast<double>(measured);
    }
    if (work.bytes_known) {
      group.bytes_known = true;
      group.bytes += static_cast<double>(work.bytes());
      if (measured > 0) group.timed_bytes += static_cast<double>(work.bytes());
      group.byte_time += static_cast<double>(measured);
    }
    group.unknown_claims += !work.flops_known || !work.bytes_known;
    const derive::Roof roof = roofs_.of(work, claim);
    group.time_by_bound[static_cast<std::size_t>(roof.bound)] += static_cast<double>(measured);
    if (roof.seconds > 0 && measured > 0) {
      group.roof_time += roof.seconds * 1e9;
      group.roof_measured += measured;
    }
    group.eligible |= derive::matrix_eligible(trace_.text(e_.name[claim.row]),
                                              with_dtype(roofs_.setting(claim.device), work.compute));
  }

  static derive::KernelSetting with_dtype(derive::KernelSetting setting, derive::DType dtype) {
    setting.dtype = dtype;
    return setting;
  }

  void add_matrix_time() {
    std::vector<std::int8_t> uses(trace_.strings.size(), -1);
    for (Row row = 0; row < e_.size(); ++row) {
      if (e_.kind[row] != Kind::kernel || e_.op[row] == kNoRow || group_of_[e_.op[row]] == kNoGroup) continue;
      std::int8_t& use = uses[e_.name[row]];
      if (use < 0)
        use = derive::matrix_cores_of(trace_.text(e_.name[row]),
                                      roofs_.setting(rank_.tracks[e_.track[row]].device))
                  .cores == derive::MatrixCores::yes;
      if (use == 1) groups_[group_of_[e_.op[row]]].matrix_time += e_.duration(row);
    }
  }

  const trace::Trace& trace_;
  const Rank& rank_;
  const trace::EventTable& e_;
  const StepChoice& choice_;
  const OpGrouping grouping_;
  derive::RowTimes times_;
  derive::OpWork work_;
  Roofs roofs_;
  trace::ArgReader dims_, old_dims_, stack_;
  trace::AskedOnce<bool (*)(std::string_view)> frames_work_;
  bool has_device_ = false;
  std::vector<std::uint32_t> group_of_;
  std::vector<OpGroup> groups_;
  std::vector<std::int32_t> depth_;
  std::vector<Row> open_;
  std::unordered_map<GroupKey, std::uint32_t, GroupKeyHash> index_;
};

}  // namespace

OpGroups op_groups(const trace::Trace& trace, const Rank& rank, const StepChoice& choice,
                   const OperatorQuestion& question) {
  return OpGroupGatherer(trace, rank, choice, question).run();
}

}  // namespace stepscope::analyze
