// A program for tests of comparisons: each step runs the given kernels one after another.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

namespace stepscope::compare {

struct TestKernel {
  std::string op, name;
  double length;  ///< µs in an even step; 1 % more in an odd one
};

inline std::string test_program(const std::vector<TestKernel>& kernels, int steps) {
  std::string events;
  double at = 0;
  int id = 0;
  const auto add = [&](const char* kind, const std::string& name, int track, double begin, double length,
                       const std::string& args) {
    events += fmt::format(
        "{}{{\"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": {}, \"tid\": {}, \"ts\": {:.3f}, "
        "\"dur\": "
        "{:.3f}, \"args\": {{{}}}}}",
        events.empty() ? "" : ",\n", kind, name, track == 1 ? 1 : 0, track, begin, length, args);
  };
  for (int step = 0; step < steps; ++step) {
    const double begin = at;
    double device = begin + 10;
    for (const TestKernel& kernel : kernels) {
      const std::string ids = fmt::format("\"External id\": {0}, \"correlation\": {0}", ++id);
      const double length = kernel.length * (step % 2 == 0 ? 1 : 1.01);
      add("cpu_op", kernel.op, 1, at, 2, fmt::format("\"External id\": {}", id));
      add("cuda_runtime", "cudaLaunchKernel", 1, at + 0.5, 1, ids);
      add("kernel", kernel.name, 7, device, length, ids + ", \"device\": 0, \"stream\": 7");
      at += 2;
      device += length;
    }
    add("user_annotation", fmt::format("ProfilerStep#{}", step), 1, begin, device - begin, "");
    at = device;
  }
  return events;
}

}  // namespace stepscope::compare
