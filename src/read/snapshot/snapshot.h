// Memory snapshots of PyTorch's allocators: pickles, or JSON of the same dict.
#pragma once

#include <string>
#include <string_view>

#include "base/byte_source.h"
#include "base/result.h"
#include "read/batch.h"
#include "read/snapshot/pickle.h"

namespace stepscope::read {

bool is_pickle(std::string_view head);

/// Whether a file that begins with `head` is a snapshot, in either form.
bool is_snapshot(std::string_view head);

/// Reads a pickle or JSON that begins with `head`. A file that ends early keeps what was read. An Error if it
/// is no snapshot, or holds what could run code.
Result<ParsedFile> parse_snapshot(const std::string& path, ByteSource& source, std::string_view head,
                                  const StoredBytes& progress = {});

/// Replaces ids of `from` by ids of `to`.
void renumber(trace::Snapshot& snapshot, const trace::StringPool& from, trace::StringPool& to);

}  // namespace stepscope::read
