#include "analyze/host/call_work.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace stepscope::analyze {
namespace {

using report::Role;
using report::Unit;
using trace::kNoRow;
using trace::Row;

constexpr std::size_t kMaxCalls = 50;

}  // namespace

const report::Sheet<CallWork> kCallWorkSheet{"Work by call",
                                             report::Shape::table,
                                             {report::rank_field<CallWork>(&CallWork::rank),
                                              {"op", &CallWork::op},
                                              {"inputs", &CallWork::inputs},
                                              {"calls", &CallWork::calls, Unit::count},
                                              {"forward", &CallWork::forward, Unit::ns},
                                              {"backward", &CallWork::backward, Unit::ns}}};

void add_call_work(std::vector<CallWork>& calls, const trace::Trace& trace, const trace::Rank& rank,
                   timeline::Interval window, const std::vector<Row>& operators,
                   const std::vector<derive::NodeOf>& nodes) {
  const trace::EventTable& e = rank.events;
  const trace::ArgReader shapes(trace, rank, "Input Dims");
  struct Sum {
    std::int64_t calls = 0, forward = 0, backward = 0;
  };
  std::map<std::pair<trace::StringId, trace::StringId>, Sum> sums;
  for (const Row row : operators) {
    if (!window.contains(e.start[row])) continue;
    Sum& sum = sums[{e.name[row], shapes.id(row)}];
    ++sum.calls;
    report::add_to(sum.forward, e.duration(row));
  }
  for (const derive::NodeOf& of : nodes) {
    Row called = kNoRow;  // the outermost operator around the maker
    for (Row row = of.maker; row != kNoRow; row = e.parent[row])
      if (e.kind[row] == trace::Kind::op) called = row;
    if (called == kNoRow || !window.contains(e.start[of.node])) continue;
    const auto sum = sums.find({e.name[called], shapes.id(called)});
    if (sum != sums.end()) report::add_to(sum->second.backward, e.duration(of.node));
  }
  std::vector<CallWork> own;
  for (const auto& [key, sum] : sums)
    own.push_back({rank.rank, std::string(trace.text(key.first)), std::string(trace.text(key.second)),
                   sum.calls, sum.forward, sum.backward});
  std::sort(own.begin(), own.end(), [](const CallWork& a, const CallWork& b) {
    return std::tuple(-a.work(), std::string_view(a.op), std::string_view(a.inputs)) <
           std::tuple(-b.work(), std::string_view(b.op), std::string_view(b.inputs));
  });
  if (own.size() > kMaxCalls) own.resize(kMaxCalls);
  calls.insert(calls.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
}

}  // namespace stepscope::analyze
