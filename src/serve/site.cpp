#include "serve/site.h"

#include <algorithm>
#include <new>

#include "advise/listed_analyses.h"
#include "report/formats/json.h"
#include "serve/fingerprint.h"

namespace stepscope::serve {
namespace {

constexpr std::string_view kForGood = "private, max-age=31536000, immutable";

bool is_api(const Address& address) { return address.path.front() == "api"; }

Response json_with_etag(std::string body) {
  Response response;
  response.etag = fingerprint(body);
  response.body = std::move(body);
  return response;
}

/// answer(), with whatever it throws as an answer, too.
template <class Answer>
Response guarded(const Policy& policy, const Request& request, const Answer& answer) {
  const auto done = [&](Response response) {
    return finished(request, std::move(response), policy.is_framed);
  };
  try {
    return done(answer());
  } catch (const Refusal& refusal) {
    return done(as_response(refusal));
  } catch (const std::bad_alloc&) {
    return done(as_response({503, "out of memory", "Open fewer runs at once."}));
  } catch (const std::exception& error) {
    return done(as_response({500, error.what()}));
  }
}

/// Opens the run and asks it. `address.query` has no hash any more.
Response answered(const Request& request, Runs& runs, std::size_t number, const FoundRun& found,
                  const Address& address, const RunRoute& route) {
  stop_if_gone(request);
  const Runs::Opened run = runs.open(number, found);
  stop_if_gone(request);
  Asked asked{request,       &runs,           *run, {address.path.begin() + 4, address.path.end()},
              address.query, found.stamp.hash};
  Response response = route.answer(asked);
  response.etag = asked.etag;
  return response;
}

}  // namespace

const Response& Site::static_answer(const Address& address) const {
  const std::vector<std::string>& path = address.path;
  if (path.size() == 1 && path[0].empty()) return assets_.page();
  const Response* asset = path.size() == 2 && path[0] == "assets" ? assets_.named(path[1]) : nullptr;
  if (asset == nullptr) throw nothing_here();
  return *asset;
}

std::optional<Response> Site::at_once(const Request& request) const {
  bool later = false;
  Response response = guarded(policy_, request, [&] {
    const Address address = admitted(policy_, request);
    later = is_api(address);
    return later ? Response{} : static_answer(address);
  });
  return later ? std::nullopt : std::optional(std::move(response));
}

Response Site::answer(const Request& request) {
  return guarded(policy_, request, [&] {
    Address address = admitted(policy_, request);
    return is_api(address) ? below_api(request, std::move(address)) : static_answer(address);
  });
}

Response Site::below_api(const Request& request, Address address) {
  const std::vector<std::string>& path = address.path;
  const std::string_view name = path.size() > 1 ? std::string_view(path[1]) : "";
  if (name == "runs" && path.size() > 3) return about_run(request, std::move(address));
  if (path.size() != 2) throw nothing_here();
  if (name == "source") return source(std::move(address.query));
  if (name == "runs") return json_with_etag(runs_.listed());
  if (name == "analyses") return json_with_etag(report::to_json(advise::listed_analyses()));
  throw nothing_here();
}

Response Site::about_run(const Request& request, Address address) {
  const std::vector<std::string>& path = address.path;
  const RunRoute& route = route_named(path[3], path.size() - 4);
  const std::size_t number = number_of(path[2], "the run");
  const FoundRun found = runs_.found(number);
  const std::string hash = take(address.query, "hash");
  if (!hash.empty() && hash != found.stamp.hash)
    throw Refusal{409, "the recording changed on disk", "Ask api/runs for its new hash."};
  Response response;
  response.etag = found.stamp.hash;
  if (!is_known(request, response.etag)) response = answered(request, runs_, number, found, address, route);
  if (!hash.empty() && response.etag == found.stamp.hash) response.cache_control = kForGood;
  return response;
}

Response Site::source(report::Given query) const {
  if (!sources_) throw Refusal{404, "no source files are shown", "Start the server with --source-root DIR."};
  constexpr std::size_t kMaxAround = 1000;
  const std::string file = take(query, "file");
  const std::size_t line = std::max<std::size_t>(1, number_of(take(query, "line", "1"), "line"));
  const std::size_t around = std::min(number_of(take(query, "around", "10"), "around"), kMaxAround);
  Response response;
  response.type = "text/plain; charset=utf-8";
  response.cache_control = "no-store";
  response.body = sources_->lines(file, line > around ? line - around : 1, line + around);
  return response;
}

}  // namespace stepscope::serve
