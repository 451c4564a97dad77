#include "compare/leaves.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "base/key_hash.h"
#include "compare/change.h"
#include "compare/places.h"
#include "compare/recording.h"
#include "derive/call_paths.h"
#include "derive/kernel_class.h"
#include "derive/kernel_kind.h"
#include "derive/thread_role.h"
#include "timeline/owner.h"
#include "trace/asked_once.h"

namespace stepscope::compare {
namespace {

using derive::kNoPath;
using derive::PathId;
using timeline::Claim;
using timeline::Interval;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;

constexpr int kHostClass = 1000;
constexpr const char* kNothing = "nothing is recorded";
constexpr const char* kSlowest = "the slowest rank, beyond the mean";

/// If several events overlap, the one with the highest number owns the instant: device work in the order of
/// the analysis `steps`, then the main and the backward threads, then the others.
int priority_of(const Rank& rank, trace::Row row, const std::vector<derive::ThreadRole>& roles) {
  const trace::EventTable& e = rank.events;
  switch (e.work[row]) {
    case trace::Work::compute:
      return 9;
    case trace::Work::communication:
      return 8;
    case trace::Work::copy:
      return 7;
    case trace::Work::fill:
      return 6;
    case trace::Work::none:
      break;
  }
  const derive::ThreadRole role = roles[e.track[row]];
  return role == derive::ThreadRole::main || role == derive::ThreadRole::backward ? 3 : 1;
}

int class_of(const trace::Trace& trace, const Rank& rank, trace::Row row) {
  const trace::Work work = rank.events.work[row];
  if (work == trace::Work::compute) return static_cast<int>(derive::kernel_kind(trace.name(rank, row)));
  return work == trace::Work::none ? kHostClass : kHostClass - 1 - static_cast<int>(work);
}

/// The leaves of all ranks, looked up by module, op path, side and kernel.
class Leaves {
 public:
  explicit Leaves(std::size_t samples) : samples_(samples) {}
  Leaf& of(Leaf leaf) {
    std::string key = leaf.module + '\n' + joined(leaf.op) + (leaf.device ? "\nd" : "\nh") + leaf.kernel;
    const auto [place, added] = places_.try_emplace(std::move(key), leaves_.size());
    if (added) {
      leaf.time.assign(samples_, 0);
      leaves_.push_back(std::move(leaf));
    }
    return leaves_[place->second];
  }
  std::size_t index_of(Leaf leaf) { return static_cast<std::size_t>(&of(std::move(leaf)) - leaves_.data()); }
  Leaf& operator[](std::size_t index) { return leaves_[index]; }
  std::vector<Leaf> take() { return std::move(leaves_); }

 private:
  std::size_t samples_;
  std::unordered_map<std::string, std::size_t> places_;
  std::vector<Leaf> leaves_;
};

/// Which sample a step belongs to, and the number of steps in each sample.
class StepSamples {
 public:
  explicit StepSamples(const CountedSteps& counted)
      : steps_(counted.steps.size()), size_(std::min(steps_, kMaxRowSamples)) {
    for (std::size_t step = 0; step < steps_; ++step) ++size_[of(step)];
  }
  std::size_t count() const { return size_.size(); }
  std::size_t of(std::size_t step) const { return step * size_.size() / steps_; }
  double steps_in(std::size_t sample) const { return size_[sample]; }

 private:
  std::size_t steps_;
  std::vector<double> size_;
};

/// Adds one rank's share of every step.
class RankLeaves {
 public:
  RankLeaves(const trace::Trace& trace, const Rank& rank, Leaves& leaves)
      : trace_(trace), rank_(rank), places_(trace, rank), leaves_(leaves) {}

  void add(std::size_t rank, const CountedSteps& counted, const StepSamples& samples) {
    const auto ranks = static_cast<double>(counted.steps.front().spans.size());
    std::vector<trace::Row> rows;
    std::vector<Claim> claims;
    Interval hull = counted.steps.front().spans[rank].span;
    for (const CountedStep& step : counted.steps)
      hull = {std::min(hull.begin, step.spans[rank].span.begin),
              std::max(hull.end, step.spans[rank].span.end)};
    collect(hull, rows, claims);
    const Column<timeline::Owned> pieces = timeline::owned_by(claims);
    for (std::size_t s = 0; s < counted.steps.size(); ++s) {
      const Interval step = counted.steps[s].spans[rank].span;
      const double weight = 1 / ranks / samples.steps_in(samples.of(s));
      timeline::Time left = step.length();
      auto piece =
          std::upper_bound(pieces.begin(), pieces.end(), step.begin,
                           [](timeline::Time t, const timeline::Owned& owned) { return t < owned.span.end; });
      for (; piece != pieces.end() && piece->span.begin < step.end; ++piece) {
        const timeline::Time own = timeline::overlap(piece->span, step);
        left -= own;
        Leaf& leaf = leaf_of(rows[piece->claim]);
        leaf.time[samples.of(s)] += static_cast<double>(own) * weight;
        leaf.first = std::min(leaf.first, std::max<std::int64_t>(0, piece->span.begin - step.begin));
      }
      if (left > 0) {
        Leaf nothing;
        nothing.kernel = kNothing;
        nothing.work_class = kHostClass;
        leaves_.of(std::move(nothing)).time[samples.of(s)] += static_cast<double>(left) * weight;
      }
    }
    count_calls(rank, counted);
  }

 private:
  void collect(Interval hull, std::vector<trace::Row>& rows, std::vector<Claim>& claims) {
    const trace::EventTable& e = rank_.events;
    const std::vector<derive::ThreadRole> roles = derive::thread_roles(trace_, rank_);
    trace::AskedOnce is_mark(trace_.strings, derive::is_step_mark);
    for (trace::Row row = 0; row < e.size(); ++row) {
      if (!is_device_work(e.kind[row]) && (!is_host_range(e.kind[row]) || is_mark(e.name[row]))) continue;
      const Interval span{e.start[row], e.end[row]};
      if (timeline::overlap(span, hull) == 0) continue;
      rows.push_back(row);
      claims.push_back({span, priority_of(rank_, row, roles)});
    }
  }

  /// Counts device events of the counted steps, including those that own no instant.
  void count_calls(std::size_t rank, const CountedSteps& counted) {
    const trace::EventTable& e = rank_.events;
    const double weight = 1 / static_cast<double>(counted.steps.size() * counted.steps.front().spans.size());
    std::vector<Interval> steps;
    for (const CountedStep& step : counted.steps) steps.push_back(step.spans[rank].span);
    for (const trace::Row row : rank_.device_rows()) {
      if (!is_device_work(e.kind[row])) continue;
      const auto after = std::upper_bound(steps.begin(), steps.end(), e.start[row],
                                          [](std::int64_t t, const Interval& s) { return t < s.begin; });
      if (after == steps.begin() || !(after - 1)->contains(e.start[row])) continue;
      Leaf& leaf = leaf_of(row);
      leaf.calls += weight;
      leaf.first = std::min(leaf.first, e.start[row] - (after - 1)->begin);
    }
  }

  Leaf& leaf_of(trace::Row row) {
    const trace::EventTable& e = rank_.events;
    const bool device = is_device_work(e.kind[row]);
    const trace::Row from = device ? derive::launched_from(e, row) : row;
    const bool named =
        device || e.kind[row] == Kind::runtime || e.kind[row] == Kind::io || e.kind[row] == Kind::io_library;
    const trace::StringId name = named ? e.name[row] : e.kind[row] == Kind::python ? kPython : kHostCode;
    const Key key{places_.module(from), places_.op(from), name};
    const auto known = known_.find(key);
    if (known != known_.end()) return leaves_[known->second];
    Leaf leaf;
    if (key.module != kNoPath) leaf.module = places_.module_name(key.module);
    leaf.op = places_.op_names(key.op);
    leaf.first_op = places_.first_op(key.op);
    // Host time is kept per outermost op, not per call inside it.
    if (!device && leaf.op.size() > leaf.first_op + 1) leaf.op.resize(leaf.first_op + 1);
    leaf.kernel = name == kPython     ? "Python"
                  : name == kHostCode ? "host code"
                                      : std::string(trace_.text(name));
    leaf.device = device;
    leaf.work_class = class_of(trace_, rank_, row);
    leaf.first = std::numeric_limits<std::int64_t>::max();
    const std::size_t index = leaves_.index_of(std::move(leaf));
    known_.emplace(key, index);
    return leaves_[index];
  }

  static constexpr trace::StringId kHostCode = trace::kNoString, kPython = trace::kNoString - 1;
  struct Key {
    PathId module, op;
    trace::StringId name;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return hash_of_all(process_hash_seed(), key.module, key.op, key.name);
    }
  };
  const trace::Trace& trace_;
  const Rank& rank_;
  Places places_;
  Leaves& leaves_;
  std::unordered_map<Key, std::size_t, Hash> known_;
};

void add_slowest(const CountedSteps& counted, const StepSamples& samples, Leaves& leaves) {
  if (counted.steps.front().spans.size() < 2) return;
  Leaf slowest;
  slowest.kernel = kSlowest;
  slowest.work_class = kHostClass;
  Leaf& leaf = leaves.of(std::move(slowest));
  for (std::size_t s = 0; s < counted.steps.size(); ++s) {
    double sum = 0, most = 0;
    for (const analyze::StepSpan& span : counted.steps[s].spans) {
      sum += static_cast<double>(span.span.length());
      most = std::max(most, static_cast<double>(span.span.length()));
    }
    const std::size_t sample = samples.of(s);
    leaf.time[sample] +=
        (most - sum / static_cast<double>(counted.steps[s].spans.size())) / samples.steps_in(sample);
  }
}

}  // namespace

std::string_view name_of_class(int work_class) {
  if (work_class >= 0 && work_class < static_cast<int>(derive::kKernelKinds))
    return derive::name_of(static_cast<derive::KernelKind>(work_class));
  if (work_class == kHostClass) return "host";
  if (work_class == kHostClass - 1 - static_cast<int>(trace::Work::communication)) return "communication";
  return work_class == kHostClass - 1 - static_cast<int>(trace::Work::copy) ? "copies" : "fills";
}

std::string joined(const std::vector<std::string>& names, std::size_t levels) {
  std::string out;
  for (std::size_t i = 0; i < std::min(levels, names.size()); ++i) out += (i == 0 ? "" : " › ") + names[i];
  return out;
}

std::vector<Leaf> leaves_of(const trace::Trace& trace, const CountedSteps& counted) {
  if (counted.steps.empty()) return {};
  const StepSamples samples(counted);
  Leaves leaves(samples.count());
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank)
    RankLeaves(trace, trace.ranks[rank], leaves).add(rank, counted, samples);
  add_slowest(counted, samples, leaves);
  std::vector<Leaf> out = leaves.take();
  std::stable_sort(out.begin(), out.end(),
                   [](const Leaf& a, const Leaf& b) { return mean_of(a.time) > mean_of(b.time); });
  return out;
}

}  // namespace stepscope::compare
