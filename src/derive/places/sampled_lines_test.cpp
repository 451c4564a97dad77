#include "derive/places/sampled_lines.h"

#include <gtest/gtest.h>

#include "make_program.h"

namespace stepscope {
namespace {

// Samples every 100 µs: of line 20 at 0, 100 and 200, of line 30 at 300. Operators at:
//     95 of [8], with line 20's sample   150 of [8], none: as usual for [8], line 20
//    295 of [8], with line 30's sample   350 of [4], none, and none in any other of [4]: not known
TEST(SampledLines, OfTheOperatorElseOfItsKind) {
  test::EventText events;
  const auto add = [&](int at, const char* dims) {
    events.add("cpu_op", "aten::item", 5, 5, at, 10, std::string(R"("Input Dims": )") + dims);
  };
  for (const int at : {95, 150, 195, 295}) add(at, "[[8]]");
  add(350, "[[4]]");
  events.add("cuda_runtime", "cudaStreamSynchronize", 5, 5, 152, 5);
  const std::string sampled = R"("sampled": 5, "samples": )";
  events.add("python_function", "train.py(20): f", 5, 1073741829, 0, 300, sampled + "3");
  events.add("python_function", "torch/_tensor.py(9): item", 5, 1073741829, 200, 100, sampled + "1");
  events.add("python_function", "train.py(30): f", 5, 1073741829, 300, 100, sampled + "1");
  const trace::Trace trace = test::open_events(events.text());
  const trace::Rank& rank = trace.ranks[0];
  derive::SampledLines lines(trace, rank);
  std::vector<std::string> found;
  for (const trace::Row row : rank.host_rows()) {
    if (rank.events.kind[row] == trace::Kind::op) found.emplace_back(lines.of(row));
    if (rank.events.kind[row] == trace::Kind::runtime) {
      EXPECT_EQ(lines.of(row), "train.py(20): f");  // in the operator at 150
    }
  }
  EXPECT_EQ(found, (std::vector<std::string>{"train.py(20): f", "train.py(20): f", "train.py(20): f",
                                             "train.py(30): f", ""}));
}

}  // namespace
}  // namespace stepscope
