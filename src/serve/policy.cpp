#include "serve/policy.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "serve/ascii.h"

namespace stepscope::serve {
namespace {

bool has_port(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  return colon != host.npos && host.find(']', colon) == host.npos;
}

/// The time does not depend on where the two differ.
bool same_secret(std::string_view expected, std::string_view given) {
  std::size_t difference = expected.size() ^ given.size();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const char other = i < given.size() ? given[i] : '\0';
    difference |= static_cast<unsigned char>(expected[i] ^ other);
  }
  return difference == 0;
}

void check_host(const Policy& policy, const Request& request) {
  const std::vector<std::string_view> hosts = request.values("host");
  if (hosts.size() == 1 && std::ranges::count(policy.hosts, lower(hosts.front())) > 0) return;
  throw Refusal{421,
                fmt::format("this server does not answer under the name '{}'",
                            hosts.size() == 1 ? hosts.front() : std::string_view()),
                "Use the address that it printed, or start it with --allow-host NAME."};
}

/// A link or redirection from elsewhere may show the page, which has no data; nothing else.
bool shows_page(const Request& request, const Address& address) {
  const auto is = [&](std::string_view name, std::string_view value) {
    const auto values = request.values(name);
    return values.size() == 1 && values.front() == value;
  };
  return address.path == std::vector<std::string>{""} && is("sec-fetch-mode", "navigate") &&
         is("sec-fetch-dest", "document");
}

void check_site(const Request& request, const Address& address) {
  const Refusal elsewhere{403, "the request comes from another site's page"};
  for (const std::string_view site : request.values("sec-fetch-site"))
    if (site != "same-origin" && site != "none" && !shows_page(request, address)) throw elsewhere;
  const std::string host = lower(request.values("host").front());
  for (const std::string_view origin : request.values("origin"))
    if (lower(origin) != "http://" + host && lower(origin) != "https://" + host) throw elsewhere;
}

void check_token(const Policy& policy, const Request& request) {
  if (policy.token.empty()) return;
  constexpr std::string_view kScheme = "bearer ";
  const std::vector<std::string_view> given = request.values("authorization");
  const std::string_view value = given.size() == 1 ? given.front() : std::string_view();
  if (lower(value.substr(0, kScheme.size())) != kScheme ||
      !same_secret(policy.token, value.substr(kScheme.size())))
    throw Refusal{401, "the request has no valid token",
                  "Open the address that `stepscope serve` printed, with all that follows the #."};
}

}  // namespace

std::vector<std::string> host_names(std::uint16_t port, std::string_view bind,
                                    const std::vector<std::string>& allowed) {
  std::vector<std::string> names = {"127.0.0.1", "localhost", "[::1]"};
  if (!bind.empty() && bind != "0.0.0.0" && bind != "::")
    names.push_back(bind.find(':') == bind.npos ? lower(bind) : fmt::format("[{}]", lower(bind)));
  std::vector<std::string> hosts;
  for (const std::string& name : names) {
    hosts.push_back(fmt::format("{}:{}", name, port));
    if (port == 80) hosts.push_back(name);
  }
  for (const std::string& name : allowed) {
    hosts.push_back(lower(name));  // behind a proxy, the port is the proxy's
    if (!has_port(name)) hosts.push_back(fmt::format("{}:{}", lower(name), port));
  }
  return hosts;
}

std::string base_path(std::string_view given) {
  std::string path = "/";
  for (const char c : given)
    if (c != '/' || path.back() != '/') path += c;
  return path.back() == '/' ? path : path + '/';
}

std::string new_token() {
  unsigned char bytes[16];
  CHECK(::getrandom(bytes, sizeof bytes, 0) == sizeof bytes);
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

Address admitted(const Policy& policy, const Request& request) {
  if (request.method != "GET" && request.method != "HEAD")
    throw Refusal{405, fmt::format("{} is not answered", request.method), "Only GET and HEAD are."};
  check_host(policy, request);
  const std::string_view target = request.target;
  if (!target.starts_with(policy.base))
    throw Refusal{404, "there is nothing at this address", fmt::format("The page is at {}", policy.base)};
  auto address = parse_address(target.substr(policy.base.size()));
  if (!address) throw Refusal{400, address.error().message};
  check_site(request, *address);
  if (address->path.front() == "api") check_token(policy, request);
  return std::move(*address);
}

}  // namespace stepscope::serve
