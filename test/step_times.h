// Made step times: programs whose steps vary in known ways.
#pragma once

#include <cmath>
#include <functional>
#include <random>
#include <string_view>
#include <vector>

namespace stepscope::test {

using StepTimes = std::vector<double>;
using Random = std::mt19937_64;

/// A program; `make` records so many steps of it.
struct NoisyProgram {
  std::string_view name;
  std::function<StepTimes(std::size_t steps, Random&)> make;
  /// Why its rate of false changes may be above 5 %; "" if it must hold.
  std::string_view excuse = "";
};

inline double between(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

/// 100 ms a step with a standard deviation of `spread`; neighbours have the given correlation.
inline StepTimes correlated(std::size_t steps, double correlation, double spread, Random& random) {
  std::normal_distribution<double> noise(0, 1);
  StepTimes out;
  double now = noise(random);
  for (std::size_t i = 0; i < steps; ++i) {
    out.push_back(100 * std::exp(spread * now));
    now = correlation * now + std::sqrt(1 - correlation * correlation) * noise(random);
  }
  return out;
}

/// White noise of 2 %, each step times `factor`(step ÷ last step).
template <class Factor>
StepTimes shaped(std::size_t steps, Random& random, Factor factor) {
  StepTimes out = correlated(steps, 0, 0.02, random);
  for (std::size_t i = 0; i < steps; ++i)
    out[i] *= factor(static_cast<double>(i), static_cast<double>(i) / static_cast<double>(steps - 1));
  return out;
}

/// Steps that decay to their level: `first` above it, by a factor e in `decay` steps.
inline StepTimes warming(std::size_t steps, Random& random, double first, double decay) {
  return shaped(steps, random, [&](double step, double) { return 1 + first * std::exp(-step / decay); });
}

/// Steps of 1 % noise, of which a share is slower; a mode is left with the chance `leave`.
inline StepTimes bimodal(std::size_t steps, Random& random, double share, double slower, double leave) {
  StepTimes out = correlated(steps, 0, 0.01, random);
  bool slow = between(random, 0, 1) < share;
  for (double& time : out) {
    if (between(random, 0, 1) < leave) slow = between(random, 0, 1) < share;
    if (slow) time *= slower;
  }
  return out;
}

inline std::vector<NoisyProgram> noisy_programs() {
  return {
      {"white, 2 %", [](std::size_t n, Random& r) { return correlated(n, 0, 0.02, r); }},
      {"AR(1) 0.5, 2 %", [](std::size_t n, Random& r) { return correlated(n, 0.5, 0.02, r); }},
      {"AR(1) 0.8, 2 %", [](std::size_t n, Random& r) { return correlated(n, 0.8, 0.02, r); }},
      {"drift of +4 % in each recording",
       [](std::size_t n, Random& r) {
         return shaped(n, r, [](double, double at) { return 1 + 0.04 * at; });
       }},
      {"warm-up: first step 1.5 to 4 times",
       [](std::size_t n, Random& r) {
         const double first = between(r, 1.5, 4);
         return shaped(n, r, [&](double step, double) { return step < 1 ? first : 1; });
       }},
      {"warm-up: 10 to 60 %, decays in 1 to 4 steps",
       [](std::size_t n, Random& r) { return warming(n, r, between(r, 0.1, 0.6), between(r, 1, 4)); }},
      {"warm-up: 5 to 20 %, decays in 2 to 6 steps",
       [](std::size_t n, Random& r) { return warming(n, r, between(r, 0.05, 0.2), between(r, 2, 6)); }},
      {"bimodal: every other step 5 % slower",
       [](std::size_t n, Random& r) { return bimodal(n, r, 0.5, 1.05, 1); }},
      {"bimodal: one in five 10 % slower",
       [](std::size_t n, Random& r) { return bimodal(n, r, 0.2, 1.1, 1); }},
      {"heavy tails: t with 2 degrees of freedom, 1.2 %",
       [](std::size_t n, Random& r) {
         std::student_t_distribution<double> t(2);
         StepTimes out(n);
         for (double& time : out) time = 100 * std::exp(0.012 * t(r));
         return out;
       }},
      {"pauses: one step in 20 takes 1.5 times",
       [](std::size_t n, Random& r) {
         return shaped(n, r, [&](double, double) { return between(r, 0, 1) < 0.05 ? 1.5 : 1; });
       }},
      {"log-normal, 20 %", [](std::size_t n, Random& r) { return correlated(n, 0, 0.2, r); }},
      {"AR(1) 0.95, 2 %", [](std::size_t n, Random& r) { return correlated(n, 0.95, 0.02, r); },
       "a step is like the next 20: a short recording looks like noise about another mean"},
      {"bimodal, 5 % slower for 5 steps on end",
       [](std::size_t n, Random& r) { return bimodal(n, r, 0.5, 1.05, 0.4); },
       "a short recording may see one mode alone"},
      {"drift of −4 to +4 %, another in each recording",
       [](std::size_t n, Random& r) {
         const double drift = between(r, -0.04, 0.04);
         return shaped(n, r, [&](double, double at) { return 1 + drift * at; });
       },
       "the means of the recordings do differ, by 1.6 % as a rule"},
  };
}

}  // namespace stepscope::test
