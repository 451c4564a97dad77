#include "record/recording.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "base/text.h"
#include "record/events/forward_links.h"
#include "record/events/function_averages.h"
#include "record/recording_for_test.h"
#include "record/signature.h"
#include "record/text/inputs_text.h"
#include "record/text/json_text.h"
#include "record/text/kineto_text.h"

namespace stepscope::record {
namespace {

// A clock with 2 ns per tick for 10 s, then 3 ns per tick.
TEST(RecordedTimes, FollowLinesBetweenInstants) {
  const std::int64_t epoch = 1'700'000'000'000'000'000;
  const Times times(Clock::tsc, {{1000, 500, 500 + epoch},
                                 {5'000'001'000, 10'000'000'500, 10'000'000'500 + epoch},
                                 {6'000'001'000, 13'000'000'500, 13'000'000'500 + epoch}});
  EXPECT_EQ(times.ns(1000), epoch + 500);
  EXPECT_EQ(times.ns(2000), epoch + 2500);
  EXPECT_EQ(times.ns(500), epoch - 500);
  EXPECT_EQ(times.ns(5'000'001'010), epoch + 10'000'000'530);
  EXPECT_EQ(times.ns(7'000'001'000), epoch + 16'000'000'500);
}

TEST(RecordedTimes, AMonotonicTickIsANanosecond) {
  EXPECT_EQ(Times(Clock::monotonic_ns, {{100, 100, 1100}}).ns(350), 1350);
}

TEST(Inputs, AsKinetoTellsThem) {
  std::string s;
  s += static_cast<char>(Input::tensor);
  s += {6, 2, 1};  // float, two dimensions, with strides
  for (const std::int64_t number : {4, 3, 3, 1}) put_bytes(s, number);
  s += static_cast<char>(Input::list);
  put_bytes(s, std::uint16_t{2});
  for (const std::int64_t number : {1, -2}) {
    s += static_cast<char>(Input::integer);
    put_bytes(s, number);
  }
  s += static_cast<char>(Input::real);
  put_bytes(s, 0.5);
  s += static_cast<char>(Input::boolean);
  s += '\1';
  s += static_cast<char>(Input::absent);
  EXPECT_EQ(
      inputs_text(s),
      R"(, "Input Dims": [[4, 3], [], [], [], []], "Input type": ["float", "ScalarList", "Scalar", "Scalar", ""])"
      R"(, "Input Strides": [[3, 1], [], [], [], []], "Concrete Inputs": ["", "[1, -2]", "0.5", "True", ""])");
  EXPECT_EQ(inputs_text(""), "");
  for (std::size_t cut = 1; cut < s.size(); ++cut) (void)inputs_text(std::string_view(s).substr(0, cut));
}

// Thread 1 runs op 5 at 10 and at 20; the backward op at 90 is linked to the later run. Op 6 has no backward
// op.
TEST(ForwardLinks, TheLatestForwardOpWins) {
  const auto links = forward_links({{1, 5, 90, 33, true},
                                    {1, 5, 10, 11, false},
                                    {1, 5, 20, 11, false},
                                    {1, 6, 30, 11, false},
                                    {2, 5, 15, 12, false}});
  ASSERT_EQ(links.size(), 1U);
  EXPECT_EQ(links[0].forward.begin_ns, 20);
  EXPECT_EQ(links[0].backward.thread, 33U);
}

TEST(RecordedText, NumbersAndNames) {
  std::string text;
  put_us(text, 1'234'005);
  text += ' ';
  put_us(text, -7);
  text += ' ';
  append_json(text, "a\"b\\\n");
  EXPECT_EQ(text, R"(1234.005 -0.007 "a\"b\\\n")");
}

TEST(Recorded, AnOpAsKinetoWritesIt) {
  const std::string text = text_of(made_recording());
  EXPECT_NE(text.find(R"("cat": "cpu_op", "name": "aten::add", "pid": 7, "tid": 9)"), std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("dur": 3.000)"), std::string::npos) << text;
}

/// add.Tensor, add.Scalar, then an add without a recorded overload and one whose overload has no name.
std::string with_overloads() {
  const char* const ops[] = {"aten::add\0Tensor", "aten::add\0Scalar", "aten::add"};
  std::string records;
  put_text(records, 1, std::string(ops[0], 16), Type::op_name);
  put_text(records, 2, std::string(ops[1], 16), Type::op_name);
  put_text(records, 3, ops[2]);
  put_text(records, 4, ops[2], Type::op_name);
  for (std::uint32_t id = 1; id <= 4; ++id)
    put_bytes(records, Op{{Type::op, 4, id}, 2000 * id, 2000 * id + 1000, 0, 0, 0, 0});
  put_bytes(records, Op{{Type::op, 4, 1}, 12'000, 13'000, 0, 0, 0, 0});
  return made_recording(records);
}

TEST(Recorded, OverloadsAsKinetoWritesThem) {
  const std::string text = text_of(with_overloads());
  EXPECT_EQ(count_of(text, R"("name": "aten::add.Tensor")"), 2U) << text;
  EXPECT_EQ(count_of(text, R"("name": "aten::add.Scalar")"), 1U);
  EXPECT_EQ(count_of(text, R"("name": "aten::add")"), 2U);
  EXPECT_EQ(count_of(text, "Overload"), 0U);
}

TEST(Recorded, OverloadsAsAnalysesReadThem) {
  const std::string text = text_of(with_overloads(), OpNames::plain);
  EXPECT_EQ(count_of(text, R"("name": "aten::add")"), 5U) << text;
  EXPECT_EQ(count_of(text, R"("Overload name": "Tensor")"), 2U);
  EXPECT_EQ(count_of(text, R"("Overload name": "Scalar")"), 1U);
  EXPECT_EQ(count_of(text, "Overload"), 3U);
}

TEST(Recorded, OverloadsAreGroupsWhereAsked) {
  const std::string file = with_overloads();
  const auto recording = Recording::open(file);
  ASSERT_TRUE(recording.ok());
  const Recording* const all[] = {&*recording};
  const FunctionEvents events = function_events(all);
  std::string overloads;
  for (const std::int64_t overload : events.overload)
    overloads += (overload < 0 ? "none" : events.texts[static_cast<std::size_t>(overload)]) + " ";
  EXPECT_EQ(overloads, "Tensor Scalar none none Tensor ");
  EXPECT_EQ(function_averages(events, {}, {}).count, std::vector<std::int64_t>{5});
  EXPECT_EQ(function_averages(events, {}, {.by_overload = true}).count, (std::vector<std::int64_t>{2, 1, 2}));
}

// The recording was full at tick 5000: an op that ends later may miss what was in it.
TEST(Recorded, AnalysesReadItUntilItWasFull) {
  HeaderForTest header;
  header.dropped = 2;
  header.full_at = 5000;
  const std::string records = made_records();  // an op from 2000 to 5000
  std::string later = records;
  put_bytes(later, Op{{Type::op, 4, 1}, 2000, 5001, 0, 0, 0, 0});
  const std::string file = recording_for_test(later, header);
  const std::string text = text_of(file, OpNames::plain);
  EXPECT_EQ(count_of(text, R"("name": "aten::add")"), 1U);
  EXPECT_EQ(count_of(text, R"("stepscope.full": {"dropped": 2, "after_ns": 4000, "disk": false})"), 1U)
      << text;
  EXPECT_EQ(count_of(text_of(file), R"("name": "aten::add")"), 2U);
}

TEST(Recorded, AnotherVersionIsSaid) {
  std::string file = made_recording();
  file[8] = 9;
  const auto recording = Recording::open(file);
  ASSERT_FALSE(recording.ok());
  EXPECT_NE(recording.error().message.find("another version"), std::string::npos);
  EXPECT_FALSE(Recording::open(std::string("{}")).ok());
}

TEST(Recorded, NothingInItIsBelieved) {
  const std::string whole = with_overloads();
  for (std::size_t cut = 0; cut < whole.size(); cut += cut < kHeaderBytes ? 97 : 1)
    (void)text_of(whole.substr(0, cut));
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string file = whole;
    for (int change = 0; change < 4; ++change) {
      const std::size_t at =
          random() % 2 == 0 ? random() % 120 : kHeaderBytes + random() % (whole.size() - kHeaderBytes);
      file[at] = static_cast<char>(random());
    }
    (void)text_of(file);
  }
}

}  // namespace
}  // namespace stepscope::record
