// The program's own line that a cost belongs to, from `lines`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advise/evidence.h"

namespace stepscope::advise {

/// A line, and a cost of it, ns in the window.
struct CostOfLine {
  const analyze::LineNode* line = nullptr;
  std::int64_t cost = 0;
};

/// The program's line that a cost belongs to.
struct OwnPlace {
  const analyze::LineNode* line = nullptr;
  enum class What : std::uint8_t {
    line,      ///< holds much of the cost alone
    function,  ///< no line does, but together those of the function that `line` is in
    call,      ///< neither does: `line` calls those that hold most of it
  };
  What what = What::line;
  std::int64_t cost =
      0;  ///< ns in the window: of the line, of the function's lines, or with all that it calls
  const analyze::LineCost* all =
      nullptr;  ///< the line's totals over all callers; nullptr if it is not listed
  std::vector<CostOfLine> others =
      {};  ///< at most kMaxOthers; beside the line, or of the function's or the call's cost
  std::vector<CostOfLine> callers = {};  ///< calls of a model or of a function that it is in, most cost first
  const analyze::LineNode* nearest_caller =
      nullptr;                   ///< the line that calls it, if `callers` has only one, further up
  std::int64_t in_function = 0;  ///< of a line, with those of `others` that are lines of the same function
  std::int64_t repeats = 0;      ///< most calls of one operator by one of its lines

  /// "train.py:84 (make_batch)"; of a function, "make_batch() in train.py".
  std::string spoken() const;
  /// "train.py:84 (make_batch), `ids = encode(note)`", without the text if it is not recorded.
  std::string quoted() const;
  /// ", in pandas/core/indexing.py:1190 (__getitem__)": what the line calls most; "" for nothing.
  std::string callee() const;
  /// ", called by net.py:20 (forward), `block(x)`, from train.py:98 (main), `model(x)`", with shares if
  /// several lines call it; or "".
  std::string called_by() const;
  /// "; of it 48 ms in train.py:98 (collect), `policy(state)`, 20 ms in …", without "of it" for lines beside
  /// it.
  std::string rest(std::int64_t steps) const;
};

/// The line whose own part of a cost of the main thread is dearest, if it holds kMuchOfCost of it, and no
/// other function's lines hold kClearlyMore; otherwise the function whose lines hold that much, if it is
/// called in several lines or by the loop over a loader; otherwise the deepest line that holds most of it
/// with what it calls. nullopt if no stacks are recorded, or no line has that cost.
std::optional<OwnPlace> dearest_place(const Evidence& evidence, std::int64_t analyze::LineNode::* cost);

/// "train.py:84 (make_batch), `ids = encode(note)`", without the text if it is not recorded.
std::string quoted_line(std::string_view line, std::string_view text);

/// The line with most time that calls torch.utils.checkpoint; nullptr without one.
const analyze::LineNode* checkpointing_line(const Evidence& evidence);

/// The rank's sums of `lines`; nullptr without a main thread.
const analyze::LineSums* line_sums(const Evidence& evidence);

}  // namespace stepscope::advise
