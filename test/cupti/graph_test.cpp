// Work of CUDA graphs, and the ops that captured it.
#include <thread>

#include "analyze/kernels/kernels.h"
#include "cupti/recorded_step.h"
#include "derive/captured_ops.h"

namespace stepscope::test {
namespace {

class CuptiGraph : public Cupti {
 protected:
  /// Two ops capture a kernel and a copy; a kernel is added outside of ops. Each node is told again, as made,
  /// when the graph is instantiated as node 100 + n.
  static void capture() {
    op("aten::mm", [] { fake().node(1, 0); });
    op("aten::copy_", [] { fake().node(2, 0); });
    spend(std::chrono::microseconds(1));
    fake().node(3, 0);
    spend(std::chrono::microseconds(1));
    op("cuda graph", [] {
      for (std::uint64_t node = 1; node <= 3; ++node) {
        fake().node(100 + node, 0);
        fake().node(100 + node, node);
      }
    });
  }
  static void replay(std::uint64_t first = 101) {
    for (std::uint64_t node = first; node < first + 3; ++node) {
      FakeCall call;
      call.name = "cudaGraphLaunch";
      call.graph = 9;
      call.node = node;
      if (node == first + 1) call.work = FakeCall::copy, call.bytes = 64;
      launch(call);
    }
  }
  static std::string maker(const trace::Trace& trace, Row row) {
    return std::string(trace::ArgReader(trace, trace.ranks[0], "captured by").text(row));
  }
  /// "op of the arg / op of the row", for each piece of device work.
  static std::vector<std::string> makers(const trace::Trace& trace) {
    const derive::CapturedOps captured(trace, trace.ranks[0]);
    std::vector<std::string> out;
    for (const Kind kind : {Kind::kernel, Kind::memcpy})
      for (const Row row : rows(trace, kind))
        out.push_back(maker(trace, row) + "/" + name(trace, captured.of(row)));
    return out;
  }
};

using Texts = std::vector<std::string>;

TEST_F(CuptiGraph, EachReplayNamesTheOpsThatCapturedItsWork) {
  start();
  capture();
  replay();
  replay();
  stop();
  const trace::Trace trace = read();
  EXPECT_EQ(makers(trace), (Texts{"aten::mm/aten::mm", "/", "aten::mm/aten::mm", "/",
                                  "aten::copy_/aten::copy_", "aten::copy_/aten::copy_"}));
  const Row kernel = rows(trace, Kind::kernel)[0];
  EXPECT_EQ(trace.ranks[0].events.op[kernel], trace::kNoRow);  // a replay has no op around it
  EXPECT_EQ(arg(trace, kernel, "graph node id"), 101);
  EXPECT_EQ(trace.notes, Texts{});
}

TEST_F(CuptiGraph, KernelsArePutWithThatOp) {
  start();
  capture();
  replay();
  launch();
  stop();
  const trace::Trace trace = read();
  Texts ops;
  for (const analyze::KernelTimes& kernel :
       analyze::kernels_of(trace, analyze::StepChoice(report::Params()), analyze::KernelsBy::properties)
           .kernels)
    ops.push_back(kernel.op);
  std::sort(ops.begin(), ops.end());
  EXPECT_EQ(ops, (Texts{"", "aten::mm"}));
}

TEST_F(CuptiGraph, AReplayInsideAnOpKeepsBoth) {
  start();
  capture();
  op("aten::replay", [] { replay(); });
  stop();
  const trace::Trace trace = read();
  const Row kernel = rows(trace, Kind::kernel)[0];
  EXPECT_EQ(name(trace, trace.ranks[0].events.op[kernel]), "aten::replay");
  EXPECT_EQ(maker(trace, kernel), "aten::mm");
}

TEST_F(CuptiGraph, GraphsThatWereCapturedEarlierAreTold) {
  fake().reset({});
  ASSERT_EQ(attach().first, 0);
  fake().node(1, 0);  // nothing records yet
  ASSERT_EQ(stepscope_cupti_detach(), 0);
  start();
  replay();
  launch();
  stop();
  const trace::Trace trace = read();
  EXPECT_EQ(makers(trace), (Texts{"/", "/", "/", "/"}));
  EXPECT_EQ(trace.notes, Texts{"the operators of 3 kernels, copies and fills of CUDA graphs: the recording "
                               "must begin before their "
                               "graphs are captured"});
}

TEST_F(CuptiGraph, OtherThreadsCaptureToo) {
  start();
  std::thread([] { op("SumBackward", [] { fake().node(1, 0); }); }).join();
  op("aten::mm", [] { fake().node(2, 0); });
  op("aten::add", [] { fake().node(3, 0); });
  replay(1);  // of a graph that is launched as it was captured
  stop();
  const trace::Trace trace = read();
  EXPECT_EQ(makers(trace), (Texts{"SumBackward/SumBackward", "aten::add/aten::add", "aten::mm/aten::mm"}));
}

TEST_F(CuptiGraph, CopiesThatLeadInACircleHaveNoMaker) {
  start();
  op("aten::mm", [] {
    fake().node(101, 102);
    fake().node(102, 101);
    fake().node(103, 103);
  });
  replay();
  stop();
  EXPECT_EQ(makers(read()), (Texts{"/", "/", "/"}));
}

TEST_F(CuptiGraph, LibrariesWithoutGraphsAreNotAsked) {
  FakeOptions options;
  options.version = 17;
  start(options);
  fake().node(1, 0);
  stop();
}

}  // namespace
}  // namespace stepscope::test
