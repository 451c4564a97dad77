#include "serve/serve.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "serve/http_server.h"
#include "serve/site.h"

namespace stepscope::serve {
namespace {

/// What was asked and answered, without the query, which may name files.
std::string line_of(const Request& request, const Response& response,
                    std::chrono::steady_clock::duration time) {
  return fmt::format("{} {} {} {} bytes {} ms", request.method,
                     request.target.substr(0, request.target.find('?')), response.status,
                     response.body.size(),
                     std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

template <class Answer>
auto logged(const Options& options, const Request& request, const Answer& answer) {
  const auto began = std::chrono::steady_clock::now();
  auto response = answer(request);
  const Response* given = nullptr;
  if constexpr (std::is_same_v<decltype(response), Response>)
    given = &response;
  else if (response)
    given = &*response;
  if (options.log && given != nullptr)
    options.log(line_of(request, *given, std::chrono::steady_clock::now() - began));
  return response;
}

std::string address_of(const Options& options, const Policy& policy, std::uint16_t port) {
  const std::string host = options.bind.empty()                          ? "127.0.0.1"
                           : options.bind.find(':') == std::string::npos ? options.bind
                                                                         : fmt::format("[{}]", options.bind);
  return fmt::format("http://{}:{}{}{}{}", host, port, policy.base,
                     policy.token.empty() ? "" : "#token=", policy.token);
}

}  // namespace

std::optional<Error> serve(const Options& options) {
  auto finder = RunFinder::below(options.paths);
  if (!finder) return finder.error();
  std::optional<SourceFiles> sources;
  if (!options.source_root.empty()) {
    auto opened = SourceFiles::below(options.source_root);
    if (!opened) return opened.error();
    sources.emplace(std::move(*opened));
  }
  auto server = HttpServer::listen(options.bind, options.port);
  if (!server) return server.error();
  const Policy policy{host_names(server->port(), options.bind, options.allowed_hosts),
                      options.asks_token ? new_token() : "", base_path(options.base), options.is_embedded};
  Site site(policy, std::move(*finder), std::move(sources));
  const Handler handler{
      [&](const Request& asked) {
        return logged(options, asked, [&](const Request& request) { return site.at_once(request); });
      },
      [&](const Request& asked) {
        return logged(options, asked, [&](const Request& request) { return site.answer(request); });
      }};
  options.began(address_of(options, policy, server->port()), site.runs().count());
  options.ended(server->run(handler, options.is_embedded));
  return std::nullopt;
}

}  // namespace stepscope::serve
