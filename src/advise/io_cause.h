// Why fetching a batch takes long, as far as its file I/O says.
#pragma once

#include <optional>
#include <string>

#include "advise/evidence.h"

namespace stepscope::advise {

enum class IoCauseKind : std::uint8_t {
  locks,        ///< workers wait for a lock on a file, one after the other
  chunks,       ///< HDF5 reads or unpacks much for what is asked for
  again,        ///< the same bytes, several times within a few batches
  tiny_files,   ///< many small files per batch
  metadata,     ///< calls about names, not data
  storage,      ///< reads that the page cache does not answer
  small_reads,  ///< many short reads of few files
  disk,         ///< fsync, and names that are changed: temporary files
  one_by_one,   ///< threads of a process whose calls never overlap
  no_io         ///< files are read fast: the rest of the fetch is the limit
};

struct IoCause {
  IoCauseKind kind;
  std::string what;    ///< "a fetch opens 1,024 files …": goes after a semicolon
  std::string remedy;  ///< a sentence; "" for no_io
  /// More workers would not help.
  bool is_in_turn() const { return kind == IoCauseKind::locks || kind == IoCauseKind::one_by_one; }
};

/// Whether at least `share` of the batches were fetched before the program asked for them: workers are not
/// late. False where that is not recorded.
bool batches_are_ready(const Evidence& e, double share);

/// nullopt where no I/O of fetches is recorded, or where it explains nothing.
std::optional<IoCause> io_cause(const Evidence& e);

}  // namespace stepscope::advise
