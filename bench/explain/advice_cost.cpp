// Measures the time of a report's numbers and of its advice. Prints JSON: median seconds of several rounds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "advise/verdict.h"
#include "analyze/derived.h"
#include "read/open.h"

namespace {

constexpr int kRounds = 7;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  using namespace stepscope;
  const std::vector<std::string> paths(argv + 1, argv + argc);
  std::vector<double> whole, advice;
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    const auto trace = read::open(paths);
    if (!trace) {
      std::fprintf(stderr, "advice_cost: nothing could be read\n");
      return 1;
    }
    const report::Params params;
    const analyze::Derived derived(*trace, params);
    const advise::Reports reports = advise::gather(derived);
    const auto gathered = std::chrono::steady_clock::now();
    advise::verdict(derived, reports);
    advice.push_back(seconds_since(gathered));
    whole.push_back(seconds_since(begin));
  }
  std::printf("{\"report_s\": %.6f, \"advice_s\": %.6f}\n", median(whole), median(advice));
  return 0;
}
