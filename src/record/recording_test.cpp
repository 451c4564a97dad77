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

/// A name, and an op with that name.
std::string made_records() {
  std::string records;
  put_text(records, 1, "aten::add");
  put_bytes(records, Op{{Type::op, 4, 1}, 2000, 5000, 0, 0, 0, 0});
  return records;
}

std::string made_recording(const std::string& records = made_records()) {
  return recording_for_test(records);
}

std::string text_of(const std::string& file, OpNames op_names = OpNames::with_overloads) {
  const auto recording = Recording::open(file);
  std::string text;
  if (recording.ok())
    write_kineto(
        *recording,
        [&](std::string_view piece) {
          text += piece;
          return true;
        },
        {}, {}, op_names);
  return text;
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

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
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

TEST(Recorded, AnotherVersionIsSaid) {
  std::string file = made_recording();
  file[8] = 9;
  const auto recording = Recording::open(file);
  ASSERT_FALSE(recording.ok());
  EXPECT_NE(recording.error().message.find("another version"), std::string::npos);
  EXPECT_FALSE(Recording::open(std::string("{}")).ok());
}

constexpr std::size_t kRecords = kHeaderBytes + sizeof(SegmentHeader);  // where records begin in the file
constexpr std::size_t kName = 24, kOp = sizeof(Op), kOps = 100;

/// A name in 24 bytes, then 100 ops of 32 bytes each.
std::string many_ops() {
  std::string records;
  put_text(records, 1, "aten::add");
  for (std::uint64_t i = 0; i < kOps; ++i)
    put_bytes(records, Op{{Type::op, 4, 1}, 2000 + 10 * i, 2005 + 10 * i, 0, 0, 0, 0});
  return records;
}

std::size_t place_of(std::size_t op) { return kName + op * kOp; }

template <class T>
void overwrite(std::string& text, std::size_t at, const T& value) {
  std::memcpy(text.data() + at, &value, sizeof value);
}

/// Exactly the `bytes` at `at` are lost, and `ops_left` ops remain.
void expect_lost(const std::string& file, std::size_t at, std::size_t bytes, std::size_t ops_left) {
  const auto recording = Recording::open(file);
  ASSERT_TRUE(recording.ok());
  ASSERT_EQ(recording->faults().size(), 1U);
  EXPECT_EQ(recording->faults()[0].offset, static_cast<std::int64_t>(at));
  EXPECT_EQ(recording->faults()[0].bytes, static_cast<std::int64_t>(bytes));
  EXPECT_EQ(recording->notes(), std::vector<std::string>{
                                    "1 of 1 segments is damaged, first at byte " + std::to_string(at) + ": " +
                                    std::to_string(bytes) +
                                    " bytes of records could not be read. The rest was read; if the file was "
                                    "copied, copy it again."});
  EXPECT_EQ(count_of(text_of(file), R"("name": "aten::add")"), ops_left);
}

void expect_whole(const std::string& file, std::size_t ops) {
  const auto recording = Recording::open(file);
  ASSERT_TRUE(recording.ok());
  EXPECT_TRUE(recording->faults().empty());
  EXPECT_EQ(recording->notes(), std::vector<std::string>());
  EXPECT_EQ(count_of(text_of(file), R"("name": "aten::add")"), ops);
}

TEST(RecordedDamage, AWholeRecordingHasNone) {
  expect_whole(made_recording(), 1);
  expect_whole(made_recording(many_ops()), kOps);
  expect_whole(made_recording(""), 0);
}

// Zeros over the last 4 bytes of op 20 (zero in every op here) and over four more ops.
TEST(RecordedDamage, ZerosInTheMiddle) {
  std::string records = many_ops();
  records.replace(place_of(20) + 28, 4 + 4 * kOp, 4 + 4 * kOp, '\0');
  expect_lost(made_recording(records), kRecords + place_of(21), 4 * kOp, kOps - 4);
}

TEST(RecordedDamage, ZerosToTheEnd) {
  std::string records = many_ops();
  records.replace(place_of(90), 10 * kOp, 10 * kOp, '\0');
  expect_lost(made_recording(records), kRecords + place_of(90), 10 * kOp, 90);
}

TEST(RecordedDamage, ARecordWithoutSize) {
  std::string records = many_ops();
  overwrite(records, place_of(7) + offsetof(Record, units), std::uint16_t{0});
  expect_lost(made_recording(records), kRecords + place_of(7), kOp, kOps - 1);
}

TEST(RecordedDamage, ARecordThatIsTooShortForItsKind) {
  std::string records = many_ops();
  overwrite(records, place_of(7) + offsetof(Record, units), std::uint16_t{3});
  expect_lost(made_recording(records), kRecords + place_of(7), kOp, kOps - 1);
}

// From op 7 on there are 93 ops of 4 units each, 372 units in all; op 7 claims 373.
TEST(RecordedDamage, ASizePastTheEnd) {
  std::string records = many_ops();
  overwrite(records, place_of(7) + offsetof(Record, units), std::uint16_t{373});
  expect_lost(made_recording(records), kRecords + place_of(7), kOp, kOps - 1);
}

TEST(RecordedDamage, AKindThatThereCannotBe) {
  for (const Type kind : {Type{0}, Type{256}, Type{0x4141}, Type{0xFFFF}}) {
    std::string records = many_ops();
    overwrite(records, place_of(7), kind);
    expect_lost(made_recording(records), kRecords + place_of(7), kOp, kOps - 1);
  }
}

TEST(RecordedDamage, NamesThatWereNotTold) {
  std::string records = many_ops();
  overwrite(records, place_of(3) + offsetof(Record, value), std::uint32_t{2});
  overwrite(records, place_of(4) + 24, std::uint32_t{9});
  expect_lost(made_recording(records), kRecords + place_of(3), 2 * kOp, kOps - 2);
}

// No op can be read without its name.
TEST(RecordedDamage, ATextThatIsLongerThanItsRecord) {
  std::string records = many_ops();
  overwrite(records, sizeof(Record), std::uint32_t{12});
  expect_lost(made_recording(records), kRecords, kName + kOps * kOp, 0);
}

TEST(RecordedDamage, LettersOverAnOp) {
  std::string records = many_ops();
  records.replace(place_of(50) + 1, 22, "overwritten by letters");
  expect_lost(made_recording(records), kRecords + place_of(50), kOp, kOps - 1);
}

TEST(RecordedDamage, OfTheLastRecord) {
  std::string records = many_ops();
  overwrite(records, place_of(99), std::uint16_t{0});
  expect_lost(made_recording(records), kRecords + place_of(99), kOp, kOps - 1);
}

// A thread was stopped in the middle of a record: the record is not committed, so its bytes do not matter.
TEST(RecordedDamage, AnUnfinishedTailIsNone) {
  const std::string whole = made_recording(many_ops());
  expect_whole(whole + std::string(5000, '\0'), kOps);
  expect_whole(whole + std::string(5000, 'x'), kOps);
}

// Claimed but not filled: the segment is empty or holds only its first clock record.
TEST(RecordedDamage, ASegmentThatIsNotBegunIsNone) {
  std::string file = made_recording(many_ops());
  file.resize(kHeaderBytes + kUnitBytes);
  overwrite(file, offsetof(Header, claimed), std::uint32_t{2});
  file.resize(kHeaderBytes + 2 * kUnitBytes);
  expect_whole(file, kOps);
  put_bytes(file, std::uint64_t{0});
  const ClockRecord clock{{Type::clock, 4, 0}, {1, 1, 1}};
  overwrite(file, kRecords + kUnitBytes, clock);
  expect_whole(file, kOps);
}

// Only the 40 bytes of the segment's header are lost.
TEST(RecordedDamage, OfASegmentsHeader) {
  const std::string whole = made_recording(many_ops());
  for (const std::uint32_t committed : {0U, kUnitBytes + 1, 0xFFFF'FFFFU}) {
    std::string file = whole;
    overwrite(file, kHeaderBytes, committed);
    file.resize(kHeaderBytes + kUnitBytes);
    expect_lost(file, kHeaderBytes, sizeof(SegmentHeader), kOps);
  }
  std::string file = whole;  // while the program runs, the size may be written after the file was read
  overwrite(file, kHeaderBytes, std::uint32_t{0});
  overwrite(file, offsetof(Header, end), ClockPair{});
  expect_whole(file, 0);
}

constexpr std::uint64_t kFar = 1ULL << 32U;  // ticks between two clock records

/// A clock at tick 1000 and at 1000 + kFar, each with two short ops behind it.
std::string short_ops() {
  std::string records;
  put_text(records, 1, "aten::add");
  put_text(records, 2, "signature", Type::signature);
  for (const std::uint64_t tick : {std::uint64_t{1000}, 1000 + kFar}) {
    const auto now = static_cast<std::int64_t>(tick);
    put_bytes(records, ClockRecord{{Type::clock, 4, 0}, {tick, now, 1'700'000'000'000'000'000 + now}});
    put_bytes(records, ShortOp{{Type::short_op, 2, 1 | 2 << 16}, 10, 20});
    SequencedShortOp backward{};
    static_cast<ShortOp&>(backward) = ShortOp{{Type::short_backward_op, 3, 1}, 40, 4'000'000};
    backward.sequence = 77 | 3ULL << 48U;
    put_bytes(records, backward);
  }
  return records;
}

std::vector<SequencedOp> ops_in(const std::string& file) {
  std::vector<SequencedOp> ops;
  const auto recording = Recording::open(file);
  for (const Segment& segment : recording->segments())
    for_each_record(segment, [&](const Record& record, std::span<const char> bytes) {
      if (record.type != Type::op) return;
      ops.emplace_back();
      std::memcpy(static_cast<void*>(&ops.back()), bytes.data(), bytes.size());
    });
  return ops;
}

TEST(Recorded, ShortOpsAsOps) {
  const std::vector<SequencedOp> ops = ops_in(made_recording(short_ops()));
  ASSERT_EQ(ops.size(), 4U);
  EXPECT_EQ(ops[0].value, 1U);
  EXPECT_EQ(ops[0].signature, 2U);
  EXPECT_EQ(ops[0].begin, 1010U);
  EXPECT_EQ(ops[0].end, 1030U);
  EXPECT_EQ(ops[0].scope, kFunctionScope);
  EXPECT_EQ(ops[1].scope, kBackwardScope);
  EXPECT_EQ(ops[1].flags, kHasSequence);
  EXPECT_EQ(ops[1].sequence, 77);
  EXPECT_EQ(ops[1].forward_thread, 3U);
  EXPECT_EQ(ops[2].begin, 1010 + kFar);
}

// Without their clock record, the last two ops would count from the one before.
TEST(RecordedDamage, ShortOpsWithoutTheirClock) {
  std::string records = short_ops();
  const std::size_t clock = records.size() - 40 - sizeof(ClockRecord);
  overwrite(records, clock, std::uint16_t{0});
  EXPECT_EQ(ops_in(made_recording(records)).size(), 2U);
}

// The end of a segment of 64 KiB holds a segment of another thread, which begins within a unit.
TEST(Recorded, SegmentsOfTwoThreadsInOneUnit) {
  std::string file = made_recording(many_ops());
  constexpr std::uint32_t kFirst = 4096;
  overwrite(file, kHeaderBytes + offsetof(SegmentHeader, bytes), kFirst);
  file.resize(kHeaderBytes + kFirst);
  SegmentHeader second{};
  second.thread = 11;
  second.bytes = kUnitBytes - kFirst;
  second.committed = static_cast<std::uint32_t>(sizeof second + made_records().size());
  put_bytes(file, second);
  file += made_records();
  const auto recording = Recording::open(file);
  ASSERT_TRUE(recording.ok());
  ASSERT_EQ(recording->segments().size(), 2U);
  EXPECT_EQ(recording->segments()[1].thread, 11U);
  expect_whole(file, kOps + 1);
}

// A segment's length was overwritten: its records are read, and those of the next unit.
TEST(RecordedDamage, OfASegmentsLength) {
  for (const std::uint32_t length : {0U, 8U, 100U, kSegmentBytes + 64}) {
    std::string file = made_recording(many_ops());
    overwrite(file, kHeaderBytes + offsetof(SegmentHeader, bytes), length);
    overwrite(file, offsetof(Header, claimed), std::uint32_t{2});
    file.resize(kHeaderBytes + kUnitBytes);
    file += made_recording().substr(kHeaderBytes);
    const auto recording = Recording::open(file);
    ASSERT_TRUE(recording.ok());
    EXPECT_EQ(recording->segments().size(), 2U) << length;
    EXPECT_EQ(count_of(text_of(file), R"("name": "aten::add")"), kOps + 1) << length;
  }
}

TEST(RecordedDamage, ACutIsToldOnce) {
  const std::string whole = made_recording(many_ops());
  const auto recording = Recording::open(std::span(whole).first(whole.size() - 5));
  ASSERT_TRUE(recording.ok());
  EXPECT_EQ(recording->notes(),
            std::vector<std::string>{
                "The recording is cut off: " + std::to_string(kHeaderBytes + kUnitBytes - whole.size() + 5) +
                " bytes are missing at its end."});
}

TEST(RecordedDamage, KindsOfLaterVersionsAreNone) {
  std::string records = many_ops();
  put_bytes(records, Flow{{static_cast<Type>(60), 3, 0}, 1, 2});
  const std::string file = made_recording(records);
  const auto recording = Recording::open(file);
  ASSERT_TRUE(recording.ok());
  EXPECT_TRUE(recording->faults().empty());
  EXPECT_EQ(recording->notes(),
            std::vector<std::string>{"1 records are of kinds unknown to this version of stepscope: open "
                                     "the recording with the version that made it."});
  EXPECT_EQ(count_of(text_of(file), R"("name": "aten::add")"), kOps);
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
