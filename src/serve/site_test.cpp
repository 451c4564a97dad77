#include "serve/site.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "serve/folder_for_test.h"

namespace stepscope::serve {
namespace {

class Served : public testing::Test {
 protected:
  Served() {
    folder_.write("runs/a.json", one_op("aten::mm"));
    folder_.write("program/train.py", "one\ntwo\nthree\n");
    auto finder = RunFinder::below({folder_.at("runs")});
    auto sources = SourceFiles::below(folder_.at("program"));
    site_.emplace(Policy{{"here"}, "t", "/"}, std::move(*finder), std::move(*sources));
  }
  Response ask(const std::string& target, bool with_token = true) {
    Request request{"GET", target, {{"host", "here"}}};
    if (with_token) request.headers.emplace_back("authorization", "Bearer t");
    if (auto now = site_->at_once(request)) return *now;
    return site_->answer(request);
  }

  const FolderForTest folder_{"stepscope-site-"};
  std::optional<Site> site_;
};

TEST_F(Served, WhatNeedsNoFileIsAnsweredAtOnce) {
  const Headers host = {{"host", "here"}};
  EXPECT_EQ(site_->at_once({"GET", "/", host})->status, 200);
  EXPECT_EQ(site_->at_once({"GET", "/api/runs", host})->status, 401);
  EXPECT_EQ(site_->at_once({"GET", "/nothing", host})->status, 404);
  EXPECT_FALSE(site_->at_once({"GET", "/api/runs", {{"host", "here"}, {"authorization", "Bearer t"}}}));
}

TEST_F(Served, Routes) {
  EXPECT_TRUE(has(ask("/api/runs").body, R"("name":"a.json","state":"new")"));
  EXPECT_TRUE(has(ask("/api/analyses").body, "\"operators\""));
  const Response operators = ask("/api/runs/0/show/operators");
  EXPECT_EQ(operators.status, 200);
  EXPECT_TRUE(has(operators.body, "aten::mm"));
  EXPECT_EQ(operators.cache_control, "no-cache");
  EXPECT_EQ(ask("/api/runs/0/show/operators?hash=" + operators.etag).cache_control,
            "private, max-age=31536000, immutable");
  EXPECT_EQ(ask("/api/runs/0/show/operators?hash=other").status, 409);
  EXPECT_TRUE(has(ask("/api/runs/0/table/operators/0?count=1").body, "\"matching\":1"));
  EXPECT_EQ(ask("/api/runs/0/diff?base=0").etag, operators.etag + "-" + operators.etag);
  EXPECT_EQ(ask("/api/runs/0/report").status, 200);
  for (const char* nothing :
       {"/api", "/api/", "/api/run", "/api/runs/", "/api/runs/0", "/api/runs/0/", "/api/runs/0/show",
        "/api/runs/0/show/operators/", "/api/runs/1/report", "/api/analyses/x", "/assets/app.js"})
    EXPECT_EQ(ask(nothing).status, 404) << nothing;
}

TEST_F(Served, SourceLines) {
  EXPECT_EQ(ask("/api/source?file=train.py&line=2&around=0").body, "two\n");
  EXPECT_EQ(ask("/api/source?file=" + folder_.at("program/train.py")).body, "one\ntwo\nthree\n");
  EXPECT_EQ(ask("/api/source?file=../runs/a.json").status, 404);
  EXPECT_EQ(ask("/api/source?file=" + folder_.at("runs/a.json")).status, 404);
  EXPECT_EQ(ask("/api/source?file=train.py", false).status, 401);
}

TEST_F(Served, NobodyWaits) {
  Request request{"GET", "/api/runs/0/report", {{"host", "here"}, {"authorization", "Bearer t"}}};
  request.is_gone = [] { return true; };
  EXPECT_EQ(site_->answer(request).status, 503);
  EXPECT_TRUE(has(ask("/api/runs").body, R"("state":"new")"));  // it was not opened
}

TEST(Assets, NamesHoldAHash) {
  const EmbeddedFile files[] = {
      {"app.css", "b"},
      {"app.js", "a"},
      {"index.html", "<link href=\"assets/app.css\"><script src=\"assets/app.js\">"}};
  const Assets assets(files);
  const std::string& page = assets.page().body;
  const std::string name = page.substr(page.find("assets/app.", 20) + 7, 23);
  ASSERT_NE(assets.named(name), nullptr) << name;
  EXPECT_EQ(assets.named(name)->body, "a");
  EXPECT_EQ(assets.named(name)->type, "text/javascript; charset=utf-8");
  EXPECT_EQ(assets.named("app.js"), nullptr);
  EXPECT_EQ(assets.named("index.html"), nullptr);
  const EmbeddedFile changed[] = {{"app.css", "b"}, {"app.js", "c"}, {"index.html", files[2].bytes}};
  EXPECT_NE(Assets(changed).page().etag, assets.page().etag);
}

}  // namespace
}  // namespace stepscope::serve
