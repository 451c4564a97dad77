// What the operators that a program calls cost, with the backward pass through them.
#pragma once

#include <string>
#include <vector>

#include "analyze/question.h"
#include "derive/places/short_operators.h"
#include "report/sheet.h"
#include "report/statistics.h"

namespace stepscope::analyze {

/// All calls of one operator with inputs of the same shapes, by the main thread itself. Times in ns within
/// the window.
struct CallWork {
  std::int64_t rank = -1;
  std::string op;
  std::string inputs;  ///< shapes, as the file writes them; "" if they are not recorded
  std::int64_t calls = 0;
  std::int64_t forward = 0;
  std::int64_t backward = 0;  ///< autograd's nodes that go back through these calls
  std::int64_t work() const { return report::plus(forward, backward); }
};
extern const report::Sheet<CallWork> kCallWorkSheet;

/// Calls whose two operands, of N × 1 and of N elements, broadcast to N × N. Times in ns within the window.
struct CrossedCall {
  std::int64_t rank = -1;
  std::string op, inputs;
  std::string result;     ///< "[N, N]"
  std::int64_t work = 0;  ///< of these calls and of all with an input of that shape, forward and backward
};
extern const report::Sheet<CrossedCall> kCrossedCallSheet;

/// Calls that pick rows of a matrix that lies in memory column by column. Times in ns within the window.
struct ScatteredRows {
  std::int64_t rank = -1;
  std::string op, inputs;
  std::int64_t calls = 0;
  std::int64_t time = 0;
};
extern const report::Sheet<ScatteredRows> kScatteredRowsSheet;

/// Fourier transforms of one length with a large prime factor, forward and backward, on any thread. Times in
/// ns within the window.
struct AwkwardFft {
  std::int64_t rank = -1;
  std::int64_t length = 0;  ///< points
  std::int64_t factor = 0;  ///< the largest prime factor of `length`
  std::int64_t padded = 0;  ///< the next length whose prime factors are 2, 3 and 5
  std::int64_t calls = 0;
  std::int64_t time = 0;
  std::string op, inputs;  ///< the program's first call of it
};
extern const report::Sheet<AwkwardFft> kAwkwardFftSheet;

/// Adds lengths whose largest prime factor is above 60, most time first. A point takes this many times as
/// long as at 20,480 = 2^12 × 5 points (bench/fft_lengths.py, MKL 2024.2, one thread): at a factor of 53, 2.5
/// times; at 67, 3.4; at 127, 6.0; at 2,311, 14.3.
void add_awkward_ffts(std::vector<AwkwardFft>& ffts, const trace::Trace& trace, const trace::Rank& rank,
                      timeline::Interval window);

/// Adds calls as `ScatteredRows` says, most time first. `operators`: as below.
void add_scattered_rows(std::vector<ScatteredRows>& picks, const trace::Trace& trace, const trace::Rank& rank,
                        timeline::Interval window, const std::vector<trace::Row>& operators);

/// Adds the 50 with most work, most first. `operators`: the main thread's outermost ones, in order.
/// `crossed`: of each result's shape the call with most work.
void add_call_work(std::vector<CallWork>& calls, std::vector<CrossedCall>& crossed, const trace::Trace& trace,
                   const trace::Rank& rank, timeline::Interval window,
                   const std::vector<trace::Row>& operators, const std::vector<derive::NodeOf>& nodes);

}  // namespace stepscope::analyze
