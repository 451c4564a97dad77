// The program's own line that a cost belongs to, from `lines`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advise/evidence.h"

namespace stepscope::advise {

/// A line, and what it costs with everything that it calls.
struct OwnPlace {
  const analyze::LineNode* line = nullptr;
  std::int64_t cost = 0;  ///< ns in the window
  const analyze::LineCost* all =
      nullptr;  ///< the line's totals over all callers; nullptr if it is not listed
  std::vector<const analyze::LineNode*> parts =
      {};                                    ///< the lines below it that hold much of the cost, at most 3
  std::vector<std::int64_t> of_parts = {};   ///< their costs, ns in the window
  const analyze::LineNode* model = nullptr;  ///< the outermost line around it that calls an nn.Module
  std::int64_t repeats = 0;                  ///< most calls of one operator by it or a line below it

  /// "train.py:84 (make_batch)".
  std::string spoken() const;
  /// "train.py:84 (make_batch), `ids = encode(note)`", without the text if it is not recorded.
  std::string quoted() const;
  /// ", in pandas/core/indexing.py:1190 (__getitem__)": what the line calls most; "" for nothing.
  std::string callee() const;
  /// "; 48 % of it in train.py:98 (collect), `policy(state)`, 20 % in …"; in a model ", called by …", the
  /// line that calls the model; or "".
  std::string inside() const;
};

/// The deepest line that holds most of a cost of the main thread; nullopt if no stacks are recorded, or no
/// line has that cost.
std::optional<OwnPlace> dearest_place(const Evidence& evidence, std::int64_t analyze::LineNode::* cost);

/// The line with most time that calls torch.utils.checkpoint; nullptr without one.
const analyze::LineNode* checkpointing_line(const Evidence& evidence);

/// The rank's sums of `lines`; nullptr without a main thread.
const analyze::LineSums* line_sums(const Evidence& evidence);

}  // namespace stepscope::advise
