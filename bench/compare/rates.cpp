// How often equal programs are called different, and how often a change of 3 % is found, on made step times.
// Prints bench/COMPARE.md: `build/release/bench/compare_rates > bench/COMPARE.md`.
#include <fmt/format.h>

#include <array>

#include "compare/change.h"
#include "compare/change_points.h"
#include "compare/steady.h"
#include "step_times.h"

namespace {

using namespace stepscope;

constexpr std::size_t kSteps[] = {12, 20, 50};
constexpr int kPairs = 2000;

std::vector<double> counted(const std::vector<double>& times, const compare::Unsteady& out,
                            std::size_t side) {
  std::vector<double> kept(times.begin() + static_cast<std::ptrdiff_t>(out.warm_up), times.end());
  for (auto at = out.pauses[side].rbegin(); at != out.pauses[side].rend(); ++at)
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(*at));
  return kept;
}

compare::RatioChange compared(const std::vector<double>& a, const std::vector<double>& b) {
  const compare::Unsteady out = compare::unsteady({a, b});
  return compare::ratio_change(counted(a, out, 0), counted(b, out, 1));
}

struct Rates {
  int wrong = 0, found = 0, equal = 0;
};

Rates rates_of(const test::NoisyProgram& program, std::size_t steps) {
  test::Random random(steps);
  Rates rates;
  for (int i = 0; i < kPairs; ++i) {
    const std::vector<double> a = program.make(steps, random);
    std::vector<double> b = program.make(steps, random);
    const compare::RatioChange same = compared(a, b);
    rates.wrong += same.changed();
    rates.equal += !same.changed() && same.narrow();
    for (double& time : b) time *= 1.03;
    const compare::RatioChange slower = compared(a, b);
    rates.found += slower.changed() && slower.low > 1;
  }
  return rates;
}

std::string share(int count) { return fmt::format("{:.1f} %", 100.0 * count / kPairs); }

void print_changes() {
  fmt::print(
      "| noise of a step | false, 12 steps | 20 | 50 | +3 % found, 12 steps | 20 | 50 | called as fast, 12 "
      "steps | 20 "
      "| 50 |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
  std::string excuses;
  for (const test::NoisyProgram& program : test::noisy_programs()) {
    std::array<std::string, 3> cells;
    for (const std::size_t steps : kSteps) {
      const Rates rates = rates_of(program, steps);
      cells[0] += " " + share(rates.wrong) + " |";
      cells[1] += " " + share(rates.found) + " |";
      cells[2] += " " + share(rates.equal) + " |";
    }
    fmt::print("| {} |{}{}{}\n", program.name, cells[0], cells[1], cells[2]);
    if (!program.excuse.empty()) excuses += fmt::format("- {}: {}.\n", program.name, program.excuse);
  }
  fmt::print("\nThe last three do not hold 5 % everywhere, and cannot at these lengths:\n\n{}", excuses);
}

void print_trends() {
  constexpr std::size_t kRuns[] = {8, 12, 20, 40};
  fmt::print(
      "\n## Change points of a history\n\n"
      "{} histories of independent runs, 2 % noise: how often one without a change has a change point, and "
      "how "
      "often a change of 5 % in the middle is found within one run of its place.\n\n"
      "| runs | false | found |\n|--:|--:|--:|\n",
      kPairs);
  for (const std::size_t runs : kRuns) {
    test::Random random(runs);
    int wrong = 0, found = 0;
    for (int i = 0; i < kPairs; ++i) {
      std::vector<double> values = test::correlated(runs, 0, 0.02, random);
      wrong += !compare::change_points(values).empty();
      for (std::size_t at = runs / 2; at < runs; ++at) values[at] *= 1.05;
      const std::vector<std::size_t> points = compare::change_points(values);
      found += points.size() == 1 && points[0] + 1 >= runs / 2 && points[0] <= runs / 2 + 1;
    }
    fmt::print("| {} | {} | {} |\n", runs, share(wrong), share(found));
  }
}

}  // namespace

int main() {
  fmt::print(
      "# Does a comparison know before it speaks?\n\n"
      "Written by `build/release/bench/compare_rates`. {} pairs per cell of made step times "
      "(`test/step_times.h`), "
      "through the estimator of `diff` and `gate`: warm-up and rare pauses found, interval at 95 %. False: "
      "two "
      "recordings of one program are called faster or slower; the goal is at most 5 %. Found: B is 3 % "
      "slower and is "
      "called so; the goal is 90 % at 20 steps with white noise of 2 %. As fast: two recordings of one "
      "program are "
      "called so, which is said only if a change of 5 % would have been seen. The rest is \"cannot "
      "tell\".\n\n",
      kPairs);
  print_changes();
  print_trends();
}
