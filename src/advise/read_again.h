// Bytes of files that are read again and again, in one wording for all rules.
#pragma once

#include <cstdint>
#include <string>

namespace stepscope::advise {

/// Reads of a group of files, in bytes.
struct ReadAgain {
  std::string group;
  std::int64_t opens = 0, read = 0;
  std::int64_t distinct = 0;  ///< each byte once
  std::int64_t rounds = 1;    ///< batches or steps meanwhile

  double times() const;
  /// More often than passes over the data would: kAgainPerRound of the rounds; where there is one round, the
  /// whole recording, kOftenAgain times.
  bool is_again() const;
  /// Whether reading them and what is done with the bytes may take much of `time`, ns: kAgainRate.
  bool is_much(std::int64_t time) const;
  /// "read 32 times over, 188 MiB of 5.87 MiB".
  std::string told() const;
  std::string remedy() const;
};

}  // namespace stepscope::advise
