#include "record/text/python_calls.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "record/recording_for_test.h"
#include "record/text/kineto_text.h"
#include "support/open_text.h"

namespace stepscope::record {
namespace {

// f(g, h(i)) on track 7, recorded as g, i, h, f; meanwhile a call on track 8.
TEST(PythonIds, ACallIsKnownBeforeItEnds) {
  PythonIds ids;
  const auto g = ids.next(7, 1), i = ids.next(7, 2), other = ids.next(8, 0), h = ids.next(7, 1),
             f = ids.next(7, 0);
  EXPECT_EQ(f.parent, 0);
  EXPECT_EQ(other.parent, 0);
  EXPECT_EQ(g.parent, f.id);
  EXPECT_EQ(h.parent, f.id);
  EXPECT_EQ(i.parent, h.id);
  EXPECT_LT(f.id, g.id);
  EXPECT_LT(f.id, h.id);
  EXPECT_LT(h.id, i.id);
  const auto after = ids.next(7, 0);
  EXPECT_EQ(std::set<std::int64_t>({g.id, i.id, other.id, h.id, f.id, after.id}).size(), 6U);
}

// The first call is inside three calls that were not recorded yet. One of them never is.
TEST(PythonIds, ParentsHaveLowerNumbers) {
  PythonIds ids;
  const auto d = ids.next(7, 3), c = ids.next(7, 2), lost = ids.next(7, 2), a = ids.next(7, 0),
             next = ids.next(7, 1);
  EXPECT_EQ(d.id, 4);
  EXPECT_EQ(d.parent, 3);
  EXPECT_EQ(c.id, 3);
  EXPECT_EQ(c.parent, 2);
  EXPECT_EQ(lost.id, 5);
  EXPECT_EQ(lost.parent, 2);
  EXPECT_EQ(a.id, 1);
  EXPECT_EQ(a.parent, 0);
  EXPECT_EQ(next.id, 7);
  EXPECT_EQ(next.parent, 6);
}

// On track 7, recorded inner first: c, b and a begin and end together, d is a sibling of c. e is like a, but
// on track 8.
TEST(OuterFirst, OfCallsThatBeginAndEndTogether) {
  std::string order;
  OuterFirst calls([&](const PythonCall& call) { order += call.name; });
  calls.add({7, 2, "d", 5, 5});
  calls.add({7, 2, "c", 5, 5});
  calls.add({7, 1, "b", 5, 5});
  calls.add({7, 0, "a", 5, 5});
  calls.add({8, 0, "e", 5, 5});
  calls.add({8, 0, "f", 5, 6});
  calls.finish();
  EXPECT_EQ(order, "dabcef");
}

std::vector<SampledCall> calls_of(
    const std::vector<std::pair<std::int64_t, std::vector<std::string_view>>>& samples) {
  std::vector<SampledCall> calls;
  SampledCalls sampled([&](const SampledCall& call) { calls.push_back(call); });
  for (const auto& [ns, names] : samples) sampled.sample(5, ns, 10, names);
  sampled.finish();
  return calls;
}

void expect(const SampledCall& call, std::string_view name, std::uint32_t depth, std::int64_t begin,
            std::int64_t end, std::int64_t samples) {
  EXPECT_EQ(call.name, name);
  EXPECT_EQ(call.thread, 5U) << name;
  EXPECT_EQ(call.depth, depth) << name;
  EXPECT_EQ(call.begin_ns, begin) << name;
  EXPECT_EQ(call.end_ns, end) << name;
  EXPECT_EQ(call.samples, samples) << name;
}

// main is in all samples, a in the first two, b in the third; then a long gap.
TEST(SampledCalls, WhatSamplesHaveInCommonIsOneCall) {
  const auto calls =
      calls_of({{100, {"a", "main"}}, {110, {"a", "main"}}, {121, {"c", "b", "main"}}, {500, {"main"}}});
  ASSERT_EQ(calls.size(), 5U);
  expect(calls[0], "a", 1, 100, 121, 2);
  expect(calls[1], "c", 2, 121, 131, 1);
  expect(calls[2], "b", 1, 121, 131, 1);
  expect(calls[3], "main", 0, 100, 131, 3);
  expect(calls[4], "main", 0, 500, 510, 1);
}

TEST(SampledCalls, TheSameNameBelowAnotherIsAnotherCall) {
  const auto calls = calls_of({{100, {"f", "a", "main"}}, {110, {"f", "b", "main"}}});
  ASSERT_EQ(calls.size(), 5U);
  expect(calls[0], "f", 2, 100, 110, 1);
  expect(calls[1], "a", 1, 100, 110, 1);
  expect(calls[2], "f", 2, 110, 120, 1);
}

std::string text_of(const std::string& records) {
  const std::string file = recording_for_test(records);
  const auto recording = Recording::open(file);
  std::string text;
  if (recording.ok())
    write_kineto(*recording, [&](std::string_view piece) {
      text += piece;
      return true;
    });
  return text;
}

std::string made_records() {
  std::string records;
  put_text(records, 1, "a.py(1): f");
  put_text(records, 2, "nn: Net_12");
  put_text(records, 3, "blocks.0");
  put_bytes(records, Op{{Type::op, 4, 2}, 3000, 4000, 3, kModuleScope, 0, 1});
  put_bytes(records, Op{{Type::op, 4, 1}, 2000, 5000, 0, kPythonScope, kEndedLate, 0});
  SequencedOp other{};
  static_cast<Op&>(other) = Op{{Type::op, 6, 1}, 2000, 6000, 0, kPythonScope, kEndedLate | kOtherThread, 0};
  other.forward_thread = 33;
  put_bytes(records, other);
  put_bytes(records, Sample{{Type::sample, 4, 9}, 10'000, 20'000, 2});
  put_bytes(records, std::uint32_t{2});
  put_bytes(records, std::uint32_t{1});
  return records;
}

TEST(Recorded, PythonCallsAsKinetoWritesThem) {
  const std::string text = text_of(made_records());
  for (
      const std::string_view part : {
          R"("cat": "python_function", "name": "nn: Net_12", "pid": 7, "tid": 9)",
          R"("dur": 1.000, "args": {"Ev Idx": 0, "Python id": 2, "Python parent id": 1, "Python module id": 12, "Module path": "blocks.0"}})",
          R"("dur": 3.000, "args": {"Ev Idx": 1, "Python id": 1, "Python parent id": null, "finished": false}})",
          R"("name": "a.py(1): f", "pid": 7, "tid": 33)",
          R"("dur": 20000.000, "args": {"Ev Idx": 4, "Python id": 5, "Python parent id": 4, "sampled": 9, "samples": 1}})",
          R"("name": "a.py(1): f", "pid": 7, "tid": 1073741833)",
      })
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in\n" << text;
}

std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> names;
  const std::string before = R"("cat": "python_function", "name": ")";
  for (std::size_t at = text.find(before); at != text.npos; at = text.find(before, at)) {
    at += before.size();
    names.push_back(text.substr(at, text.find('"', at) - at));
  }
  return names;
}

// <mod> and main were open when the recording began, outer and inner when it ended. The calls of track 33
// were recorded by another thread.
TEST(Recorded, OfCallsThatBeginAndEndWithTheRecordingTheOuterIsAround) {
  std::string records;
  put_text(records, 1, "a(1): <mod>");
  put_text(records, 2, "a(2): main");
  put_text(records, 3, "a(3): outer");
  put_text(records, 4, "a(4): inner");
  put_bytes(records, Op{{Type::op, 4, 4}, 5000, 9000, 0, kPythonScope, kEndedLate, 3});
  put_bytes(records, Op{{Type::op, 4, 3}, 5000, 9000, 0, kPythonScope, kEndedLate, 2});
  put_bytes(records, Op{{Type::op, 4, 2}, 1000, 9000, 0, kPythonScope, kEndedLate, 1});
  put_bytes(records, Op{{Type::op, 4, 1}, 1000, 9000, 0, kPythonScope, kEndedLate, 0});
  for (const std::uint16_t depth : {std::uint16_t{1}, std::uint16_t{0}}) {
    SequencedOp other{};
    static_cast<Op&>(other) =
        Op{{Type::op, 6, depth + 1U}, 1000, 9000, 0, kPythonScope, kEndedLate | kOtherThread, depth};
    other.forward_thread = 33;
    put_bytes(records, other);
  }
  const std::string text = text_of(records);
  EXPECT_EQ(names_in(text), (std::vector<std::string>{"a(3): outer", "a(4): inner", "a(1): <mod>",
                                                      "a(2): main", "a(1): <mod>", "a(2): main"}));
  const auto trace = test::open_text(text);
  ASSERT_TRUE(trace.ok()) << trace.error().text();
  const trace::EventTable& e = trace->ranks.at(0).events;
  std::vector<std::string> around;  // per call: the calls around it and itself, outermost first
  for (trace::Row row = 0; row < e.size(); ++row) {
    if (e.kind[row] != trace::Kind::python) continue;
    std::string names;
    for (trace::Row at = row; at != trace::kNoRow; at = e.parent[at])
      names = std::string(trace->text(e.name[at]).substr(6)) + (names.empty() ? "" : " ") + names;
    around.push_back(names);
  }
  EXPECT_EQ(around, (std::vector<std::string>{"<mod>", "<mod> main", "<mod> main outer",
                                              "<mod> main outer inner", "<mod>", "<mod> main"}));
}

// Both samples contain both calls, so the calls begin and end together.
TEST(Recorded, OfSampledCallsTheOuterIsFirst) {
  std::string records;
  put_text(records, 1, "a(1): main");
  put_text(records, 2, "a(2): f");
  for (const std::uint64_t tick : {10'000U, 20'000U}) {
    put_bytes(records, Sample{{Type::sample, 4, 9}, tick, 20'000, 2});
    put_bytes(records, std::uint32_t{2});
    put_bytes(records, std::uint32_t{1});
  }
  EXPECT_EQ(names_in(text_of(records)), (std::vector<std::string>{"a(1): main", "a(2): f"}));
}

TEST(Recorded, NothingOfPythonCallsIsBelieved) {
  const std::string whole = made_records();
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string records = whole;
    for (int change = 0; change < 3; ++change)
      records[random() % records.size()] = static_cast<char>(random());
    (void)text_of(records);
  }
}

TEST(Recorded, ASampleOfMoreThanThereIsIsLeftOut) {
  std::string records;
  put_text(records, 1, "a.py(1): f");
  put_bytes(records, Sample{{Type::sample, 3, 9}, 10'000, 20'000, 4'000'000'000});
  EXPECT_EQ(text_of(records).find("sampled"), std::string::npos);
}

}  // namespace
}  // namespace stepscope::record
