#include "serve/request.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"

namespace stepscope::serve {
namespace {

std::string header_of(const Response& response, const std::string& name) {
  const auto found = std::ranges::find(response.headers, name, &Headers::value_type::first);
  return found == response.headers.end() ? "" : found->second;
}

Request knowing(const std::string& tags) { return {"GET", "/", {{"if-none-match", tags}}}; }

TEST(HttpAnswer, KnownContentsAreNotSentAgain) {
  Response response;
  response.body = "x";
  response.etag = "abc";
  for (const char* tags : {"\"abc\"", "W/\"abc\"", "\"x\", \"abc\"", "\"x\",W/\"abc\" "})
    EXPECT_EQ(finished(knowing(tags), response).status, 304) << tags;
  for (const char* tags : {"", "abc", "\"ab\"", "\"abcd\"", "\"", ",,", "*"})
    EXPECT_EQ(finished(knowing(tags), response).status, 200) << tags;
  EXPECT_EQ(finished(knowing("\"abc\""), response).body, "");
  EXPECT_EQ(header_of(finished({}, response), "ETag"), "\"abc\"");
  EXPECT_TRUE(has(header_of(finished({}, response), "Content-Security-Policy"), "frame-ancestors 'none'"));
  EXPECT_TRUE(
      has(header_of(finished({}, response, true), "Content-Security-Policy"), "frame-ancestors 'self'"));
  response.etag = "";
  EXPECT_EQ(finished(knowing("\"\""), response).status, 200);
}

TEST(HttpAnswer, RefusalsAreJson) {
  const Response response = finished({}, as_response({401, "no \"token\"\x01", "open the address"}));
  EXPECT_EQ(response.body, "{\"error\":\"no \\\"token\\\"\\u0001\",\"remedy\":\"open the address\"}\n");
  EXPECT_EQ(header_of(response, "WWW-Authenticate"), "Bearer");
  EXPECT_EQ(header_of(response, "Cache-Control"), "no-store");
  EXPECT_EQ(header_of(response, "X-Content-Type-Options"), "nosniff");
}

TEST(HttpAnswer, HasAtMost16MiB) {
  Response response;
  response.body = std::string(std::size_t{16} << 20, 'x');
  EXPECT_EQ(finished({}, response).status, 200);
  response.body += 'x';
  EXPECT_EQ(finished({}, response).status, 413);
}

TEST(HttpAnswer, NobodyWaits) {
  Request request;
  EXPECT_NO_THROW(stop_if_gone(request));
  request.is_gone = [] { return true; };
  EXPECT_THROW(stop_if_gone(request), Refusal);
}

}  // namespace
}  // namespace stepscope::serve
