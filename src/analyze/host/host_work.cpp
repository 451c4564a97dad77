#include "analyze/host/host_work.h"

#include <algorithm>
#include <map>
#include <string>

#include "derive/roof/op_work.h"
#include "derive/work/dtype.h"
#include "report/statistics.h"
#include "trace/asked_once.h"

namespace stepscope::analyze {
namespace {

using derive::Claim;
using derive::OpWork;
using report::Role;
using report::Unit;
using trace::EventTable;
using trace::Rank;
using trace::Row;

struct Sum {
  std::int64_t calls = 0, time = 0, chained = 0;
};
using Key = std::pair<std::string_view, std::string_view>;  // kind, type

/// Sums of one rank's calls that claim their work, and of the runs of element-wise ones among them.
class Gatherer {
 public:
  Gatherer(const trace::Trace& trace, const Rank& rank)
      : e_(rank.events),
        work_(derive::op_work(trace, rank, derive::Convention::exact)),
        is_elementwise_(trace.strings, derive::is_elementwise) {}

  std::map<Key, Sum> run(const Rank& rank, const StepChoice& choice) {
    for (const Claim& claim : work_.claims) {
      const bool element = is_elementwise_(e_.name[claim.row]);
      const derive::Work& work = work_.works[claim.work];
      if (!choice.includes(rank, claim.row)) continue;
      if (!element || (!chain_.empty() && !follows(claim))) close();
      if (element) chain_.push_back(&claim);
      Sum& sum = sums_[key_of(work, element)];
      ++sum.calls;
      report::add_to(sum.time, e_.duration(claim.row));
    }
    close();
    return std::move(sums_);
  }

 private:
  static Key key_of(const derive::Work& work, bool element) {
    const std::string_view kind = work.matrix_flops > 0 ? "product" : element ? "element-wise" : "other";
    return {kind, derive::name_of(work.compute)};
  }
  /// Next on the same thread, over as many elements.
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
  /// Each of k passes over memory goes through all elements; fused, one does.
  void close() {
    const auto k = static_cast<std::int64_t>(chain_.size());
    for (const Claim* claim : chain_)
      report::add_to(sums_[key_of(work_.works[claim->work], true)].chained,
                     e_.duration(claim->row) / k * (k - 1));
    chain_.clear();
  }

  const EventTable& e_;
  const OpWork work_;
  trace::AskedOnce<bool (*)(std::string_view)> is_elementwise_;
  std::vector<const Claim*> chain_;
  std::map<Key, Sum> sums_;
};

}  // namespace

report::Table host_work_table(const trace::Trace& trace) {
  report::Table table{"Work of operators", report::Shape::table, {}};
  const RankColumn rank(table, trace);
  table.texts("kind");
  table.texts("dtype");
  table.ints("calls", Unit::count);
  table.ints("time", Unit::ns);
  table.ints("mean", Unit::ns);
  table.ints("chained", Unit::ns);
  return table;
}

void add_host_work(report::Table& table, const Derived& derived, const Rank& rank) {
  const std::map<Key, Sum> sums = Gatherer(derived.trace(), rank).run(rank, derived.choice());
  std::vector<const std::pair<const Key, Sum>*> order;
  for (const auto& entry : sums) order.push_back(&entry);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->second.time > b->second.time; });
  const bool several = derived.trace().several();
  for (const auto* entry : order) {
    std::size_t column = 0;
    const auto number = [&](std::int64_t value) {
      std::get<report::Ints>(table.columns[column++].values).push_back(value);
    };
    const auto text = [&](std::string_view value) {
      std::get<report::Texts>(table.columns[column++].values).emplace_back(value);
    };
    if (several) number(rank.rank);
    text(entry->first.first);
    text(entry->first.second);
    number(entry->second.calls);
    number(entry->second.time);
    number(report::mean(entry->second.time, entry->second.calls));
    number(entry->second.chained);
  }
}

}  // namespace stepscope::analyze
