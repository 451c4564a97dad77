#include "lanes/family.h"

#include <gtest/gtest.h>

#include "make_rank.h"

namespace stepscope::lanes {
namespace {

using report::Family;

TEST(Families, OfEveryKindOfEvent) {
  const trace::Trace trace = test::open_events(R"J(
{"ph":"X","cat":"kernel","name":"ampere_sgemm_128x64_tn","pid":0,"tid":7,"ts":1,"dur":1,"args":{"device":0,"stream":7}},
{"ph":"X","cat":"kernel","name":"flash_fwd_kernel","pid":0,"tid":7,"ts":2,"dur":1,"args":{"device":0,"stream":7}},
{"ph":"X","cat":"kernel","name":"softmax_warp_forward","pid":0,"tid":7,"ts":3,"dur":1,"args":{"device":0,"stream":7}},
{"ph":"X","cat":"kernel","name":"my_own","pid":0,"tid":7,"ts":4,"dur":1,"args":{"device":0,"stream":7}},
{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_f32","pid":0,"tid":7,"ts":5,"dur":1,"args":{"device":0,"stream":7}},
{"ph":"X","cat":"gpu_memset","name":"Memset (Device)","pid":0,"tid":7,"ts":6,"dur":1,"args":{"device":0,"stream":7}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":5,"tid":5,"ts":1,"dur":1},
{"ph":"X","cat":"cuda_runtime","name":"cudaStreamSynchronize","pid":5,"tid":5,"ts":2,"dur":1},
{"ph":"X","cat":"user_annotation","name":"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__","pid":5,"tid":5,"ts":3,"dur":1},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":5,"tid":5,"ts":4,"dur":1},
{"ph":"X","cat":"cpu_op","name":"nccl:all_reduce","pid":5,"tid":5,"ts":5,"dur":1},
{"ph":"X","cat":"cpu_op","name":"autograd::engine::evaluate_function: MmBackward0","pid":5,"tid":5,"ts":6,"dur":5},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":5,"tid":5,"ts":7,"dur":1},
{"ph":"X","cat":"user_annotation","name":"my part","pid":5,"tid":5,"ts":20,"dur":1},
{"ph":"X","cat":"POSIX","name":"pread","pid":5,"tid":5,"ts":30,"dur":1})J");
  const Names names(trace);
  const Families families(trace, names);
  const trace::Rank& rank = trace.ranks[0];
  std::vector<std::string_view> by_id(rank.events.size());
  for (trace::Row row = 0; row < rank.events.size(); ++row)
    by_id[rank.events.source[row]] = report::paint_of(families.of(rank, row, false)).name;
  EXPECT_EQ(by_id,
            (std::vector<std::string_view>{"compute", "attention", "elementwise", "compute", "communication",
                                           "fill", "runtime", "waiting", "data", "host", "communication",
                                           "host-backward", "host-backward", "other", "data"}));
}

}  // namespace
}  // namespace stepscope::lanes
