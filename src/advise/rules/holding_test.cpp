// The rule of files that hold up the steps, over programs whose causes are planted.
#include <gtest/gtest.h>

#include "advise/rules/loop_for_test.h"

namespace stepscope::advise {
namespace {

std::string title_of(const Advice& advice) {
  return advice.has("I11") ? advice.cell("I11", "title") : "silent";
}

std::string part_of(const std::string& path, int offset, int bytes) {
  return fmt::format(R"("fname": "{}", "fd": 3, "offset": {}, "ret": {})", path, offset, bytes);
}

/// Steps that read parts of a file, each once; the operator takes `compute` µs.
Advice reads_in_order(int reads, int bytes, int compute) {
  int offset = 0;
  return advice_of([&](Loop& l) {
    l.op("aten::mm", compute);
    for (int i = 0; i < reads; ++i, offset += bytes)
      l.range("posix_call", "read", 50, part_of("/data/r.bin", offset, bytes)).pass(10);
  });
}

// 100 calls of 50 µs with 99 gaps of 10 µs per step.
TEST(HoldingRule, TinyReads) {
  const Advice advice = reads_in_order(100, 4, 1000);
  EXPECT_EQ(title_of(advice),
            "5.99 ms of 7.00 ms per step: the main thread reads /data/r.bin: 1,000 reads of 4 B on average");
  EXPECT_EQ(advice.cell("I11", "saving_low"), "2995000");
}

TEST(HoldingRule, ReadsWithoutFault) {
  const Advice advice = reads_in_order(10, 100'000, 1000);
  EXPECT_EQ(title_of(advice), "590 µs of 1.60 ms per step: the main thread reads /data/r.bin: 9.54 MiB read");
  EXPECT_EQ(advice.cell("I11", "saving_low"), "0");
  EXPECT_TRUE(advice.cell("I11", "remedy").starts_with("Read /data/r.bin ahead of the steps"));
}

TEST(HoldingRule, SilentBelowATenth) { EXPECT_EQ(title_of(reads_in_order(10, 100'000, 6000)), "silent"); }

// Seven times per step, 400 µs each.
TEST(HoldingRule, WrittenAnew) {
  const Advice advice = advice_of([](Loop& l) {
    const std::string of = R"("fname": "/out/m.json", "fd": 4, )";
    l.op("aten::mm", 1000);
    for (int i = 0; i < 7; ++i)
      l.range("posix_call", "open64", 200, of + R"("ret": 4)")
          .range("posix_call", "write", 100, of + R"("ret": 50000)")
          .pass(50)
          .range("posix_call", "close", 50, of + R"("ret": 0)");
  });
  EXPECT_EQ(
      title_of(advice),
      "2.80 ms of 3.80 ms per step: the main thread writes /out/m.json: opened 70 times and written anew, "
      "3.34 MiB in all");
}

// Ten per step, 100 µs each.
TEST(HoldingRule, ManySmallFiles) {
  int number = 0;
  const Advice advice = advice_of([&](Loop& l) {
    l.op("aten::mm", 1000);
    for (int i = 0; i < 10; ++i) {
      const std::string of = fmt::format("/data/{}/x.img", number++);
      l.range("posix_call", "open64", 40, fmt::format(R"("fname": "{}", "ret": 3)", of))
          .range("posix_call", "read", 10, part_of(of, 0, 500))
          .range("posix_call", "close", 50, part_of(of, 0, 0));
    }
  });
  EXPECT_EQ(
      title_of(advice),
      "1.00 ms of 2.00 ms per step: the main thread reads /data/#/*.img: 100 files are opened 100 times, and "
      "500 B read of each");
}

TEST(HoldingRule, ReadAgain) {
  const Advice advice = advice_of([](Loop& l) {
    l.op("aten::mm", 1000);
    for (int i = 0; i < 3; ++i) l.range("posix_call", "read", 100, part_of("/data/a.bin", 0, 100'000));
  });
  EXPECT_EQ(title_of(advice),
            "300 µs of 1.30 ms per step: the main thread reads /data/a.bin: read 30 times over, 2.86 MiB of "
            "97.7 KiB");
}

// Two passes over the data in ten steps.
TEST(HoldingRule, PassesAreNotReadAgain) {
  int read = 0;
  const Advice advice = advice_of([&](Loop& l) {
    l.op("aten::mm", 1000)
        .range("posix_call", "read", 300, part_of("/data/a.bin", read++ % 5 * 100'000, 100'000));
  });
  EXPECT_TRUE(advice.cell("I11", "remedy").starts_with("Read and parse /data/a.bin once"));
}

TEST(HoldingRule, SilentOnLoaders) {
  EXPECT_EQ(title_of(advice_of([](Loop& l) {
              l.within("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 600)
                  .range("posix_call", "read", 600, part_of("/data/a.bin", 0, 100'000))
                  .op("aten::mm", 1000);
            })),
            "silent");
}

/// Another thread reads for 4 ms of each step, in which the main thread is in `frame` for 5 ms.
Advice producer(const std::string& frame) {
  int offset = 0;
  return advice_of([&](Loop& l) {
    l.frame("train.py(7): <module>", 6000);
    l.call_in(9, "posix_call", "read", 500, 4000, part_of("/data/a.bin", offset += 4, 4));
    l.frame(frame, 5000).pass(5000).op("aten::mm", 1000);
  });
}

TEST(HoldingRule, AThreadThatTheMainThreadWaitsFor) {
  EXPECT_EQ(
      title_of(producer("threading.py(327): wait")),
      "4.00 ms of 6.00 ms per step: the main thread waits in train.py:7 (<module>) for another thread that "
      "reads /data/a.bin: 40 B read");
  EXPECT_EQ(title_of(producer("model.py(3): forward")), "silent");
}

}  // namespace
}  // namespace stepscope::advise
