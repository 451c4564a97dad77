#include "serve/file/redaction.h"

#include <gtest/gtest.h>

namespace stepscope::serve {
namespace {

TEST(Redaction, PathsKeepTheirLastPart) {
  Redaction redaction;
  redaction.paths = true;
  const std::pair<const char*, const char*> kTexts[] = {
      {"/home/ann/work/train.py(88): main", "train.py(88): main"},
      {"src/model/train.py(12): f", "train.py(12): f"},
      {"reads '/data/a/b.bin' twice", "reads 'b.bin' twice"},
      {"/home/John Smith/x/train.py(3): f", "train.py(3): f"},
      {"HOME=/home/ann", "HOME=~"},
      {"C:\\Users\\ann\\x\\train.py", "train.py"},
      {"~/x/y.py", "y.py"},
      {"stepscope show idle /data/runs/a.json.gz", "stepscope show idle a.json.gz"},
      {"s3://bucket/ann/ckpt.pt", "s3://ckpt.pt"},
      {"a,/x/y/z.so:/x/y/w.so", "a,z.so:w.so"},
      {"58 ms/step at 3 GB/s, and/or 5 FLOP/B", "58 ms/step at 3 GB/s, and/or 5 FLOP/B"},
      {"aten::add_ <module> a / b", "aten::add_ <module> a / b"},
      {"", ""}};
  for (const auto& [text, redacted] : kTexts) EXPECT_EQ(redaction.text(text), redacted);
}

TEST(Redaction, FoldersOfTheFilesMayHaveAnyLetters) {
  trace::Trace trace;
  for (const char* path : {"/data/SECRET (1)/t.json", "/data/SECRET, \"q\"/t.json", "o'x/\x01.json"})
    trace.ranks.emplace_back().path = path;
  Redaction redaction;
  redaction.paths = true;
  redaction.folders = folders_of(trace, {});
  EXPECT_EQ(redaction.text("reads /data/SECRET (1)/t.json"), "reads t.json");
  EXPECT_EQ(redaction.text("/data/SECRET, \"q\"/t.json: damaged"), "t.json: damaged");
  EXPECT_EQ(redaction.text("show idle 'o'\\''x/\x01.json'; o'x/\x01.json"),
            "show idle '\x01.json'; \x01.json");
  EXPECT_EQ(redaction.text("no'x/b"), "no'x/b");
  EXPECT_EQ(redaction.text("/data/bob/secret/x"), "x");
}

TEST(Redaction, HostsAreNumbered) {
  Redaction redaction;
  redaction.hosts = true;
  redaction.host_names = {"node-7.lab", "node-7", "gpu"};
  EXPECT_EQ(redaction.text("Node-7.lab_12.3.pt.trace.json, node-7, gpu0 gpu"),
            "host1_12.3.pt.trace.json, host2, gpu0 host3");
}

TEST(Redaction, JsonStaysJson) {
  Redaction redaction;
  redaction.paths = true;
  EXPECT_EQ(redaction.json(R"({"a/b.py":["/x/\"y\" \\z",1.5,null],"\u0041":"\ud83d\ude00 /q/r\n"})"),
            "{\"b.py\":[\"x\\\"y\\\" \\\\z\",1.5,null],\"A\":\"\xF0\x9F\x98\x80 r\\n\"}");
  EXPECT_EQ(redaction.json("\"/a/b"), "\"b\"");
}

TEST(Redaction, WordsAreChecked) {
  const Redaction some = redaction_of("paths,args").value();
  EXPECT_TRUE(some.paths && some.args && !some.hosts);
  EXPECT_FALSE(redaction_of("").value().changes_texts());
  EXPECT_EQ(redaction_of("paths,names").error().message,
            "--redact: 'names' is none of paths, hosts and args");
}

}  // namespace
}  // namespace stepscope::serve
