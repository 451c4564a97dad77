// Every address of the page: who may ask, and what is answered.
#pragma once

#include <optional>

#include "serve/asked.h"
#include "serve/assets.h"
#include "serve/policy.h"
#include "serve/request.h"
#include "serve/runs.h"
#include "serve/source_files.h"

namespace stepscope::serve {

/// Thread-safe.
class Site {
 public:
  Site(Policy policy, RunFinder finder, std::optional<SourceFiles> sources)
      : policy_(std::move(policy)), runs_(std::move(finder)), sources_(std::move(sources)) {}

  /// The answer, if it needs no file: a refusal, the page or an asset.
  std::optional<Response> at_once(const Request& request) const;
  /// Any answer. Reads files and may take long.
  Response answer(const Request& request);

  Runs& runs() { return runs_; }

 private:
  const Response& static_answer(const Address& address) const;
  Response below_api(const Request& request, Address address);
  Response about_run(const Request& request, Address address);
  Response source(report::Given query) const;

  const Policy policy_;
  const Assets assets_{embedded_files()};
  Runs runs_;
  const std::optional<SourceFiles> sources_;
};

}  // namespace stepscope::serve
