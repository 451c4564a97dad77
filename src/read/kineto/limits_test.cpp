// Texts larger than the memory limit: time and memory are bounded, and the other events are kept.
#include <gtest/gtest.h>

#include <chrono>

#include "read/kineto/kineto.h"
#include "support/kineto_text.h"

namespace stepscope::read {
namespace {

using test::dump;
using test::dump_rows;
using test::event;
using test::kHead;
using test::open_text;
using test::row;
using test::Rows;

TEST(KinetoBlocks, AnEventLongerThanIsHeldIsGivenUp) {
  const std::string text = kHead + event("a", 1) + "," + event(std::string(100'000, 'x'), 3) + "," +
                           event("b", 5) + "," + event("c", 7) + "]}";
  const auto trace = open_text(text, {1, {1000, 20'000}});
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(dump_rows(*trace), (Rows{row("a", 1), row("b", 5), row("c", 7)}));
  ASSERT_EQ(trace->ranks[0].reading.losses, 1);
  const trace::Loss& loss = trace->ranks[0].reading.first_losses[0];
  EXPECT_EQ(loss.byte, static_cast<std::int64_t>((kHead + event("a", 1) + ",").size()));
  EXPECT_EQ(loss.reason, "an event longer than 20000 bytes, the limit for one");
}

/// Makes its text as it is read: `head`, then `fill` `times` times, then `tail`. Never holds all of it.
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

// 500 events of 200 schemas each: one thread has room for the schemas of about 200 events, several for all.
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
  EXPECT_GT(trace->ranks[0].reading.crowded_args, 2000);
  EXPECT_LT(trace->schemas.total_fields(), std::size_t{1} << 23);
}

}  // namespace
}  // namespace stepscope::read
