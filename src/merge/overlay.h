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

/// The contents of the copy.
struct Overlaid {
  std::int64_t events = 0;  ///< events of the recording
  std::string damage;       ///< damage of the recording's text, which the copy leaves out; "" if none
  std::string mended;       ///< a sentence: what of the text was no strict JSON; "" if all was
};

/// Writes Chrome JSON: the file's own keys, its events unchanged and in order, with one more arg on those of
/// the critical path, then the drawing. The head lists what the copy lacks. Reads the file twice; memory
/// holds a block of text per thread. An Error if the file holds several recordings or a drawing already, or
/// has changed since the drawing was made.
Result<Overlaid> write_overlay(const std::string& path, const report::Drawing& drawing,
                               const OverlayOptions& options,
                               const std::function<bool(std::string_view)>& put);

}  // namespace stepscope::merge
