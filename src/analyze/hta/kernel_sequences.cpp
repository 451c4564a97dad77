// Kernel sequences of operators, in HTA's tree of calls.
#include "analyze/kernels/kernel_sequences.h"

#include "analyze/hta/call_graph.h"
#include "analyze/list.h"

namespace stepscope::analyze::hta {

constinit const FormParams kernel_sequences_params = {};

report::Report kernel_sequences(const Derived& derived, const report::Params& params) {
  std::vector<CallTree> ranks;
  for (const Table& table : tables_of(derived, keep_of(params))) {
    const std::vector<Node> nodes = call_graph(derived.trace(), table);
    CallTree& of = ranks.emplace_back(CallTree{table.rank, {}});
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Event& event = table.events[i];
      of.items.push_back({event.row, nodes[i].parent, nodes[i].depth, event.start, event.length,
                          nodes[i].kernels, event.stream != -1});
    }
  }
  return sequences_in(ranks, derived.trace(), params);
}

}  // namespace stepscope::analyze::hta
