// Which function answers which address about a run.
#pragma once

#include <string>
#include <string_view>

#include "serve/asked.h"

namespace stepscope::serve {

Refusal nothing_here();

/// Throws a Refusal if there is none.
const RunRoute& route_named(std::string_view name, std::size_t words);

/// The answer about one run that is open, at an address below api/runs/{run}/, e.g. "show/kernels?top=10".
/// Throws a Refusal.
std::string answer_at(const OpenRun& run, const std::string& address);

}  // namespace stepscope::serve
