#include "serve/file/report_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <map>

#include "base/base64.h"
#include "base/sha256.h"
#include "read/open.h"
#include "serve/folder_for_test.h"

namespace stepscope::serve {
namespace {

std::string inflated(const std::string& base64_text) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string packed;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : base64_text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<std::uint32_t>(kLetters.find(c));
    held += 6;
    if (held < 8) continue;
    held -= 8;
    packed += static_cast<char>(bits >> held);
  }
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, -15), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string out;
  int result = Z_OK;
  while (result == Z_OK) {
    char piece[4096];
    stream.next_out = reinterpret_cast<Bytef*>(piece);
    stream.avail_out = sizeof piece;
    result = inflate(&stream, Z_NO_FLUSH);
    out.append(piece, sizeof piece - stream.avail_out);
  }
  EXPECT_EQ(result, Z_STREAM_END);
  inflateEnd(&stream);
  return out;
}

/// The texts between `begin` and `end`.
std::vector<std::string> between(const std::string& text, std::string_view begin, std::string_view end) {
  std::vector<std::string> found;
  for (std::size_t at = 0; (at = text.find(begin, at)) != text.npos;) {
    const std::size_t from = at + begin.size(), to = text.find(end, from);
    found.push_back(text.substr(from, to - from));
    at = to;
  }
  return found;
}

std::map<std::string, std::string> blocks_in(const std::string& html) {
  std::map<std::string, std::string> blocks;
  for (const std::string& block :
       between(html, "<script type=\"application/octet-stream\" id=\"", "</script>")) {
    const std::size_t quote = block.find('"');
    blocks[block.substr(0, quote)] = inflated(block.substr(quote + 2));
  }
  return blocks;
}

/// Everything that a reader of the file can see.
std::string all_texts(const std::string& html) {
  std::string all = html;
  for (const auto& [id, bytes] : blocks_in(html)) all += "\n" + bytes;
  return all;
}

constexpr const char* kHostile =
    R"({"schemaVersion":1,"hostname":"node-7.lab","traceEvents":[
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":100},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#2","pid":1,"tid":1,"ts":100,"dur":100},
{"ph":"X","cat":"cpu_op","name":"</script><script>alert(1)</script>","pid":1,"tid":1,"ts":1,"dur":30,
 "args":{"note":"SECRET-ARG","where":"/home/ann/work/data.bin"}},
{"ph":"X","cat":"cpu_op","name":"<!-- \u202e\u0007 gnp","pid":1,"tid":1,"ts":40,"dur":20,"args":{"Call stack":"/home/ann/work/train.py(3): f"}},
{"ph":"X","cat":"python_function","name":"/home/ann/work/train.py(88): main on node-7","pid":1,"tid":1,"ts":110,"dur":60},
{"ph":"X","cat":"kernel","name":"gemm</style>","pid":0,"tid":7,"ts":60,"dur":20,"args":{"device":0,"stream":7}}]})";

class ReportFileTest : public testing::Test {
 protected:
  std::string file_of(const ReportFileOptions& given, const std::string& text = kHostile) {
    folder_.write("ann.json", text);
    ReportFileOptions options = given;
    options.paths = {folder_.at("ann.json")};
    auto trace = read::open(options.paths);
    EXPECT_TRUE(trace.ok());
    return report_file(std::make_shared<const trace::Trace>(std::move(*trace)), options);
  }

  FolderForTest folder_{"report_file"};
};

TEST_F(ReportFileTest, HoldsAnswersByTheirAddresses) {
  const auto blocks = blocks_in(file_of({}));
  const std::string& answers = blocks.at("answers");
  for (const char* key : {"\"runs\":{", "\"analyses\":{", "\"runs/0/report\":{", "\"exact\":[[0,200001]]"})
    EXPECT_NE(answers.find(key), answers.npos) << key;
  for (const char* key : {"\"runs/0/timeline\":{", "\"runs/0/names/0\":["})
    EXPECT_NE(blocks.at("timeline").find(key), std::string::npos) << key;
  EXPECT_NE(blocks.at("details").find("\"runs/0/event?rank=0&id=2\":{"), std::string::npos);
  EXPECT_EQ(blocks.at("events-0").substr(0, 4), "EVEN");
}

TEST_F(ReportFileTest, ThePolicyNamesItsScriptAndStylesAndNothingElse) {
  const std::string html = file_of({});
  const auto name_of = [](const std::string& text) {
    const auto hash = sha256(text);
    return "'sha256-" + base64({reinterpret_cast<const char*>(hash.data()), hash.size()}) + "'";
  };
  const auto scripts = between(html, "<script type=\"module\">", "</script>");
  const auto plain = between(html, "<style id=\"static-style\">", "</style>");
  const auto live = between(html, "<style id=\"live-style\" media=\"not all\">", "</style>");
  ASSERT_EQ(scripts.size() + plain.size() + live.size(), 3u);
  EXPECT_EQ(between(html, "Content-Security-Policy\" content=\"", "\"").front(),
            "default-src 'none'; script-src " + name_of(scripts[0]) + "; style-src " + name_of(plain[0]) +
                " " + name_of(live[0]) +
                "; require-trusted-types-for 'script'; img-src data:; base-uri 'none'; form-action 'none'");
  EXPECT_EQ(html.substr(0, html.find("<script type=\"module\">")).find(" style=\""), std::string::npos);
}

TEST_F(ReportFileTest, HostileNamesEndNoElement) {
  const std::string html = file_of({});
  const std::string before_script = html.substr(0, html.find("<script type=\"module\">"));
  EXPECT_EQ(before_script.find("<script>"), std::string::npos);
  EXPECT_EQ(before_script.find("<!--"), std::string::npos);
  EXPECT_EQ(between(html, "</style", ">").size(), 2u);
  EXPECT_EQ(between(html, "<script", ">").size(), between(html, "</script", ">").size());
  const std::string names = blocks_in(html).at("timeline");
  EXPECT_NE(names.find("alert(1)"), names.npos);
  EXPECT_EQ(names.find("\xE2\x80\xAE"), names.npos);  // the mark that turns the direction of text
}

TEST_F(ReportFileTest, WhatIsRedactedIsNowhere) {
  const std::string open = all_texts(file_of({}));
  for (const char* secret : {"SECRET-ARG", "/home/ann", "node-7", "train.py(3)"})
    EXPECT_NE(open.find(secret), open.npos) << secret;
  ReportFileOptions options;
  options.redaction = redaction_of("paths,hosts,args").value();
  const std::string all = all_texts(file_of(options));
  for (const char* secret : {"SECRET-ARG", "/home/ann", "ann/", "node-7", "node-7.lab", "train.py(3)",
                             "data.bin", folder_.path().c_str()})
    EXPECT_EQ(all.find(secret), all.npos) << secret;
  EXPECT_NE(all.find("train.py(88): main on host"), all.npos);
  EXPECT_NE(all.find("Args, stacks and links of events are left out."), all.npos);
}

TEST_F(ReportFileTest, ABudgetLeavesOutEventsAndSaysSo) {
  std::string text = R"({"schemaVersion":1,"traceEvents":[)";
  std::uint32_t random = 1;
  for (int step = 0; step < 100; ++step) {
    text += fmt::format(
        R"({{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{}","pid":1,"tid":1,"ts":{},"dur":9900}},)",
        step, step * 10'000);
    for (int op = 0; op < 400; ++op) {
      random = random * 1664525 + 1013904223;
      text +=
          fmt::format(R"({{"ph":"X","cat":"cpu_op","name":"op{}","pid":1,"tid":1,"ts":{},"dur":{}}},)",
                      random >> 26, step * 10'000 + op * 24 + (random >> 10) % 7, 1 + (random >> 16) % 12);
    }
  }
  text.back() = ']';
  text += '}';
  const std::string whole = file_of({}, text);
  EXPECT_TRUE(blocks_in(whole).at("answers").find("\"exact\":[[0,") != std::string::npos);
  EXPECT_EQ(whole.find("coarse tiles"), whole.npos);
  ReportFileOptions options;
  options.max_size = static_cast<std::int64_t>(whole.size()) - 200'000;
  const std::string cut = file_of(options, text);
  EXPECT_LE(static_cast<std::int64_t>(cut.size()), options.max_size);
  EXPECT_NE(cut.find("the rest is drawn from coarse tiles"), cut.npos);
  const auto blocks = blocks_in(cut);
  EXPECT_TRUE(blocks.contains("events-0"));
  EXPECT_TRUE(
      std::ranges::any_of(blocks, [](const auto& block) { return block.first.starts_with("tiles-"); }));
  options.max_size = 1000;
  const std::string least = file_of(options, text);
  EXPECT_NE(least.find("Its timeline is left out"), least.npos);
  EXPECT_EQ(blocks_in(least).size(), 1u);
}

TEST(SizeOf, ReadsUnits) {
  EXPECT_EQ(size_of("20MB").value(), 20'000'000);
  EXPECT_EQ(size_of("500 kB").value(), 500'000);
  EXPECT_EQ(size_of("1.5MiB").value(), 1'572'864);
  EXPECT_EQ(size_of("3000000").value(), 3'000'000);
  for (const char* wrong : {"", "MB", "20XB", "-1MB", "1e99GB", "nan"})
    EXPECT_FALSE(size_of(wrong).ok()) << wrong;
}

}  // namespace
}  // namespace stepscope::serve
