// What each operator costs on the host and the device, how much work it does, and how near that is to the
// device's roof.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "analyze/list.h"
#include "analyze/question.h"
#include "analyze/tb/tb.h"
#include "base/key_hash.h"
#include "derive/roof/op_work.h"
#include "derive/roof/roof.h"
#include "derive/row_time.h"
#include "derive/work/op_args.h"

namespace stepscope::analyze {
namespace {

using derive::Claim;
using derive::Work;
using report::Role;
using report::Shape;
using report::Unit;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::StringId;

enum class Grouping : std::uint8_t { name, shape, stack };

Grouping grouping_of(const report::Params& params) {
  const std::string_view group = params.text("group", "name");
  return group == "shape" ? Grouping::shape : group == "stack" ? Grouping::stack : Grouping::name;
}

/// Ranges that frame work and are no operators: step marks, loaders, optimizers, data-parallel wrappers.
bool frames_work(std::string_view name) {
  for (std::string_view head : {"ProfilerStep", "enumerate(DataLoader)#", "enumerate(DataPipe)#",
                                "Optimizer.", "DataParallel.forward", "DistributedDataParallel.forward"})
    if (name.starts_with(head)) return true;
  return false;
}

struct Group {
  StringId name = 0, detail = 0;
  std::int64_t calls = 0, host_total = 0, host_self = 0, device_total = 0, device_self = 0;
  std::int64_t matrix_time = 0;  ///< device time of its own kernels that use matrix units
  bool eligible = false, counted_above = false;
  // Work of the calls that claim, and the device time under them.
  std::int64_t claims = 0, unknown_claims = 0, work_time = 0, roof_measured = 0;
  double matrix_flops = 0, vector_flops = 0, bytes = 0, roof_time = 0;
  double timed_flops = 0, flop_time = 0, timed_bytes = 0, byte_time = 0;  ///< of calls whose time is known
  bool flops_known = false, bytes_known = false;
  double time_by_bound[7] = {};
};

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
class Gatherer {
 public:
  Gatherer(const trace::Trace& trace, const Rank& rank, const StepChoice& choice, Grouping grouping,
           derive::Convention convention, std::string_view device_name)
      : trace_(trace),
        rank_(rank),
        e_(rank.events),
        choice_(choice),
        grouping_(grouping),
        times_(derive::row_times(rank)),
        work_(derive::op_work(trace, rank, convention)),
        roofs_(trace, rank, device_name),
        dims_(trace, rank, "Input Dims"),
        old_dims_(trace, rank, "Input dims"),
        stack_(trace, rank, "Call stack"),
        frame_(trace.strings.size(), -1) {}

  std::vector<Group> run() {
    group_of_.assign(e_.size(), kNoGroup);
    for (Row row = 0; row < e_.size() && !has_device_; ++row) has_device_ = is_device_work(e_.kind[row]);
    for (const trace::Track& track : rank_.tracks)
      if (track.side == trace::Track::Side::host) gather_track(track);
    for (const Claim& claim : work_.claims)
      if (group_of_[claim.row] != kNoGroup) add_work(groups_[group_of_[claim.row]], claim);
    add_matrix_time();
    return std::move(groups_);
  }
  bool has_device() const { return has_device_; }

 private:
  static constexpr std::uint32_t kNoGroup = 0xFFFFFFFF;

  bool is_operator(Row row) {
    if (e_.kind[row] != Kind::op || !choice_.includes(rank_, row)) return false;
    std::int8_t& frame = frame_[e_.name[row]];
    if (frame < 0) frame = frames_work(trace_.text(e_.name[row]));
    return frame == 0;
  }

  StringId detail(Row row) const {
    if (grouping_ == Grouping::name) return trace::kEmptyString;
    if (grouping_ == Grouping::stack) return stack_.id(row);
    const StringId dims = dims_.id(row);
    return dims != trace::kEmptyString ? dims : old_dims_.id(row);
  }

  /// Nested calls of one group count once in its totals: only the outermost open call adds.
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
      Group group;
      group.name = key.name;
      group.detail = key.detail;
      groups_.push_back(group);
      depth_.push_back(0);
    }
    Group& group = groups_[found->second];
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

  void add_work(Group& group, const Claim& claim) {
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
  const Grouping grouping_;
  derive::RowTimes times_;
  derive::OpWork work_;
  Roofs roofs_;
  trace::ArgReader dims_, old_dims_, stack_;
  std::vector<std::int8_t> frame_;
  bool has_device_ = false;  ///< without any device event the host time of an op is the time of its work
  std::vector<std::uint32_t> group_of_;
  std::vector<Group> groups_;
  std::vector<std::int32_t> depth_;
  std::vector<Row> open_;
  std::unordered_map<GroupKey, std::uint32_t, GroupKeyHash> index_;
};

struct Columns {
  Columns(const trace::Trace& trace, Grouping grouping)
      : rank(table, trace),
        name(table.texts("name")),
        detail(grouping == Grouping::name
                   ? nullptr
                   : &table.texts(grouping == Grouping::shape ? "input_shape" : "call_stack")),
        calls(table.ints("calls", Unit::count)),
        device_self(table.ints("device_self", Unit::ns)),
        device_total(table.ints("device_total", Unit::ns)),
        host_self(table.ints("host_self", Unit::ns)),
        host_total(table.ints("host_total", Unit::ns)),
        eligible(table.texts("tensor_core_eligible", Role::detail)),
        matrix(table.reals("tensor_core_share", Unit::share, Role::detail)),
        matrix_flops(table.reals("matrix_flops", Unit::flop, Role::detail)),
        flops(table.reals("flops", Unit::flop, Role::detail)),
        bytes(table.reals("bytes", Unit::bytes, Role::detail)),
        work_time(table.ints("work_time", Unit::ns, Role::detail)),
        flop_rate(table.reals("flop_rate", Unit::flop_per_s)),
        byte_rate(table.reals("byte_rate", Unit::bytes_per_s)),
        intensity(table.reals("intensity", Unit::flop_per_byte, Role::detail)),
        bound(table.texts("bound", Role::value)),
        roof(table.reals("share_of_roof", Unit::share, Role::value)),
        work(table.texts("work", Role::detail)) {}
  report::Table table{"Operators", Shape::table, {}};
  RankColumn rank;
  report::Texts& name;
  report::Texts* detail;
  report::Ints &calls, &device_self, &device_total, &host_self, &host_total;
  report::Texts& eligible;
  report::Reals &matrix, &matrix_flops, &flops, &bytes;
  report::Ints& work_time;
  report::Reals &flop_rate, &byte_rate, &intensity;
  report::Texts& bound;
  report::Reals& roof;
  report::Texts& work;
};

std::string_view dominant_bound(const Group& g) {
  std::size_t most = 0;
  for (std::size_t i = 1; i < std::size(g.time_by_bound); ++i)
    if (g.time_by_bound[i] > g.time_by_bound[most]) most = i;
  return g.time_by_bound[most] > 0 && most != 0 ? derive::name_of(static_cast<derive::Bound>(most))
                                                : std::string_view{};
}

double rate(double amount, double ns) { return ns > 0 ? amount / (ns * 1e-9) : report::kNoReal; }

void add_group(Columns& out, const trace::Trace& trace, const Rank& rank, const Group& g, bool has_device) {
  out.rank.add(rank);
  out.name.emplace_back(trace.text(g.name));
  if (out.detail != nullptr) out.detail->emplace_back(trace.text(g.detail));
  out.calls.push_back(g.calls);
  out.device_self.push_back(has_device ? g.device_self : report::kNoInt);
  out.device_total.push_back(has_device ? g.device_total : report::kNoInt);
  out.host_self.push_back(g.host_self);
  out.host_total.push_back(g.host_total);
  out.eligible.emplace_back(g.claims == 0 ? "" : g.eligible ? "yes" : "no");
  out.matrix.push_back(g.device_self > 0 ? std::min(1.0, static_cast<double>(g.matrix_time) /
                                                             static_cast<double>(g.device_self))
                                         : report::kNoReal);
  const bool has_flops = g.flops_known, has_bytes = g.bytes_known;
  out.matrix_flops.push_back(has_flops ? g.matrix_flops : report::kNoReal);
  out.flops.push_back(has_flops ? g.matrix_flops + g.vector_flops : report::kNoReal);
  out.bytes.push_back(has_bytes ? g.bytes : report::kNoReal);
  out.work_time.push_back(g.claims > 0 ? g.work_time : report::kNoInt);
  out.flop_rate.push_back(rate(g.timed_flops, g.flop_time));
  out.byte_rate.push_back(rate(g.timed_bytes, g.byte_time));
  out.intensity.push_back(has_flops && g.bytes > 0 ? (g.matrix_flops + g.vector_flops) / g.bytes
                                                   : report::kNoReal);
  out.bound.emplace_back(dominant_bound(g));
  out.roof.push_back(g.roof_measured > 0 ? g.roof_time / static_cast<double>(g.roof_measured)
                                         : report::kNoReal);
  out.work.emplace_back(g.claims > 0      ? (g.unknown_claims > 0 ? "partly known" : "counted here")
                        : g.counted_above ? "counted above"
                                          : "unknown");
}

void note_coverage(const Rank& rank, const std::vector<Group>& groups, report::Report& report) {
  std::int64_t device = 0, covered = 0;
  for (const Group& g : groups) {
    device += g.device_self;
    covered += g.work_time;
  }
  bool shapes = false;
  for (const Group& g : groups) shapes |= g.claims > 0;
  if (!shapes && !groups.empty())
    report.notes.push_back(fmt::format(
        "{}: no shapes were recorded, so FLOPs and bytes are empty. Record with record_shapes=True.",
        rank.path));
  else if (device > 0)
    report.notes.push_back(fmt::format(
        "{}: FLOPs or bytes are known for operators that hold {:.1f} % of the device time launched by "
        "operators.",
        rank.path, 100.0 * static_cast<double>(std::min(covered, device)) / static_cast<double>(device)));
}

/// Says so when `--device-name` names no device whose peaks are known.
void note_unknown_device(std::string_view name, report::Report& report) {
  if (name.empty() || derive::peaks_of(name)) return;
  std::string known;
  for (const derive::PeakRow& row : derive::peak_table()) {
    std::string match(row.match);
    std::replace(match.begin(), match.end(), '*', ' ');
    known += (known.empty() ? "" : ", ") + match;
  }
  report.notes.push_back(fmt::format(
      "--device-name: no peaks are known for '{}', so bound and share_of_roof are empty. Known are {}.", name,
      known));
}

}  // namespace

constexpr report::ParamSpec kParams[] = {
    {"group", report::ParamSpec::Type::choice, "name", "name|shape|stack",
     "a row per operator, or per operator and input shape or call stack"},
    {"convention", report::ParamSpec::Type::choice, "exact", "exact|torch|tracelens",
     "whose FLOPs: ours, torch's FlopCounterMode, or TraceLens's"},
    {"device-name", report::ParamSpec::Type::text, "", "",
     "the device whose peaks apply, e.g. H100, when the file does not say"},
    kTbCompat,
};

constinit const About operators_about = {kParams};

report::Report operators(const trace::Trace& trace, const report::Params& params) {
  if (params.flag("tb-compat")) return tb_operators(trace, params);
  const StepChoice choice(params);
  const Grouping grouping = grouping_of(params);
  const std::string_view convention = params.text("convention", "exact");
  const auto whose = convention == "torch"       ? derive::Convention::torch
                     : convention == "tracelens" ? derive::Convention::tracelens
                                                 : derive::Convention::exact;
  report::Report report{"operators", {}, {}};
  note_unknown_device(params.text("device-name"), report);
  Columns out(trace, grouping);
  for (const Rank& rank : trace.ranks) {
    Gatherer gatherer(trace, rank, choice, grouping, whose, params.text("device-name"));
    std::vector<Group> groups = gatherer.run();
    std::sort(groups.begin(), groups.end(), [&](const Group& a, const Group& b) {
      if (a.device_self != b.device_self) return a.device_self > b.device_self;
      if (a.host_self != b.host_self) return a.host_self > b.host_self;
      if (a.name != b.name) return trace.text(a.name) < trace.text(b.name);
      return trace.text(a.detail) < trace.text(b.detail);
    });
    for (const Group& group : groups) add_group(out, trace, rank, group, gatherer.has_device());
    note_coverage(rank, groups, report);
  }
  report.tables.push_back(std::move(out.table));
  return report;
}

}  // namespace stepscope::analyze
