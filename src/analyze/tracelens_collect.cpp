#include "analyze/tracelens_collect.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "analyze/tracelens_backward.h"
#include "analyze/tracelens_launch.h"
#include "analyze/tracelens_names.h"

namespace stepscope::analyze::lens {
namespace {

using trace::Kind;
using trace::kNoRow;
using trace::Row;

/// Goes through the tree from its roots and stops below what it collects.
class Collector {
 public:
  explicit Collector(const Lens& lens)
      : lens_(lens), communication_(lens.trace), modelled_before_(std::size_t{lens.e.size()} + 1, 0) {
    trace::AskedOnce has_model(lens.trace.strings, [](std::string_view op) { return !sheet_of(op).empty(); });
    for (Row row = 0; row < lens.e.size(); ++row) {
      const bool counts = lens.e.kind[row] == Kind::op && lens.tree.holds(row) && has_model(lens.e.name[row]);
      modelled_before_[row + 1] = modelled_before_[row] + counts;
    }
    for (const Row row : lens.tree.linked()) {
      const Row launcher = lens.tree.launcher(row);
      launches_.insert(launcher);
      if (communication_.includes(lens.e.name[row])) communicates_.insert(launcher);
    }
    find_backward();
  }

  std::vector<Collected> run() {
    for (const trace::Track& track : lens_.rank.tracks)
      if (track.side == trace::Track::Side::host)
        for (Row row = track.begin; row < track.end;) row = visit(row);
    std::sort(calls_.begin(), calls_.end(), [&](const Collected& a, const Collected& b) {
      const auto& e = lens_.e;
      if (e.start[a.op] != e.start[b.op]) return e.start[a.op] < e.start[b.op];
      return e.source[a.shown()] < e.source[b.shown()];
    });
    return std::move(calls_);
  }

 private:
  /// Forward ops with a backward model and one node only.
  void find_backward() {
    std::unordered_map<Row, int> nodes;
    const std::vector<BackwardNode> all = backward_nodes(lens_);
    for (const BackwardNode& node : all) ++nodes[node.forward];
    for (const BackwardNode& node : all)
      if (nodes[node.forward] == 1 && !backward_sheet_of(lens_.name(node.forward)).empty())
        forward_of_[node.row] = node.forward;
  }

  std::uint32_t modelled_in(Row begin, Row end) const {
    return modelled_before_[end] - modelled_before_[begin];
  }

  /// The row to look at next.
  Row visit(Row row) {
    if (!lens_.tree.holds(row)) return row + 1;
    const Row end = lens_.tree.end_of(row);
    if (lens_.tree.below(row).empty()) return end;
    if (lens_.e.kind[row] != Kind::op) {
      if (lens_.tree.parent(row) != kNoRow) leave_over(row);
      return end;
    }
    Collected call{row};
    call.modelled = modelled_in(row, row + 1) != 0;
    if (!call.modelled && modelled_in(row, end) == 0) {
      if (const auto found = forward_of_.find(row); found != forward_of_.end()) {
        call.forward = found->second;
        call.modelled = true;
      } else if (!launches_.contains(row) || communicates_.contains(row)) {
        return row + 1;
      }
    } else if (!call.modelled) {
      return row + 1;
    }
    calls_.push_back(call);
    return end;
  }

  void leave_over(Row launch) {
    for (const Row kernel : lens_.tree.below(launch)) {
      const Row op = lens_.tree.launcher(kernel);
      if (lens_.e.kind[op] == Kind::op && !communication_.includes(lens_.e.name[kernel]))
        calls_.push_back({op, kernel});
    }
  }

  const Lens& lens_;
  Communication communication_;
  std::vector<std::uint32_t> modelled_before_;
  std::unordered_set<Row> launches_, communicates_;
  std::unordered_map<Row, Row> forward_of_;
  std::vector<Collected> calls_;
};

}  // namespace

std::vector<Collected> collected_ops(const Lens& lens) { return Collector(lens).run(); }

}  // namespace stepscope::analyze::lens
