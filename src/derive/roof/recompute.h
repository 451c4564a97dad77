// Which rows are recomputation: forward work that activation checkpointing repeats during backward.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace stepscope::derive {

struct Recomputation {
  /// How recomputation was recognised. Python stacks take precedence if they contain a checkpoint.
  enum class Evidence : std::uint8_t { none, python_stack, sequence_numbers, checkpoint_node };

  std::vector<bool> rows;  ///< true for recomputed host rows; a device row is recomputed if its launch is
  Evidence evidence = Evidence::none;

  bool any() const { return evidence != Evidence::none; }
  bool includes(const trace::EventTable& e, trace::Row row) const {
    const trace::Row host = is_device_row(e.kind[row]) ? e.launch[row] : row;
    return host != trace::kNoRow && rows[host];
  }
};

/// "Python stacks"; "" for none.
std::string_view name_of(Recomputation::Evidence evidence);

/// By Python stacks: everything below `recompute_fn` of torch/utils/checkpoint.py. If there is none: below
/// `autograd::engine::evaluate_function: X` with sequence number s, everything under an op other than X that
/// has another sequence number and Fwd thread id 0, as only forward ops have. If there is none: everything
/// below the node of torch.utils.checkpoint's autograd function, except the nodes that it runs. O(rows).
Recomputation recomputed_rows(const trace::Trace& trace, const trace::Rank& rank);

}  // namespace stepscope::derive
