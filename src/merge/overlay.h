// A copy of one recording's file with answers drawn into it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "report/drawing.h"

namespace stepscope::merge {

struct OverlayOptions {
  unsigned threads = 0;  ///< 0: as many as the machine has
  bool gzip = false;
  std::function<void(std::int64_t done, std::int64_t total)> progress;  ///< bytes as stored, of both passes
};

/// What stands in the copy.
struct Overlaid {
  std::int64_t events = 0;  ///< of the recording
  std::string damage;       ///< of its text, which the copy leaves out; "" without any
};

/// Chrome JSON: the file's own keys, its events as they stand and in their order, those of the critical path
/// with an arg more, and what is drawn behind the last of them; what the copy lacks stands in its head. Reads
/// the file twice; memory holds a block of text per thread. An Error when the file holds several recordings
/// or a drawing already, or is no longer what was drawn from.
Result<Overlaid> write_overlay(const std::string& path, const report::Drawing& drawing,
                               const OverlayOptions& options,
                               const std::function<bool(std::string_view)>& put);

}  // namespace stepscope::merge
