#include <gtest/gtest.h>

#include <cstring>

#include "record/recording.h"
#include "record/recording_for_test.h"

namespace stepscope::record {
namespace {

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

}  // namespace
}  // namespace stepscope::record
