#include "serve/policy.h"

#include <gtest/gtest.h>

namespace stepscope::serve {
namespace {

const Policy kPolicy{host_names(8080, "", {"hub.example", "other.example:443"}), "secret", "/"};

/// The status of a request with these headers; 0 if it is admitted.
int status_of(const Policy& policy, std::string target, Headers headers, std::string method = "GET") {
  try {
    admitted(policy, Request{std::move(method), std::move(target), std::move(headers)});
    return 0;
  } catch (const Refusal& refusal) {
    return refusal.status;
  }
}

const std::pair<std::string, std::string> kHost = {"host", "localhost:8080"};
const std::pair<std::string, std::string> kToken = {"authorization", "Bearer secret"};

TEST(Policy, NamesOfTheServer) {
  for (const char* host : {"127.0.0.1:8080", "localhost:8080", "LocalHost:8080", "[::1]:8080", "hub.example",
                           "hub.example:8080", "other.example:443"})
    EXPECT_EQ(status_of(kPolicy, "/", {{"host", host}}), 0) << host;
  for (const char* host : {"localhost", "localhost:80", "evil.example", "other.example", "other.example:8080",
                           "", "localhost:8080 ", "hub.example.", "127.1:8080"})
    EXPECT_EQ(status_of(kPolicy, "/", {{"host", host}}), 421) << host;
  EXPECT_EQ(status_of(kPolicy, "/", {}), 421);
  EXPECT_EQ(status_of(kPolicy, "/", {kHost, kHost}), 421);
}

TEST(Policy, NamesOfOtherAddresses) {
  EXPECT_EQ(host_names(1, "10.0.0.1", {}).back(), "10.0.0.1:1");
  EXPECT_EQ(host_names(1, "FE80::1", {}).back(), "[fe80::1]:1");
  EXPECT_EQ(host_names(1, "0.0.0.0", {}).size(), 3u);
  EXPECT_EQ(host_names(1, "::", {"[::2]"}).back(), "[::2]:1");
  EXPECT_EQ(host_names(80, "", {}).size(), 6u);  // browsers leave out port 80
}

TEST(Policy, ApiNeedsTheToken) {
  EXPECT_EQ(status_of(kPolicy, "/api/runs", {kHost, kToken}), 0);
  EXPECT_EQ(status_of(kPolicy, "/api/runs", {kHost, {"authorization", "bearer secret"}}), 0);
  for (const char* value : {"", "secret", "Bearer", "Bearer ", "Bearer secre", "Bearer secrets",
                            "Bearer Secret", "Bearer  secret", "Basic secret"})
    EXPECT_EQ(status_of(kPolicy, "/api/runs", {kHost, {"authorization", value}}), 401) << value;
  EXPECT_EQ(status_of(kPolicy, "/api/runs", {kHost, kToken, kToken}), 401);
  EXPECT_EQ(status_of(kPolicy, "/%61pi/runs?token=secret", {kHost}), 401);
  EXPECT_EQ(status_of(kPolicy, "/assets/app.js", {kHost}), 0);
  Policy open = kPolicy;
  open.token = "";
  EXPECT_EQ(status_of(open, "/api/runs", {kHost}), 0);
}

TEST(Policy, OtherSitesAreRefused) {
  for (const char* site : {"same-origin", "none"})
    EXPECT_EQ(status_of(kPolicy, "/api/runs", {kHost, kToken, {"sec-fetch-site", site}}), 0);
  for (const char* site : {"cross-site", "same-site", ""})
    EXPECT_EQ(status_of(kPolicy, "/api/runs", {kHost, kToken, {"sec-fetch-site", site}}), 403) << site;
  EXPECT_EQ(status_of(kPolicy, "/", {kHost, {"origin", "http://localhost:8080"}}), 0);
  EXPECT_EQ(status_of(kPolicy, "/", {{"host", "hub.example"}, {"origin", "https://hub.example"}}), 0);
  for (const char* origin :
       {"null", "http://localhost:8081", "http://127.0.0.1:8080", "http://evil.example", ""})
    EXPECT_EQ(status_of(kPolicy, "/", {kHost, {"origin", origin}}), 403) << origin;
}

TEST(Policy, ALinkFromElsewhereShowsThePageAlone) {
  const Headers link = {kHost,
                        kToken,
                        {"sec-fetch-site", "cross-site"},
                        {"sec-fetch-mode", "navigate"},
                        {"sec-fetch-dest", "document"}};
  EXPECT_EQ(status_of(kPolicy, "/", link), 0);
  EXPECT_EQ(status_of(kPolicy, "/api/runs", link), 403);
  EXPECT_EQ(status_of(kPolicy, "/assets/app.js", link), 403);
  Headers frame = link;
  frame.back().second = "iframe";
  EXPECT_EQ(status_of(kPolicy, "/", frame), 403);
}

TEST(Policy, OnlyReading) {
  EXPECT_EQ(status_of(kPolicy, "/", {kHost}, "HEAD"), 0);
  for (const char* method : {"POST", "PUT", "OPTIONS", "get", ""})
    EXPECT_EQ(status_of(kPolicy, "/", {kHost}, method), 405) << method;
}

TEST(Policy, BasePath) {
  EXPECT_EQ(base_path(""), "/");
  EXPECT_EQ(base_path("/"), "/");
  EXPECT_EQ(base_path("user/me"), "/user/me/");
  EXPECT_EQ(base_path("//user//me//"), "/user/me/");
  Policy below = kPolicy;
  below.base = "/user/me/";
  EXPECT_EQ(status_of(below, "/user/me/", {kHost}), 0);
  for (const char* target :
       {"/", "/user/me", "/user/you/", "/user/me2/", "user/me/", "*", "http://localhost:8080/"})
    EXPECT_EQ(status_of(below, target, {kHost}), 404) << target;
  EXPECT_EQ(admitted(below, {"GET", "/user/me/api/runs", {kHost, kToken}}).path,
            (std::vector<std::string>{"api", "runs"}));
}

TEST(Policy, TokensDiffer) {
  EXPECT_EQ(new_token().size(), 32u);
  EXPECT_NE(new_token(), new_token());
}

}  // namespace
}  // namespace stepscope::serve
