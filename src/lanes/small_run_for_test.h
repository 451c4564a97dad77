// For tests: a run of one rank that can be counted by hand.
#pragma once

#include "make_rank.h"

namespace stepscope::test {

/// µs on the file's clock; a Python call, two nested operators, a launch, its kernel, a copy. The run begins
/// with the Python call.
inline constexpr const char* kSmallRun = R"(
{"ph":"X","cat":"cpu_op","name":"aten::linear","pid":5,"tid":5,"ts":100,"dur":100,"args":{"External id":1,"Sequence number":12}},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":5,"tid":5,"ts":110,"dur":20,"args":{"External id":2,"Input Dims":[[4,4],[4,4]]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":5,"tid":5,"ts":112,"dur":4,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":120,"dur":40,"args":{"device":0,"stream":7,"correlation":1}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","pid":0,"tid":20,"ts":150,"dur":10,"args":{"device":0,"stream":20}},
{"ph":"X","cat":"python_function","name":"train.py(88): train","pid":5,"tid":5,"ts":90,"dur":120})";

inline trace::Trace small_run() { return open_events(kSmallRun); }

}  // namespace stepscope::test
