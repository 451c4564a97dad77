// Each kind of damage: what is kept, what is counted, and at which byte. And: the answer never depends on how
// the text is cut into blocks or on the number of threads.
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "read/kineto/kineto.h"
#include "support/dump.h"
#include "support/open_text.h"

namespace stepscope::read {
namespace {

using test::dump;
using test::dump_rows;
using test::open_text;
using Rows = std::vector<std::string>;
using std::string_literals::operator""s;

std::string event(std::string_view name, int ts, std::string_view more = "") {
  return "{\"ph\":\"X\",\"name\":\"" + std::string(name) +
         "\",\"pid\":1,\"tid\":1,\"ts\":" + std::to_string(ts) + ",\"dur\":1" + std::string(more) + "}";
}

std::string row(std::string_view name, int ts) {
  return "1/1 op " + std::string(name) + " [" + std::to_string(ts) + "000, " + std::to_string(ts + 1) +
         "000) {}";
}

const std::string kHead = "{\"traceEvents\":[";

struct Seen {
  Rows rows;
  trace::Reading reading;
};

Seen seen(std::string_view text) {
  auto trace = open_text(text);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().text());
  if (!trace.ok()) return {};
  return {dump_rows(*trace), trace->ranks[0].reading};
}

/// `good` events around one `bad` piece of text: the good ones stay, and one loss spans the bad one.
void expect_only_lost(std::string_view bad) {
  const std::string before = kHead + event("a", 1) + ",\n";
  const std::string text = before + std::string(bad) + ",\n" + event("c", 9) + "]}";
  const Seen s = seen(text);
  EXPECT_EQ(s.rows, (Rows{row("a", 1), row("c", 9)})) << bad;
  ASSERT_EQ(s.reading.losses, 1) << bad;
  EXPECT_EQ(s.reading.first_losses[0].byte, static_cast<std::int64_t>(before.size())) << bad;
  EXPECT_EQ(s.reading.first_losses[0].bytes, static_cast<std::int64_t>(bad.size()) + 2) << bad;
  EXPECT_EQ(s.reading.lost_bytes, static_cast<std::int64_t>(bad.size()) + 2) << bad;
  EXPECT_FALSE(s.reading.first_losses[0].reason.empty()) << bad;
  EXPECT_TRUE(s.reading.complete) << bad;
}

TEST(KinetoDamage, CostsOnlyTheEventItIsIn) {
  expect_only_lost(R"({"ph":"X","name":"say "hi" now","pid":1,"tid":1,"ts":5,"dur":1})");
  expect_only_lost(R"x({"ph":"X","name":"b","pid":1,"tid":1,"ts":5,"dur":1,"args":{"stack":"f("x")","n":1
}
})x");
  expect_only_lost(R"({"ph":"X","name":"b","pid":1,"tid":1,"ts":5,"args":{"l":["a"b","c"]},"dur":1})");
  expect_only_lost(R"({"ph":"X" "name":"b","pid":1,"tid":1,"ts":5,"dur":1})");
  expect_only_lost(R"({"ph":"X","name" "b","pid":1,"tid":1,"ts":5,"dur":1})");
  expect_only_lost(R"({"ph":"X","name":"b","pid":,"tid":1,"ts":5,"dur":1})");
  expect_only_lost(R"({"ph":"X","name":"b","pid":1,"tid":1,"ts":5,"dur":1,"args":{"a":}})");
  expect_only_lost(R"({"ph":"X","name":"b",,"pid":1,"tid":1,"ts":5,"dur":1})");
  expect_only_lost(R"({"ph":X,"name":"b","pid":1,"tid":1,"ts":5,"dur":1})");
  expect_only_lost(R"({ph:"X","name":"b","pid":1,"tid":1,"ts":5,"dur":1})");
  expect_only_lost(R"(nonsense})");
  expect_only_lost(std::string("\0\0\0\0}", 5));
  expect_only_lost("{\"ph\":\"X\",\0\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":1}"s);
}

TEST(KinetoDamage, NulAndControlCharactersInTextsAreKept) {
  const Seen s = seen(kHead + event(std::string("a\0b\n\x01", 5), 1) + "]}");
  ASSERT_EQ(s.rows.size(), 1u);
  EXPECT_EQ(s.rows[0], row(std::string("a\0b\n\x01", 5), 1));
  EXPECT_EQ(s.reading.losses, 0);
}

TEST(KinetoDamage, ABraceTooManyCostsNoEvent) {
  const Seen s = seen(kHead + event("a", 1) + "}," + event("b", 3) + "," + event("c", 5) + "]}");
  EXPECT_EQ(s.rows, (Rows{row("a", 1), row("b", 3), row("c", 5)}));
  EXPECT_EQ(s.reading.losses, 1);
  EXPECT_EQ(s.reading.lost_bytes, 2);
}

TEST(KinetoDamage, AMissingCommaCostsNothing) {
  const Seen s = seen(kHead + event("a", 1) + "\n" + event("b", 3) + "]}");
  EXPECT_EQ(s.rows, (Rows{row("a", 1), row("b", 3)}));
  EXPECT_EQ(s.reading.losses, 0);
}

TEST(KinetoDamage, ACutFileKeepsEveryCompleteEvent) {
  const std::string first = kHead + event("a", 1), second = "," + event("b", 3),
                    whole = first + second + "]}";
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    const std::string text = whole.substr(0, cut);
    const auto trace = open_text(text);
    if (cut < first.size()) {
      EXPECT_FALSE(trace.ok()) << text;
      continue;
    }
    ASSERT_TRUE(trace.ok()) << text;
    const bool has_second = cut >= first.size() + second.size();
    EXPECT_EQ(dump_rows(*trace), (has_second ? Rows{row("a", 1), row("b", 3)} : Rows{row("a", 1)})) << text;
    const trace::Reading& reading = trace->ranks[0].reading;
    EXPECT_EQ(reading.complete, cut == whole.size()) << text;
    EXPECT_EQ(reading.text_bytes, static_cast<std::int64_t>(cut));
    const bool in_second = cut > first.size() + 1 && !has_second;
    EXPECT_EQ(reading.losses, in_second ? 1 : 0) << text;
    if (in_second) {
      EXPECT_EQ(reading.first_losses[0].byte, static_cast<std::int64_t>(first.size() + 1));
      EXPECT_EQ(reading.lost_bytes, static_cast<std::int64_t>(cut - first.size() - 1));
    }
  }
}

TEST(KinetoDamage, ACutGzipKeepsWhatItHolds) {
  std::string text = kHead + event("first", 0);
  for (int i = 1; i < 2000; ++i) text += "," + event("n" + std::to_string(i * 7919 % 10007), i);
  const std::string whole = test::gzip(text + "]}");
  const Seen s = seen(whole.substr(0, whole.size() / 2));
  EXPECT_GT(s.rows.size(), 500u);
  EXPECT_LT(s.rows.size(), 1500u);
  EXPECT_FALSE(s.reading.complete);
  ASSERT_GE(s.reading.first_losses.size(), 1u);
  EXPECT_EQ(s.reading.first_losses[0].byte, static_cast<std::int64_t>(whole.size() / 2))
      << "gzip damage is placed in the file as stored";
}

TEST(KinetoDamage, ADamagedGzipMemberCostsItself) {
  std::string middle = test::gzip("," + event("b", 3));
  for (std::size_t i = 12; i < middle.size(); ++i) middle[i] = static_cast<char>(middle[i] ^ 0x55);
  const std::string head = test::gzip(kHead + event("a", 1));
  const Seen s = seen(head + middle + test::gzip("," + event("c", 5) + "," + event("d", 7) + "]}"));
  ASSERT_GE(s.rows.size(), 2u);
  EXPECT_EQ(s.rows.front(), row("a", 1));
  EXPECT_EQ(s.rows.back(), row("d", 7));
  ASSERT_GE(s.reading.losses, 1);
  EXPECT_GE(s.reading.first_losses[0].byte, static_cast<std::int64_t>(head.size()));
  EXPECT_LE(s.reading.first_losses[0].byte, static_cast<std::int64_t>(head.size() + middle.size()));
}

TEST(KinetoDamage, TextBehindTheEndIsOneLoss) {
  const std::string whole = kHead + event("a", 1) + "]}";
  const Seen s = seen(whole + " garbage " + event("old", 7) + "," + event("older", 8));
  EXPECT_EQ(s.rows, Rows{row("a", 1)});
  EXPECT_EQ(s.reading.losses, 1);
  EXPECT_EQ(s.reading.first_losses[0].byte, static_cast<std::int64_t>(whole.size() + 1));
  EXPECT_FALSE(s.reading.complete);
}

TEST(KinetoDamage, AnUnescapedQuoteInTheHeadDoesNotHideTheEvents) {
  const Seen s = seen(R"({"INFO": ["say "hi""], "traceEvents":[)" + event("a", 1) + "," + event("b", 3) +
                      "," + event("c", 5) + "]}");
  EXPECT_EQ(s.rows, (Rows{row("b", 3), row("c", 5)}));
  EXPECT_EQ(s.reading.losses, 1);
  EXPECT_EQ(s.reading.first_losses[0].byte, 1);
}

TEST(KinetoDamage, NothingReadableIsAnErrorWithAPlace) {
  for (std::string_view text : {"", " ", "hello", "{}", "[]", "{\"traceEvents\":[]}", "{\"traceEvents\":{}}",
                                "{\"traceEvents\":[{\"ph\":\"X\"", "\x1f\x8b", "\x1f\x8b\x08", "null",
                                "{\"a\"", "[[[[", "]", "}", "\"", "{\"traceEvents\":["}) {
    const auto trace = open_text(text);
    ASSERT_FALSE(trace.ok()) << text;
    EXPECT_EQ(trace.error().file, "text");
    EXPECT_FALSE(trace.error().message.empty());
  }
  EXPECT_EQ(open_text("hello").error().byte, 0);
  EXPECT_EQ(open_text("{\"traceEvents\":[{\"ph\":\"X\"").error().byte, 16);
}

TEST(KinetoDamage, EventsWithoutAUsableTimeAreNoSuccess) {
  EXPECT_FALSE(open_text(kHead + R"({"ph":"M","name":"process_name","pid":1,"args":{"name":"x"}}]})").ok());
  EXPECT_FALSE(open_text(kHead + R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":null,"dur":3}]})").ok());
  EXPECT_FALSE(open_text(kHead + "{},{}]}").ok());
}

TEST(KinetoDamage, AbsurdTimesAreCountedAndNeverOverflow) {
  const auto at = [](std::string_view times) {
    return "{\"ph\":\"X\",\"name\":\"n\",\"pid\":1,\"tid\":1," + std::string(times) + "}";
  };
  const Seen s = seen(kHead + event("a", 1) + "," + at("\"ts\":2,\"dur\":-5") + "," +
                      at("\"ts\":3,\"dur\":NaN") + "," + at("\"ts\":4,\"dur\":1e300") + "," +
                      at("\"ts\":1e300,\"dur\":1") + "," + at("\"ts\":NaN,\"dur\":1") + "," +
                      at("\"ts\":-1e30,\"dur\":1") + "," + at("\"ts\":\"5\",\"dur\":\"2.5\"") + "," +
                      at("\"ts\":6,\"dur\":99999999999999999999999") + "," + at("\"ts\":7") + "]}");
  EXPECT_EQ(s.rows, (Rows{row("a", 1), "1/1 op n [2000, 2000) {}", "1/1 op n [3000, 3000) {}",
                          "1/1 op n [4000, 4000) {}", "1/1 op n [5000, 7500) {}", "1/1 op n [6000, 6000) {}",
                          "1/1 op n [7000, 7000) {}"}));
  EXPECT_EQ(s.reading.clamped_times, 7);
  EXPECT_EQ(s.reading.events, 10);
}

TEST(KinetoDamage, PidsAndTidsOfAnyKindAreKept) {
  const Seen s = seen(
      kHead +
      R"({"ph":"X","name":"a","pid":12345678901234567890,"tid":1.5,"ts":1,"dur":1},{"ph":"X","name":"b","pid":null,"tid":[1],"ts":1,"dur":1},)" +
      R"({"ph":"X","name":"c","ts":1,"dur":1}]})");
  EXPECT_EQ(s.rows.size(), 3u);
  EXPECT_EQ(s.reading.losses, 0);
}

TEST(KinetoDamage, ManyLossesAreCountedButFewDescribed) {
  std::string text = kHead + event("a", 1);
  for (int i = 0; i < 5000; ++i) text += ",{\"ph\":,\"name\":1}";
  const Seen s = seen(text + "," + event("b", 3) + "]}");
  EXPECT_EQ(s.rows, (Rows{row("a", 1), row("b", 3)}));
  EXPECT_EQ(s.reading.losses, 5000);
  EXPECT_EQ(s.reading.first_losses.size(), 16u);
}

TEST(KinetoDamage, GzipFaultsAreCountedButFewDescribed) {
  std::string bytes = test::gzip(kHead + event("a", 1) + ",");
  for (int i = 0; i < 3000; ++i) bytes += "\x1f\x8b\x08\0\0\0\0\0\0\xff\xff\xff"s;
  const Seen s = seen(bytes + test::gzip(event("b", 3) + "]}"));
  EXPECT_EQ(s.rows, (Rows{row("a", 1), row("b", 3)}));
  EXPECT_GE(s.reading.losses, 3000);
  EXPECT_LE(s.reading.first_losses.size(), 16u);
}

// ---- How the text is cut must not matter.

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

/// Some hundred events with, when asked for, damage here and there.
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

TEST(KinetoBlocks, AnEventLongerThanIsHeldIsGivenUp) {
  const std::string text = kHead + event("a", 1) + "," + event(std::string(100'000, 'x'), 3) + "," +
                           event("b", 5) + "," + event("c", 7) + "]}";
  const auto trace = open_text(text, {1, {1000, 20'000}});
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(dump_rows(*trace), (Rows{row("a", 1), row("b", 5), row("c", 7)}));
  ASSERT_EQ(trace->ranks[0].reading.losses, 1);
  const trace::Loss& loss = trace->ranks[0].reading.first_losses[0];
  EXPECT_EQ(loss.byte, static_cast<std::int64_t>((kHead + event("a", 1) + ",").size()));
  EXPECT_EQ(loss.reason, "an event longer than 20000 bytes, the most that is read of one");
}

/// Text made as it is read: `head`, then `fill` `times` times, then `tail`. Held nowhere.
class EndlessBytes : public ByteSource {
 public:
  EndlessBytes(std::string head, std::string fill, std::size_t times, std::string tail)
      : head_(std::move(head)), fill_(std::move(fill)), tail_(std::move(tail)), times_(times) {}
  std::size_t read(char* out, std::size_t size) override {
    std::size_t done = 0;
    while (done < size) {
      if (at_ == head_.size()) {
        if (times_ > 0) {
          --times_;
          head_ = fill_;
        } else if (!tail_.empty()) {
          head_ = std::exchange(tail_, {});
        } else {
          break;
        }
        at_ = 0;
      }
      const std::size_t n = std::min(size - done, head_.size() - at_);
      std::memcpy(out + done, head_.data() + at_, n);
      at_ += n;
      done += n;
    }
    position_ += static_cast<std::int64_t>(done);
    return done;
  }
  std::int64_t position() const override { return position_; }

 private:
  std::string head_, fill_, tail_;
  std::size_t times_, at_ = 0;
  std::int64_t position_ = 0;
};

Result<ParsedFile> parse_endless(const std::string& fill, std::size_t megabytes,
                                 const std::string& quote = "") {
  const std::string chunk = [&] {
    std::string s;
    while (s.size() < (1u << 20)) s += fill;
    return s;
  }();
  const auto reopen = [&]() -> Result<std::unique_ptr<ByteSource>> {
    return std::unique_ptr<ByteSource>(
        std::make_unique<EndlessBytes>(kHead + event("a", 1) + ",{\"name\":" + quote, chunk, megabytes,
                                       "\"}," + event("b", 3) + "," + event("c", 5) + "]}"));
  };
  KinetoOptions options;
  options.blocks = {std::size_t{1} << 18, std::size_t{1} << 22};
  return parse_kineto("endless", reopen, options);
}

class KinetoHostile : public testing::TestWithParam<const char*> {};

/// 12 MB of one thing between events: more than is held at a time.
TEST_P(KinetoHostile, KeepsTheRestInBoundedTimeAndMemory) {
  const auto begin = std::chrono::steady_clock::now();
  const auto file = parse_endless(GetParam(), 12);
  ASSERT_TRUE(file.ok());
  EXPECT_GE(file->rank.reading.events, 2);
  EXPECT_GE(file->rank.reading.losses, 1);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(100));
}

INSTANTIATE_TEST_SUITE_P(Text, KinetoHostile,
                         testing::Values("x",                     // a number or a word that never ends
                                         "[", "{\"a\":[",         // nesting
                                         "},{\"name\":[[",        // starts of events that never end
                                         "},{\"name\":[[\"x\",",  // the same with texts in them
                                         "\"},{\"name\":\"",      // tiny events
                                         "\\\\"));

TEST(KinetoLimits, ATextOfManyMegabytes) {
  const auto file = parse_endless("x", 12, "\"");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->rank.reading.losses, 1);
  EXPECT_EQ(file->rank.reading.events, 3) << "all but the one whose name it is";
}

// 500 events of 200 schemas each: one thread has room for those of some 200 events, several for all.
TEST(KinetoLimits, ManySchemasAreTheSameInAnyNumberOfThreads) {
  std::string text = kHead + event("a", 1);
  for (int i = 0; i < 500; ++i) {
    text += ",{\"ph\":\"X\",\"ts\":1,\"args\":{\"first" + std::to_string(i) + "\":1";
    for (int k = 0; k < 200; ++k) text += ",\"k" + std::to_string(k) + "\":1";
    text += "}}";
  }
  const std::string expected = dump(open_text(text + "]}").value());
  EXPECT_NE(expected.find("(more args)"), std::string::npos);
  for (unsigned threads : {2u, 3u, 8u})
    EXPECT_EQ(dump(open_text(text + "]}", {threads, {10'000, 1 << 20}}).value()), expected) << threads;
}

TEST(KinetoLimits, ManySchemasStayBounded) {
  std::string text = kHead + event("a", 1);
  for (int i = 0; i < 3000; ++i) {
    text += ",{\"ph\":\"X\",\"ts\":1,\"args\":{\"first" + std::to_string(i) + "\":1";
    for (int k = 0; k < 200; ++k) text += ",\"k" + std::to_string(k) + "\":1";
    text += "}}";
  }
  const auto trace = open_text(text + "]}");
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->ranks[0].events.size(), 3001u);
  EXPECT_LT(trace->schemas.total_fields(), std::size_t{1} << 23);
}

}  // namespace
}  // namespace stepscope::read
