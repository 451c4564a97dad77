#include "derive/roof/recompute.h"

#include <string_view>

#include "derive/kernel_class.h"
#include "derive/thread_role.h"
#include "trace/asked_once.h"

namespace stepscope::derive {
namespace {

using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::Trace;

/// Marks the host rows for which starts(row, parent is marked) holds. Parents precede their children.
template <class Starts>
bool mark_below(const EventTable& e, std::vector<bool>& rows, Starts starts) {
  bool any = false;
  for (Row row = 0; row < e.size(); ++row) {
    if (!is_host_range(e.kind[row])) continue;
    const Row parent = e.parent[row];
    rows[row] = starts(row, parent != kNoRow && rows[parent]);
    any |= rows[row];
  }
  return any;
}

bool is_recomputation(std::string_view name) {
  return name.find("torch/utils/checkpoint.py") != name.npos && name.find("recompute_fn") != name.npos;
}

bool by_python_stack(const Trace& trace, const Rank& rank, std::vector<bool>& rows) {
  if (!trace.strings.any(is_recomputation)) return false;
  const EventTable& e = rank.events;
  const std::vector<bool> sampled = sampled_tracks(trace, rank);  // no operator is below a sample
  trace::AskedOnce recomputes(trace.strings, is_recomputation);
  return mark_below(e, rows, [&](Row row, bool inherited) {
    return inherited || (e.kind[row] == Kind::python && !sampled[e.track[row]] && recomputes(e.name[row]));
  });
}

bool by_sequence_numbers(const Trace& trace, const Rank& rank, std::vector<bool>& rows) {
  if (!trace.strings.any(is_autograd_node) || trace.strings.find("Sequence number") == trace::kNoString)
    return false;
  const EventTable& e = rank.events;
  const trace::ArgReader sequence(trace, rank, "Sequence number"),
      forward_thread(trace, rank, "Fwd thread id");
  Column<Row> node(e.size(), kNoRow);  // the evaluate_function above, or the row itself
  trace::AskedOnce is_node(trace.strings, is_autograd_node);
  return mark_below(e, rows, [&](Row row, bool inherited) {
    const Row parent = e.parent[row];
    node[row] = parent == kNoRow ? kNoRow : node[parent];
    if (e.kind[row] != Kind::op) return inherited;
    if (is_node(e.name[row])) {
      node[row] = row;
      return false;
    }
    if (inherited || node[row] == kNoRow) return inherited;
    const auto own = sequence.integer(row), of_node = sequence.integer(node[row]);
    return own && of_node && *own != *of_node && forward_thread.integer(row) == 0 &&
           trace.text(e.name[row]) != trace.text(e.name[node[row]]).substr(kAutogradNode.size());
  });
}

bool is_checkpoint_node(std::string_view name) {
  return is_autograd_node(name) && name.substr(kAutogradNode.size()) == "CheckpointFunctionBackward";
}

bool by_checkpoint_node(const Trace& trace, const EventTable& e, std::vector<bool>& rows) {
  if (!trace.strings.any(is_checkpoint_node)) return false;
  trace::AskedOnce is_node(trace.strings, is_autograd_node), is_checkpoint(trace.strings, is_checkpoint_node);
  return mark_below(e, rows, [&](Row row, bool inherited) {
    return e.kind[row] == Kind::op && is_node(e.name[row]) ? is_checkpoint(e.name[row]) : inherited;
  });
}

}  // namespace

std::string_view name_of(Recomputation::Evidence evidence) {
  constexpr std::string_view kNames[] = {"", "Python stacks", "sequence numbers", "the checkpoint's node"};
  return kNames[static_cast<std::size_t>(evidence)];
}

Recomputation recomputed_rows(const Trace& trace, const Rank& rank) {
  Recomputation found;
  found.rows.assign(rank.events.size(), false);
  if (by_python_stack(trace, rank, found.rows))
    found.evidence = Recomputation::Evidence::python_stack;
  else if (by_sequence_numbers(trace, rank, found.rows))
    found.evidence = Recomputation::Evidence::sequence_numbers;
  else if (by_checkpoint_node(trace, rank.events, found.rows))
    found.evidence = Recomputation::Evidence::checkpoint_node;
  return found;
}

}  // namespace stepscope::derive
