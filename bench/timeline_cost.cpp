// Measures what a timeline of files costs: making it, its memory, and its answers. Prints JSON.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "lanes/timeline.h"
#include "read/open.h"

namespace {

using namespace stepscope;

constexpr std::size_t kLanes = 40;  // of a screen

double ms_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

double ms_of(auto work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return ms_since(begin);
}

std::size_t events_of(const trace::Trace& trace) {
  return std::accumulate(trace.ranks.begin(), trace.ranks.end(), std::size_t{0},
                         [](std::size_t sum, const trace::Rank& rank) { return sum + rank.events.size(); });
}

/// Three tiles of each level: at the begin, in the middle, near the end.
void print_tiles(const lanes::Timeline& timeline, const std::vector<std::uint32_t>& lanes, std::int64_t end) {
  std::vector<double> times;
  double worst = 0;
  int worst_level = 0;
  std::size_t most = 0;
  for (int level = 0; level < 45; ++level)
    for (const std::int64_t at : {end / 10, end / 2, end / 10 * 9}) {
      const std::int64_t tile = (at >> level) / 512;
      times.push_back(ms_of([&] {
        const auto answer = timeline.tiles(level, tile, lanes);
        most = std::max(most, answer ? answer->size() : 0);
      }));
      if (times.back() > worst) worst = times.back(), worst_level = level;
    }
  std::ranges::sort(times);
  std::printf(
      "  \"tile_ms_median\": %.3f, \"tile_ms_p95\": %.3f, \"tile_ms_worst\": %.3f, \"worst_level\": %d, ",
      times[times.size() / 2], times[times.size() * 95 / 100], worst, worst_level);
  std::printf("\"largest_tile_bytes\": %zu,\n", most);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> paths(argv + 1, argv + argc);
  const auto begin = std::chrono::steady_clock::now();
  const auto trace = read::open(paths);
  if (!trace) {
    std::fprintf(stderr, "timeline_cost: %s\n", trace.error().text().c_str());
    return 1;
  }
  const double reading = ms_since(begin);
  const auto events = static_cast<double>(events_of(*trace));
  for (const unsigned threads : {1U, 0U}) {
    const double making = ms_of([&] { const lanes::Timeline timeline(*trace, threads); });
    std::printf(
        "{\"events\": %.0f, \"threads\": %u, \"read_ms\": %.0f, \"make_ms\": %.0f, \"make_ns_per_event\": "
        "%.1f}\n",
        events, threads, reading, making, making * 1e6 / events);
  }
  const lanes::Timeline timeline(*trace);
  std::vector<std::uint32_t> lanes;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane)
    if (timeline.tiles(0, 0, {&lane, 1})) lanes.push_back(lane);
  const std::string summary = timeline.summary();
  const std::int64_t end = std::stoll(summary.substr(summary.find(':') + 1));
  std::printf("{\"pyramid_bytes_per_event\": %.2f, \"lanes\": %zu,\n",
              static_cast<double>(timeline.pyramid_bytes()) / events, lanes.size());
  print_tiles(timeline, lanes, end);
  const auto search = [&](const char* text) {
    return ms_of([&] { (void)timeline.search({text, lanes::Place{end / 2, 0, 0}, {}}); });
  };
  std::printf("  \"search_gemm_ms\": %.1f, \"search_all_ms\": %.1f, ", search("gemm"), search(""));
  std::printf("\"event_first_ms\": %.1f, ", ms_of([&] { (void)timeline.event(0, 1'000); }));
  std::printf("\"event_ms\": %.1f, ", ms_of([&] { (void)timeline.event(0, 2'000); }));
  std::printf("\"area_all_ms\": %.1f, \"summary_ms\": %.2f}\n",
              ms_of([&] { (void)timeline.area(0, end, lanes); }), ms_of([&] { (void)timeline.summary(); }));
  return 0;
}
