// Recordings as Kineto's JSON: order and ids of ops, metadata, and the marks around a recording.
#include "record/text/kineto_text.h"

#include <gtest/gtest.h>

#include "record/events/function_events.h"
#include "record/recording_for_test.h"

namespace stepscope::record {
namespace {

/// The names of ops and ranges with their values of a key, in order of the file.
std::string listed(const std::string& text, const std::string& key) {
  const std::string name_key = R"("name": ")", number_key = '"' + key + R"(": )";
  std::string out;
  for (std::size_t at = 0; (at = text.find(R"({"ph": "X")", at)) != text.npos; ++at) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    const std::size_t name = line.find(name_key), number = line.find(number_key);
    if (number == line.npos) continue;
    out +=
        line.substr(name + name_key.size(), line.find('"', name + name_key.size()) - name - name_key.size());
    out += '=' +
           line.substr(number + number_key.size(),
                       line.find_first_of(",}", number) - number - number_key.size()) +
           ' ';
  }
  return out;
}

/// As they end: b within a, then a, then d and c, which begin and end together, c being the outer one.
std::string nested() {
  std::string records;
  for (const auto& [id, name] : {std::pair{1U, "a"}, {2U, "b"}, {3U, "c"}, {4U, "d"}})
    put_text(records, id, name);
  put_bytes(records, Op{{Type::op, 4, 2}, 3000, 4000, 0, 0, 0, 0});
  put_bytes(records, Op{{Type::op, 4, 1}, 2000, 5000, 0, 0, 0, 0});
  put_bytes(records, Op{{Type::op, 4, 4}, 6000, 7000, 0, 0, 0, 0});
  put_bytes(records, Op{{Type::op, 4, 3}, 6000, 7000, 0, 0, 0, 0});
  return made_recording(records);
}

TEST(KinetoText, OpsAreInOrderOfBeginWithTheIdsOfEvents) {
  const std::string file = nested();
  EXPECT_EQ(listed(text_of(file), "External id"), "a=1 b=2 c=3 d=4 ");
  const auto recording = Recording::open(file);
  ASSERT_TRUE(recording.ok());
  const Recording* const all[] = {&*recording};
  const FunctionEvents events = function_events(all);
  std::string names;
  for (const std::int64_t name : events.name) names += events.texts[static_cast<std::size_t>(name)];
  EXPECT_EQ(names, "abcd");
}

// Execution traces number ops in the order of their records.
TEST(KinetoText, RecordFunctionIdsCountRecords) {
  EXPECT_EQ(listed(text_of(nested()), "Record function id"), "a=2 b=1 c=4 d=3 ");
}

TEST(KinetoText, OurReaderGetsTheOrderOfTheRecording) {
  EXPECT_EQ(listed(text_of(nested(), OpNames::plain), "External id"), "b=1 a=2 d=3 c=4 ");
}

TEST(KinetoText, TheRecordingIsMarked) {
  const std::string text = text_of(made_recording());
  EXPECT_EQ(count_of(text, R"("cat": "Trace")"), 1U);
  EXPECT_EQ(count_of(text, R"-({"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", )-"
                           R"("tid": "PyTorch Profiler")"),
            1U)
      << text;
  EXPECT_EQ(count_of(text, R"({"ph": "i", "name": "Iteration Start: PyTorch Profiler", "pid": "Traces", )"
                           R"("tid": "Trace PyTorch Profiler")"),
            1U);
  EXPECT_EQ(count_of(text, R"({"ph": "i", "name": "Record Window End", "pid": "", "tid": "")"), 1U);
  EXPECT_EQ(count_of(text, R"(, "s": "g"})"), 2U);
}

TEST(KinetoText, ForOurReaderNothingIsMarked) {
  const std::string text = text_of(made_recording(), OpNames::plain);
  EXPECT_EQ(count_of(text, R"-("cat": "Trace", "name": "PyTorch Profiler (0)", "pid": 7, "tid": 0)-"), 1U)
      << text;
  EXPECT_EQ(count_of(text, R"("ph": "i")"), 0U);
}

TEST(KinetoText, TheLastValueOfAKeyCounts) {
  std::string records;
  for (const char* const told : {"run=1", "other=2", "run=3"}) put_text(records, 0, told, Type::metadata);
  const auto recording = [&] { return made_recording(records); };
  EXPECT_EQ(count_of(text_of(recording()), R"("run": 3, "other": 2)"), 1U) << text_of(recording());
  const std::string file = recording();
  const auto opened = Recording::open(file);
  ASSERT_TRUE(opened.ok());
  const std::string asked[] = {"run=4", "new=5"};
  std::string text;
  write_kineto(*opened, [&](std::string_view piece) { return text += piece, true; }, asked);
  EXPECT_EQ(count_of(text, R"("run": 4, "other": 2, "new": 5)"), 1U) << text;
  EXPECT_EQ(count_of(text, R"("run")"), 1U);
}

// 8 bytes of main memory, then 16 of device 1.
TEST(KinetoText, MainMemoryReservesNothing) {
  std::string records;
  put_bytes(records, Memory{{Type::memory, 4, 0}, 2000, 64, 8});
  put_bytes(records, Memory{{Type::memory, 4, 1 | 2 << 8}, 3000, 64, 16});
  const std::string file = made_recording(records);
  EXPECT_EQ(count_of(text_of(file), R"("Bytes": 8, "Total Allocated": 8, "Total Reserved": 0)"), 1U);
  EXPECT_EQ(count_of(text_of(file), "Total Reserved"), 1U);
  EXPECT_EQ(count_of(text_of(file, OpNames::plain), "Total Reserved"), 0U);
}

TEST(KinetoText, MemoryOfDevicesHasTheAllocatorsTotals) {
  std::string records;
  put_bytes(records, DeviceMemory{{{Type::memory, 6, 1 | 2 << 8}, 2000, 64, 16}, 48, 1024});
  put_bytes(records, DeviceMemory{{{Type::memory, 6, 0}, 3000, 64, 8}, 48, 1024});  // damaged: main memory
  const std::string text = text_of(made_recording(records));
  EXPECT_EQ(
      count_of(
          text,
          R"("Device Type": 1, "Device Id": 1, "Addr": 64, "Bytes": 16, "Total Allocated": 48, "Total Reserved": 1024)"),
      1U)
      << text;
  EXPECT_EQ(count_of(text, R"("Bytes": 8, "Total Allocated": 8, "Total Reserved": 0)"), 1U) << text;
}

}  // namespace
}  // namespace stepscope::record
