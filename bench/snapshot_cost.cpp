// Measures what a memory snapshot costs after it was opened: what is allocated at any instant, and the answer
// of memory_peak there. Prints JSON.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "analyze/memory/memory_peak.h"
#include "analyze/memory/replayed_snapshots.h"
#include "read/open.h"

namespace {

using namespace stepscope;

constexpr int kInstants = 200;

double ms_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

double ms_of(auto work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return ms_since(begin);
}

void print(const char* name, std::vector<double> ms) {
  std::ranges::sort(ms);
  std::printf(", \"%s\": {\"p50_ms\": %.3f, \"p95_ms\": %.3f, \"max_ms\": %.3f}", name, ms[ms.size() / 2],
              ms[ms.size() * 95 / 100], ms.back());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "Usage: snapshot_cost SNAPSHOT\n");
    return 2;
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto trace = read::open(std::vector<std::string>{argv[1]});
  const double reading = ms_since(begin);
  if (!trace) {
    std::fprintf(stderr, "snapshot_cost: %s\n", trace.error().text().c_str());
    return 1;
  }
  const report::Params params;
  const analyze::Derived derived(*trace, params);
  const trace::Rank& rank = trace->ranks.at(0);
  const double replaying = ms_of([&] { (void)analyze::replays_of(derived, rank); });
  const derive::AllocatorReplay& replay = analyze::replays_of(derived, rank).at(0);
  const std::uint32_t events = replay.device().events.count();
  std::mt19937_64 random(1);
  std::vector<double> live, levels, answers;
  std::size_t most = 0;
  for (int i = 0; i < kInstants; ++i) {
    const auto at = static_cast<std::int64_t>(random() % events);
    live.push_back(ms_of([&] { most = std::max(most, replay.live_at(at).size()); }));
    levels.push_back(ms_of([&] { (void)(replay.requested_at(at) + replay.reserved_at(at)); }));
    answers.push_back(ms_of([&] { (void)analyze::memory_holders_of(derived, std::to_string(at)); }));
  }
  std::printf("{\"events\": %u, \"read_ms\": %.0f, \"replay_ms\": %.0f, \"instants\": %d, \"most_live\": %zu",
              events, reading, replaying, kInstants, most);
  print("live_set", live);
  print("levels", levels);
  print("memory_peak", answers);
  std::printf("}\n");
  return 0;
}
