// A question about one run, and the routes that answer such questions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/given.h"
#include "serve/open_run.h"
#include "serve/request.h"
#include "serve/runs.h"

namespace stepscope::serve {

struct Asked {
  const Request& request;
  Runs* runs;  ///< the other runs; null where there are none
  const OpenRun& run;
  std::vector<std::string> words;  ///< of the address, after the route's name
  report::Given query;             ///< without hash
  std::string etag;                ///< names the run's contents; a route adds what else its answer depends on
};

/// An answer below api/runs/{run}/.
struct RunRoute {
  std::string_view name;
  std::size_t words;  ///< that follow the name
  Response (*answer)(Asked&);
};

Refusal nothing_here();

/// Throws a Refusal if there is none.
const RunRoute& route_named(std::string_view name, std::size_t words);

/// The answer about one run that is open, at an address below api/runs/{run}/, e.g. "show/kernels?top=10".
/// Throws a Refusal.
std::string answer_at(const OpenRun& run, const std::string& address);

/// `text`, a whole number below 2^31. Throws a Refusal that calls it `what`.
std::size_t number_of(std::string_view text, std::string_view what);

}  // namespace stepscope::serve
