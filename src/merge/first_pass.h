// The first of the two times that a source is read.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "merge/source.h"

namespace stepscope::merge {

/// Fills in what the source's text says. `progress` is told the stored bytes read.
std::optional<Error> survey_source(Source& source, Opener& opener, unsigned threads,
                                   const std::function<void(std::int64_t)>& progress);

/// What is wrong with the source's text, "" if nothing is.
std::string damage_of(const Source& source);

/// What was read of a source and what could not be, as JSON for who reads what is made of it.
std::string total_of(const Source& source);

}  // namespace stepscope::merge
