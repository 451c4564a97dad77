// The runs that are served: found again when asked for, opened when first needed, kept while there is room.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "serve/find_runs.h"
#include "serve/kept.h"
#include "serve/open_run.h"

namespace stepscope::serve {

/// The answer to api/runs where there is but one, which is open.
std::string list_of(const FoundRun& run);

/// Thread-safe.
class Runs {
 public:
  using Opened = std::shared_ptr<const OpenRun>;

  /// `budget`: bytes of opened recordings to keep, estimated from their files; 0: half of the machine's
  /// memory. `pause`: the paths are looked at again after it, or later
  /// where a look takes long.
  explicit Runs(RunFinder finder, std::int64_t budget = 0,
                std::chrono::milliseconds pause = std::chrono::seconds(1));

  /// The answer to api/runs.
  std::string listed();
  std::size_t count();

  /// A run as it is on disk. Throws a Refusal if there is none with that number.
  FoundRun found(std::size_t number);
  /// Reads it, unless it was read before. Throws a Refusal if it cannot be read or changes while it is read.
  Opened open(std::size_t number, const FoundRun& run);

 private:
  struct Known {
    std::optional<FoundRun> found;  ///< nothing: it is gone
    std::string read_hash;          ///< of what was read; "": nothing yet
    std::string error;              ///< why it could not be read; "" if it could
  };
  void look_again();
  Opened read(std::size_t number, const FoundRun& run);
  void note_read(std::size_t number, const FoundRun& run, std::string error);

  const std::chrono::milliseconds pause_;
  Kept<OpenRun> opened_;
  std::mutex mutex_;  // guards what follows
  RunFinder finder_;
  std::chrono::steady_clock::time_point next_look_;
  std::vector<Known> known_;                    // by number; numbers are never given again
  std::map<std::string, std::size_t> numbers_;  // by the first file and name
};

}  // namespace stepscope::serve
