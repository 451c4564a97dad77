// The answer depends neither on how the text is cut into blocks nor on the number of threads.
#include <gtest/gtest.h>

#include <random>

#include "support/kineto_text.h"

namespace stepscope::read {
namespace {

using std::string_literals::operator""s;
using test::dump;
using test::event;
using test::kHead;
using test::open_text;

/// A text with every construct a block boundary may fall into.
std::string every_construct() {
  return "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"x\"},{\"id\": 1, \"name\": "
         "\"y\"}],\n\"traceEvents\": [" +
         event("a\\\"\\\\\\u00e9", 1,
               ",\"args\":{\"l\":[[1, 2], "
               "[\"}\",{\"name\":1},{\"name\":2}]],\"r\":1.25,\"n\":N/A,\"t\":\"},{\\\"ph\"}") +
         ",\n  " +
         R"({"ph":"B","name":"half","pid":1,"tid":2,"ts":1.001,"args":{"k":"v"}}, {"ph":"s","id":7,"name":"f","pid":1,"tid":1,"ts":1,"cat":"ac2g"},)" +
         R"({"ph":"M","name":"thread_name","pid":1,"tid":1,"ts":0,"args":{"name":"main"}},)" +
         R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1711964646123456.789,"dur":12.5,"args":{"correlation":3}},)" +
         R"({"ph":"X","name":"bad "quote" here","pid":1,"tid":1,"ts":5,"dur":1},)" +
         event("ProfilerStep#1", 3, ",\"cat\":\"user_annotation\"") +
         R"(, {"ph":"E","pid":1,"tid":2,"ts":2.5})" + "," + event("z", 9) +
         "\n], \"distributedInfo\": {\"rank\": 2}, \"traceName\": \"t\"}\n";
}

TEST(KinetoBlocks, EveryBlockSizeGivesTheSame) {
  const std::string text = every_construct();
  const std::string expected = dump(open_text(text).value());
  for (std::size_t block = 1; block <= text.size() + 1; ++block) {
    const auto trace = open_text(text, {1, {block, 1 << 20}});
    ASSERT_TRUE(trace.ok()) << block;
    ASSERT_EQ(dump(*trace), expected) << "blocks of " << block;
  }
}

TEST(KinetoBlocks, EveryCutAndBlockSizeGivesTheSame) {
  const std::string whole = every_construct();
  for (std::size_t cut = 0; cut < whole.size(); cut += 3) {
    const std::string text = whole.substr(0, cut);
    const auto expected = open_text(text);
    for (std::size_t block : {1, 2, 7, 64, 200}) {
      for (unsigned threads : {1u, 3u}) {
        const auto trace = open_text(text, {threads, {block, 1 << 20}});
        ASSERT_EQ(trace.ok(), expected.ok()) << cut << ' ' << block;
        if (trace.ok()) {
          ASSERT_EQ(dump(*trace), dump(*expected))
              << "cut " << cut << ", blocks of " << block << ", threads " << threads;
        } else {
          ASSERT_EQ(trace.error().text(), expected.error().text());
        }
      }
    }
  }
}

/// 400 events, with damage here and there if `damaged`.
std::string long_text(std::mt19937& random, bool damaged) {
  std::string text = "{\"traceEvents\": [\n";
  for (int i = 0; i < 400; ++i) {
    if (i > 0) text += ",\n";
    text += event("n" + std::to_string(random() % 50), i * 3,
                  random() % 2 == 0 ? ",\"args\":{\"k" + std::to_string(random() % 9) + "\":[[1],{}]}" : "");
  }
  text += "\n], \"baseTimeNanoseconds\": 5}";
  for (int i = 0; damaged && i < 6; ++i) {
    const std::size_t at = random() % text.size();
    switch (random() % 4) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, 1 + random() % 100);
        break;
      case 2:
        text.insert(at, 1, "\"{}[],\\\0"[random() % 8]);
        break;
      default:
        text.insert(at, text.substr(random() % text.size(), random() % 300));
    }
  }
  return text;
}

TEST(KinetoThreads, EveryCountGivesTheSame) {
  std::mt19937 random(4);
  for (int round = 0; round < 60; ++round) {
    const std::string text = long_text(random, round % 6 != 0);
    const auto expected = open_text(text, {1, {}});
    for (unsigned threads : {1u, 2u, 3u, 8u}) {
      for (std::size_t block : {300u, 2000u, 100000u}) {
        const auto trace = open_text(text, {threads, {block, 1 << 20}});
        ASSERT_EQ(trace.ok(), expected.ok()) << round;
        if (trace.ok()) {
          ASSERT_EQ(dump(*trace), dump(*expected))
              << "round " << round << ", threads " << threads << ", blocks of " << block;
        }
      }
    }
  }
}

TEST(KinetoThreads, BareArraysAndOldTrailers) {
  std::string events;
  for (int i = 0; i < 300; ++i) events += (i > 0 ? "," : "") + event("n" + std::to_string(i), i);
  for (const std::string& text :
       {"[" + events + "]", "[" + events,
        kHead + events + "],\"deviceProperties\":[{\"id\":0,\"name\":\"a\"},{\"id\":1,\"name\":\"b\"}]}",
        kHead + events + "],\"x\":1,\"traceEvents\":[" + event("second", 500) + "],\"x\":2}"}) {
    const auto expected = open_text(text);
    ASSERT_TRUE(expected.ok());
    for (unsigned threads : {2u, 3u, 8u}) {
      const auto trace = open_text(text, {threads, {500, 1 << 20}});
      ASSERT_TRUE(trace.ok());
      EXPECT_EQ(dump(*trace), dump(*expected)) << threads;
    }
  }
}

}  // namespace
}  // namespace stepscope::read
