// The exit codes, in one place.
#pragma once

namespace stepscope::cli {

enum Exit : int {
  kDone = 0,
  kFailed = 1,      ///< the work could not be done: nothing readable, no place to write, a damaged trace in
                    ///< `validate`, changes in `whatif` that nothing recorded is of, no whole step in `diff`
  kUsage = 2,       ///< the command line makes no sense; of `gate` also: a recording cannot be read
  kRegression = 1,  ///< of `gate`: NEW is beyond a limit
  kInconclusive = 3,  ///< of `gate`: too few steps, or not comparable
};

}  // namespace stepscope::cli
