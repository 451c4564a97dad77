#include "serve/request.h"

#include <fmt/format.h>

#include "base/text.h"

namespace stepscope::serve {
namespace {

constexpr std::size_t kMaxBody = std::size_t{16} << 20;

constexpr std::string_view kContentPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; frame-ancestors ";

constexpr std::pair<std::string_view, std::string_view> kOnEveryAnswer[] = {
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Embedder-Policy", "require-corp"},
    {"Permissions-Policy",
     "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), hid=(), "
     "magnetometer=(), "
     "microphone=(), midi=(), payment=(), serial=(), usb=()"},
};

/// W/"x" and "x" name the same contents here.
std::string_view without_quotes(std::string_view tag) {
  if (tag.starts_with("W/")) tag.remove_prefix(2);
  if (tag.size() < 2 || tag.front() != '"' || tag.back() != '"') return "";
  return tag.substr(1, tag.size() - 2);
}

}  // namespace

std::vector<std::string_view> Request::values(std::string_view name) const {
  std::vector<std::string_view> found;
  for (const auto& [header, value] : headers)
    if (header == name) found.emplace_back(value);
  return found;
}

Response json(std::string body) {
  Response response;
  response.body = std::move(body);
  return response;
}

Response as_response(const Refusal& refusal) {
  Response response;
  response.status = refusal.status;
  response.cache_control = "no-store";
  response.body = "{\"error\":";
  append_json(response.body, refusal.what());
  response.body += ",\"remedy\":";
  append_json(response.body, *refusal.remedy);
  response.body += "}\n";
  if (refusal.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (refusal.status == 405) response.headers.emplace_back("Allow", "GET, HEAD");
  return response;
}

void stop_if_gone(const Request& request) {
  if (request.is_gone()) throw Refusal{503, "the asker has gone"};
}

bool is_known(const Request& request, std::string_view etag) {
  if (etag.empty()) return false;
  for (std::string_view listed : request.values("if-none-match"))
    while (!listed.empty()) {
      const std::size_t comma = std::min(listed.find(','), listed.size());
      const std::string_view tag = trimmed(listed.substr(0, comma));
      if (without_quotes(tag) == etag) return true;
      listed.remove_prefix(std::min(comma + 1, listed.size()));
    }
  return false;
}

Response finished(const Request& request, Response response, bool is_framed) {
  if (response.body.size() > kMaxBody)
    response = as_response(
        {413,
         fmt::format("the answer has {} MiB, more than {} MiB", response.body.size() >> 20, kMaxBody >> 20),
         "Ask for fewer rows, e.g. with top=1000."});
  if (response.status == 200 && is_known(request, response.etag)) {
    response.status = 304;
    response.body.clear();
  }
  if (!response.etag.empty()) response.headers.emplace_back("ETag", fmt::format("\"{}\"", response.etag));
  response.headers.emplace_back("Cache-Control", response.cache_control);
  response.headers.emplace_back("Content-Security-Policy",
                                fmt::format("{}{}", kContentPolicy, is_framed ? "'self'" : "'none'"));
  for (const auto& [name, value] : kOnEveryAnswer) response.headers.emplace_back(name, value);
  return response;
}

}  // namespace stepscope::serve
