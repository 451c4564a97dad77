// What the program's own lines cost.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyze/derived.h"
#include "analyze/host/call_work.h"
#include "analyze/host/worker_lines.h"
#include "report/sheet.h"

namespace stepscope::analyze {

/// A line of the program, "file(line): function", in the main thread's time. Times in ns within the window.
struct LineCost {
  std::int64_t rank = -1;
  std::string line, text;
  std::int64_t total = 0;     ///< on the stack
  double share = 0;           ///< `total` ÷ window
  std::int64_t self = 0;      ///< the innermost of the program's lines
  std::int64_t in_ops = 0;    ///< of `self`, in operators
  std::int64_t loading = 0;   ///< of `total`, in the phase data
  std::int64_t besides = 0;   ///< of `total`, in the phase other
  std::int64_t backward = 0;  ///< autograd's nodes of the operators that the line itself called
  /// Of `self`, in the forward pass, the optimizer or the phase data; and of `backward`, if samples tell of
  /// lines. Calls tell of functions: there, what modules do is not the function's own.
  std::int64_t in_passes = 0;
  std::int64_t calling = 0;         ///< of `total` and `backward`, short operators one after another
  std::int64_t ops = 0;             ///< operators that the line itself called
  double growth = report::kNoReal;  ///< `total` in the last third ÷ in the first third of the window
  std::string calls;  ///< the innermost frame outside the program that holds half of `self`; "" for none
};

/// A line below the lines that called it. Times in ns within the window.
struct LineNode {
  std::int64_t rank = -1;
  std::int64_t parent = -1;  ///< index in the answer; -1: called by none of the program's lines
  std::int64_t depth = 0;
  std::string line, text;
  std::int64_t total = 0, self = 0, loading = 0, besides = 0, calling = 0, ops = 0;
  std::int64_t backward = 0;
  std::int64_t work = 0;           ///< operators that it and the lines below called, with their backward pass
  std::int64_t element_wise = 0;   ///< of `work`, in element-wise operators
  std::int64_t communicating = 0;  ///< of `total`, in calls of torch.distributed
  std::int64_t repeats = 0;        ///< most calls of one operator by the line itself
  std::string op;                  ///< the operator of its own with most `work`; "" for none
  bool through_gradients = false;  ///< `op` is a backward pass through gradients that the line computes
  std::string inputs;              ///< shapes of the longest call of `op`, as the file writes them
  bool calls_module = false;       ///< it calls an nn.Module in which lines of the program run
  bool checkpoints = false;        ///< it calls torch.utils.checkpoint
  std::int64_t in_backward = 0;    ///< of `total`, inside a backward pass that it or a line below it called
  std::int64_t parametrizing =
      0;  ///< of `total`, computing parametrized weights that it or a line below accesses

  std::string_view place() const;  ///< "file(line)"
};

/// Sums over a rank that need no stacks. Times in ns within the window.
struct LineSums {
  std::int64_t rank = -1;
  std::int64_t known = 0;       ///< of the window, with a stack of the main thread
  std::int64_t besides = 0;     ///< phase other
  std::int64_t calling = 0;     ///< short operators one after another, outside the backward pass
  std::int64_t back = 0;        ///< the same for autograd's nodes
  std::int64_t short_ops = 0;   ///< calls of these operators, and nodes
  std::int64_t tracing = 0;     ///< Python's traceback formats a stack, by samples or calls
  std::int64_t unpacking = 0;   ///< in the phase data: tensors from other processes are unpacked
  std::int64_t recomputed = 0;  ///< operators of the forward pass that the backward pass repeats
  std::int64_t again = 0;       ///< autograd's nodes that go through an operator again, after the first time
  std::int64_t nodes = 0;       ///< nodes that belong to an operator
  std::int64_t deeper = 0;  ///< of these, nodes of operators that another node called: gradients of gradients
};

struct Lines {
  std::vector<LineCost> lines;  ///< by rank, most `total` first
  std::vector<LineNode> nodes;  ///< by rank; a node after its parent, siblings by `total`
  std::vector<LineSums> sums;
  std::vector<CallWork> calls;           ///< by rank, most work first; needs no stacks
  std::vector<CrossedCall> crossed;      ///< by rank, one per shape of the result; needs no stacks
  std::vector<ScatteredRows> scattered;  ///< by rank, most time first; needs no stacks
  std::vector<AwkwardFft> ffts;          ///< by rank, most time first; needs no stacks
  Elsewhere elsewhere;                   ///< beside the main thread
  std::vector<std::string> notes;
};
Lines lines_of(const Derived& derived);

}  // namespace stepscope::analyze
