// The first of the two passes over a source.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "merge/source.h"

namespace stepscope::merge {

/// Fills in what the first pass finds in the source's text. `progress` gets the stored bytes read.
std::optional<Error> survey_source(Source& source, Opener& opener, unsigned threads,
                                   const std::function<void(std::int64_t)>& progress);

/// What is wrong with the source's text, "" if nothing is.
std::string damage_of(const Source& source);

/// What is mended in a strict copy of the source, a sentence, "" if nothing is.
std::string mended_in(const Source& source);

/// What was read of a source and what was lost, as JSON for readers of the file made from it.
std::string total_of(const Source& source);

}  // namespace stepscope::merge
