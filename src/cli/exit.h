// The exit codes, in one place.
#pragma once

namespace stepscope::cli {

enum Exit : int {
  kDone = 0,
  kFailed = 1,      ///< the work could not be done: nothing readable, no place to write, a damaged trace in
                    ///< `validate`, changes in `whatif` that match nothing recorded, no whole step in `diff`
  kUsage = 2,       ///< the command line is invalid; in `gate` also: a recording cannot be read
  kRegression = 1,  ///< in `gate`: NEW is beyond a limit
  kInconclusive = 3,  ///< in `gate`: too few steps, or not comparable
};

}  // namespace stepscope::cli
