#include "analyze/host/host_work.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "derive/replay/host_scale.h"
#include "derive/roof/op_work.h"
#include "derive/shape_windows.h"
#include "report/statistics.h"
#include "trace/asked_once.h"

namespace stepscope::analyze {
namespace {

using derive::Claim;
using derive::OpWork;
using report::Unit;
using trace::EventTable;
using trace::Rank;
using trace::Row;

struct WorkSum {
  double calls = 0;
  std::int64_t time = 0, chained = 0;
};
using WorkKey = std::pair<OpKind, derive::DType>;

/// Sums over one rank's calls that claim their work, and over the runs of element-wise calls among them.
class HostWorkGatherer {
 public:
  HostWorkGatherer(const trace::Trace& trace, const Rank& rank, timeline::Interval window)
      : e_(rank.events),
        windows_(trace, rank, window),
        work_(derive::op_work(trace, rank, derive::Convention::exact)),
        is_elementwise_(trace.strings, derive::is_elementwise) {}

  std::map<WorkKey, WorkSum> run(const Rank& rank, const StepChoice& choice) {
    for (const Claim& claim : work_.claims) {
      const bool element = is_elementwise_(e_.name[claim.row]);
      const derive::Work& work = work_.works[claim.work];
      if (!choice.includes(rank, claim.row) || windows_.lacks(claim.row)) continue;
      if (!element || (!chain_.empty() && !follows(claim))) close();
      if (element) chain_.push_back(&claim);
      WorkSum& sum = sums_[key_of(work, element)];
      sum.calls += windows_.call_scale(e_.name[claim.row]);
      report::add_to(sum.time, time_of(claim));
    }
    close();
    return std::move(sums_);
  }

 private:
  static WorkKey key_of(const derive::Work& work, bool element) {
    const OpKind kind = work.matrix_flops > 0 ? OpKind::product
                        : element             ? OpKind::element_wise
                                              : OpKind::other;
    return {kind, work.compute};
  }
  /// Whether `claim` is the next operator on the same thread and writes equally many bytes.
  bool follows(const Claim& claim) const {
    const Claim& last = *chain_.back();
    if (e_.track[last.row] != e_.track[claim.row] ||
        work_.works[last.work].bytes_written != work_.works[claim.work].bytes_written)
      return false;
    for (Row row = last.row + 1; row < claim.row; ++row)
      if (e_.kind[row] == trace::Kind::op && e_.start[row] >= e_.end[last.row] &&
          e_.end[row] <= e_.start[claim.row])
        return false;
    return true;
  }
  /// Ends a run of k element-wise calls. Each passes over all elements; fused, one pass remains.
  void close() {
    const auto k = static_cast<std::int64_t>(chain_.size());
    for (const Claim* claim : chain_)
      report::add_to(sums_[key_of(work_.works[claim->work], true)].chained, time_of(*claim) / k * (k - 1));
    chain_.clear();
  }

  std::int64_t time_of(const Claim& claim) const {
    return derive::scaled(e_.duration(claim.row), windows_.time_scale(e_.name[claim.row]));
  }

  const EventTable& e_;
  const derive::ShapeWindows windows_;
  const OpWork work_;
  trace::AskedOnce<bool (*)(std::string_view)> is_elementwise_;
  std::vector<const Claim*> chain_;
  std::map<WorkKey, WorkSum> sums_;
};

}  // namespace

std::string_view name_of(OpKind kind) {
  constexpr std::string_view kNames[] = {"element-wise", "other", "product"};
  return kNames[static_cast<std::size_t>(kind)];
}

const report::Sheet<HostWork> kWorkSheet{
    "Work of operators",
    report::Shape::table,
    {report::rank_field<HostWork>(&HostWork::rank),
     {"kind", report::named<&HostWork::kind>},
     {"dtype", report::named<&HostWork::dtype>},
     {"calls", &HostWork::calls, Unit::count},
     {"time", &HostWork::time, Unit::ns},
     {"mean", +[](const HostWork& w) { return report::mean(w.time, w.calls); }, Unit::ns},
     {"chained", &HostWork::chained, Unit::ns}}};

void add_host_work(std::vector<HostWork>& work, const Derived& derived, const Rank& rank) {
  const auto first = static_cast<std::ptrdiff_t>(work.size());
  for (const auto& [key, sum] :
       HostWorkGatherer(derived.trace(), rank, window_of(rank, derived.choice())).run(rank, derived.choice()))
    work.push_back({rank.rank, key.first, key.second, std::llround(sum.calls), sum.time, sum.chained});
  std::sort(work.begin() + first, work.end(), [](const HostWork& a, const HostWork& b) {
    return a.time != b.time ? a.time > b.time
                            : std::tuple(name_of(a.kind), name_of(a.dtype)) <
                                  std::tuple(name_of(b.kind), name_of(b.dtype));
  });
}

}  // namespace stepscope::analyze
