#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "base/median.h"
#include "derive/ranks/clock_bends.h"
#include "derive/ranks/clock_ends.h"
#include "derive/ranks/clock_start.h"

namespace stepscope::derive {

using timeline::Time;

Time ClockMap::operator()(Time x) const {
  return x - shift - std::llround(offset + drift * static_cast<double>(x - origin));
}

double ClockFit::uncertainty_at(Time x) const {
  const double u = static_cast<double>(x - map.origin) / half_window;
  const double rise = uncertainty_edge * uncertainty_edge - uncertainty_middle * uncertainty_middle;
  return std::sqrt(uncertainty_middle * uncertainty_middle + std::max(0.0, rise) * u * u);
}

ClockMap ClockFit::steady_map() const {
  ClockMap steady = map;
  if (std::abs(map.drift) * half_window > uncertainty_edge) return steady;
  steady.drift = 0;
  steady.shift += std::llround(map.offset);
  steady.offset = 0;
  return steady;
}

namespace {

constexpr int kReweightings = 12;
constexpr int kMaxIterations = 300;
constexpr double kSettled = 50;        // ns: the rounds end when no clock moves further
constexpr double kMinEndSpread = 300;  // ns: min scatter of any kind
constexpr double kTukey = 4.685;       // 95 % efficiency for normal residuals
constexpr std::size_t kSamples = 64;   // noise samples for the uncertainty, which is then known to a tenth
constexpr std::uint32_t kMinOfKind = 10;

/// One number pair per clock: offset, and drift over half the clock's window.
struct Unknowns {
  std::vector<double> offset, drift;
  explicit Unknowns(std::size_t clocks) : offset(clocks), drift(clocks) {}
};

double dot(const Unknowns& a, const Unknowns& b) {
  double sum = 0;
  for (std::size_t q = 0; q < a.offset.size(); ++q)
    sum += a.offset[q] * b.offset[q] + a.drift[q] * b.drift[q];
  return sum;
}
void add(Unknowns& to, double factor, const Unknowns& x) {
  for (std::size_t q = 0; q < to.offset.size(); ++q) {
    to.offset[q] += factor * x.offset[q];
    to.drift[q] += factor * x.drift[q];
  }
}

/// Robust least squares on the ends, mapped by the first guess. The times of collectives are eliminated.
class Solver {
 public:
  Solver(const std::vector<ClockEnd>& ends, std::vector<ClockFit>& fits) : ends_(ends), fits_(fits) {
    const std::size_t n = ends.size();
    y_.resize(n), u_.resize(n), weight_.assign(n, 1), residual_.resize(n), noise_.resize(n);
    for (const ClockEnd& end : ends)
      fits[end.clock].half_window = std::max(
          fits[end.clock].half_window, std::abs(static_cast<double>(end.end - fits[end.clock].map.origin)));
    for (std::size_t i = 0; i < n; i = behind(i)) bounds_.push_back(i);
    bounds_.push_back(n);
    for (std::size_t c = 0; c + 1 < bounds_.size(); ++c) place(bounds_[c], bounds_[c + 1]);
    for (const ClockEnd& end : ends) kinds_ = std::max(kinds_, end.kind + 1);
    std::uint32_t components = 0;
    for (const ClockFit& fit : fits) components = std::max(components, fit.component + 1);
    members_.resize(components);
    for (const ClockFit& fit : fits) members_[fit.component] += 1;
    count_freedom();
  }

  void solve() {
    Unknowns total(fits_.size());
    for (int round = 0; round < kReweightings; ++round) {
      weigh();
      const Unknowns step = solved(residual_);
      double furthest = 0;
      for (std::size_t q = 0; q < fits_.size(); ++q)
        furthest = std::max(furthest, std::abs(step.offset[q]) + std::abs(step.drift[q]));
      add(total, 1, step);
      for (std::size_t i = 0; i < ends_.size(); ++i) y_[i] -= at(step, i);
      if (furthest < kSettled) break;
    }
    weigh();
    for (std::size_t q = 0; q < fits_.size(); ++q) {
      fits_[q].map.offset += total.offset[q];
      fits_[q].map.drift += total.drift[q] / fits_[q].half_window;
    }
    describe();
    bound();
  }

 private:
  std::size_t behind(std::size_t i) const {
    std::size_t next = i + 1;
    while (next < ends_.size() && ends_[next].instance == ends_[i].instance) ++next;
    return next;
  }
  /// Maps the ends of one collective by the first guess, relative to its first end.
  void place(std::size_t from, std::size_t to) {
    const auto mapped = [&](std::size_t i) {
      const ClockMap& map = fits_[ends_[i].clock].map;
      u_[i] = static_cast<double>(ends_[i].end - map.origin) / half_of(i);
      return ends_[i].end - map.shift;
    };
    const Time reference = mapped(from);
    for (std::size_t i = from; i < to; ++i) {
      const ClockMap& map = fits_[ends_[i].clock].map;
      y_[i] = static_cast<double>(mapped(i) - reference) - map.offset - map.drift * u_[i] * half_of(i);
    }
  }
  double half_of(std::size_t i) const { return fits_[ends_[i].clock].half_window; }
  double at(const Unknowns& p, std::size_t i) const {
    return p.offset[ends_[i].clock] + u_[i] * p.drift[ends_[i].clock];
  }

  template <class Use>
  void for_each_instance(Use use) const {
    for (std::size_t c = 0; c + 1 < bounds_.size(); ++c) use(bounds_[c], bounds_[c + 1]);
  }
  /// Subtracts each collective's weighted mean from `v`.
  void center(std::vector<double>& v) const {
    for_each_instance([&](std::size_t from, std::size_t to) {
      double sum = 0, weights = 0;
      for (std::size_t i = from; i < to; ++i) sum += weight_[i] * v[i], weights += weight_[i];
      const double mean = weights > 0 ? sum / weights : 0;
      for (std::size_t i = from; i < to; ++i) v[i] -= mean;
    });
  }
  Unknowns gathered(const std::vector<double>& v) const {
    Unknowns out(fits_.size());
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      out.offset[ends_[i].clock] += weight_[i] * v[i];
      out.drift[ends_[i].clock] += weight_[i] * v[i] * u_[i];
    }
    pin(out);
    return out;
  }
  /// Keeps the mean offset and drift of each component fixed; else all clocks would collapse onto one
  /// instant.
  void pin(Unknowns& p) const {
    std::vector<double> offset(members_.size()), drift(members_.size());
    for (std::size_t q = 0; q < fits_.size(); ++q) {
      offset[fits_[q].component] += p.offset[q];
      drift[fits_[q].component] += p.drift[q];
    }
    for (std::size_t q = 0; q < fits_.size(); ++q) {
      p.offset[q] -= offset[fits_[q].component] / members_[fits_[q].component];
      p.drift[q] -= drift[fits_[q].component] / members_[fits_[q].component];
    }
  }
  /// The unknowns that best explain `v`, by conjugate gradients. One product costs a pass over the ends.
  Unknowns solved(std::vector<double> v) {
    center(v);
    Unknowns p(fits_.size()), rest = gathered(v), direction = rest;
    double rest2 = dot(rest, rest);
    const double enough = rest2 * 1e-18;
    for (int i = 0; i < kMaxIterations && rest2 > enough && rest2 > 0; ++i) {
      for (std::size_t e = 0; e < ends_.size(); ++e) noise_[e] = at(direction, e);
      center(noise_);
      const Unknowns product = gathered(noise_);
      const double curvature = dot(direction, product);
      if (curvature <= 0) break;
      const double step = rest2 / curvature;
      add(p, step, direction);
      add(rest, -step, product);
      const double next = dot(rest, rest);
      for (std::size_t q = 0; q < fits_.size(); ++q) {
        direction.offset[q] = rest.offset[q] + next / rest2 * direction.offset[q];
        direction.drift[q] = rest.drift[q] + next / rest2 * direction.drift[q];
      }
      rest2 = next;
    }
    return p;
  }

  /// With few ends, residuals are small because the unknowns follow them. With many, residuals are the noise.
  void count_freedom() {
    double known = 0;  // differences between ends
    for_each_instance([&](std::size_t from, std::size_t to) { known += static_cast<double>(to - from - 1); });
    const double clocks = static_cast<double>(std::count_if(
        fits_.begin(), fits_.end(), [&](const ClockFit& fit) { return members_[fit.component] > 1; }));
    const double free = known - 2 * clocks;
    constexpr double kHardlyAny = 10;
    followed_ = free > 0 ? std::min(kHardlyAny, std::sqrt(known / free)) : kHardlyAny;
    freedom_ = clocks > 0 ? std::max(1.0, free / clocks) : 1;
  }

  /// Computes residuals, the spread of each kind, and the weights from both.
  void weigh() {
    residual_ = y_;
    center_by_median(residual_);
    std::vector<std::vector<double>> of_kind(kinds_);
    for_each_instance([&](std::size_t from, std::size_t to) {
      if (to - from < 2) return;
      const auto n = static_cast<double>(to - from);
      const double unbiased = std::sqrt(n / (n - 1));  // the middle was computed from the same ends
      for (std::size_t i = from; i < to; ++i)
        of_kind[ends_[i].kind].push_back(unbiased * std::abs(residual_[i]));
    });
    spread_.assign(kinds_, kMinEndSpread);
    for (std::uint32_t k = 0; k < kinds_; ++k)
      spread_[k] = std::max(kMinEndSpread, followed_ * kOfNormal * median_of(of_kind[k]));
    std::vector<double> off;
    for_each_instance([&](std::size_t from, std::size_t to) {
      off.clear();
      for (std::size_t i = from; i < to; ++i) off.push_back(std::abs(residual_[i]) / spread_[ends_[i].kind]);
      // If the ends of a collective scatter as a whole, all of them count less.
      const double noisy = std::max(1.0, median_of(off) * kOfNormal / 2);
      for (std::size_t i = from; i < to; ++i) {
        const double sigma = spread_[ends_[i].kind] * noisy, r = residual_[i] / (kTukey * sigma);
        const double keep = std::abs(r) < 1 ? (1 - r * r) * (1 - r * r) : 0;
        weight_[i] = to - from < 2 ? 0 : keep * (kMinEndSpread / sigma) * (kMinEndSpread / sigma);
      }
    });
    residual_ = y_;
    center(residual_);
  }
  void center_by_median(std::vector<double>& v) const {
    std::vector<double> values;
    for_each_instance([&](std::size_t from, std::size_t to) {
      values.assign(v.begin() + static_cast<std::ptrdiff_t>(from),
                    v.begin() + static_cast<std::ptrdiff_t>(to));
      const double middle = median_of(values);
      for (std::size_t i = from; i < to; ++i) v[i] -= middle;
    });
  }

  void describe() {
    std::vector<std::vector<double>> of_clock(fits_.size());
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      ClockFit& fit = fits_[ends_[i].clock];
      ++(weight_[i] > 0 ? fit.used : fit.rejected);
      of_clock[ends_[i].clock].push_back(std::abs(residual_[i]));
    }
    for (std::size_t q = 0; q < fits_.size(); ++q) {
      std::vector<double>& own = of_clock[q];
      if (own.empty()) continue;
      fits_[q].residual_median = median_of(own);
      const auto p95 = own.begin() + static_cast<std::ptrdiff_t>((own.size() - 1) * 95 / 100);
      std::nth_element(own.begin(), p95, own.end());
      fits_[q].residual_p95 = *p95;
    }
  }

  /// Uncertainty: the scatter of solutions for noise as large as the residuals. It is at least the spread of
  /// a quiet kind, which averaging cannot reduce: ranks differ in how late they see an end. A bend adds to
  /// it.
  void bound() {
    const double t = student(freedom_);
    std::vector<double> middle(fits_.size()), begin(fits_.size()), end(fits_.size());
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    std::vector<double> made(ends_.size());
    for (std::size_t sample = 0; sample < kSamples; ++sample) {
      for (std::size_t i = 0; i < ends_.size(); ++i) made[i] = spread_[ends_[i].kind] * normal(random);
      const Unknowns p = solved(made);
      for (std::size_t q = 0; q < fits_.size(); ++q) {
        middle[q] += p.offset[q] * p.offset[q];
        begin[q] += (p.offset[q] - p.drift[q]) * (p.offset[q] - p.drift[q]);
        end[q] += (p.offset[q] + p.drift[q]) * (p.offset[q] + p.drift[q]);
      }
    }
    const std::vector<double> floor = quietest();
    const std::vector<double> bends = bends_of(ends_, residual_, fits_.size());
    for (std::size_t q = 0; q < fits_.size(); ++q) {
      const auto of = [&](double squares) {
        return std::hypot(t * std::sqrt(squares / static_cast<double>(kSamples)), floor[q]) + bends[q];
      };
      fits_[q].bend = bends[q];
      const bool seen = fits_[q].used > 0;
      constexpr double kUnknown = std::numeric_limits<double>::infinity();
      fits_[q].uncertainty_middle = seen ? of(middle[q]) : kUnknown;
      fits_[q].uncertainty_edge = seen ? of(std::max(begin[q], end[q])) : kUnknown;
    }
  }
  /// By clock: the smallest spread among its most frequent kind and the kinds with at least kMinOfKind ends.
  std::vector<double> quietest() const {
    std::vector<std::vector<std::uint32_t>> counts(fits_.size(), std::vector<std::uint32_t>(kinds_));
    for (const ClockEnd& end : ends_) ++counts[end.clock][end.kind];
    std::vector<double> floor(fits_.size());
    for (std::size_t q = 0; q < fits_.size(); ++q) {
      const auto most =
          static_cast<std::size_t>(std::max_element(counts[q].begin(), counts[q].end()) - counts[q].begin());
      floor[q] = kinds_ == 0 ? 0 : spread_[most];
      for (std::uint32_t k = 0; k < kinds_; ++k)
        if (counts[q][k] >= kMinOfKind) floor[q] = std::min(floor[q], spread_[k]);
    }
    return floor;
  }
  /// The 97.5 % quantile of Student's t by the Cornish-Fisher expansion (Abramowitz and Stegun 26.7.5). Below
  /// three degrees of freedom: the exact values for 1 and 2.
  static double student(double degrees) {
    if (degrees < 2) return 12.71;
    if (degrees < 3) return 4.30;
    constexpr double z = 1.959964;
    const double g1 = (z * z * z + z) / 4, g2 = (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / 96;
    return z + g1 / degrees + g2 / (degrees * degrees);
  }

  const std::vector<ClockEnd>& ends_;
  std::vector<ClockFit>& fits_;
  std::vector<std::size_t> bounds_;                        // index of each collective's first end
  std::vector<double> y_, u_, weight_, residual_, noise_;  // by end
  std::vector<double> members_;                            // by component
  std::vector<double> spread_;                             // by kind, ns
  std::uint32_t kinds_ = 0;
  double followed_ = 1;  // noise / residuals
  double freedom_ = 1;   // differences per clock minus its two unknowns
};

/// Makes the median clock of each component the reference: its offset at the middle of the recording and its
/// drift are 0.
void refer_to_median(std::vector<ClockFit>& fits) {
  std::uint32_t components = 0;
  for (const ClockFit& fit : fits) components = std::max(components, fit.component + 1);
  for (std::uint32_t c = 0; c < components; ++c) {
    std::vector<Time> shifts;
    std::vector<double> drifts;
    for (const ClockFit& fit : fits)
      if (fit.component == c)
        shifts.push_back(fit.map.shift + std::llround(fit.map.offset)), drifts.push_back(fit.map.drift);
    if (shifts.size() < 2) continue;
    const auto middle = shifts.begin() + static_cast<std::ptrdiff_t>((shifts.size() - 1) / 2);
    std::nth_element(shifts.begin(), middle, shifts.end());
    const Time shift = *middle;
    const auto pace_at = drifts.begin() + static_cast<std::ptrdiff_t>((drifts.size() - 1) / 2);
    std::nth_element(drifts.begin(), pace_at, drifts.end());
    const double pace = *pace_at;
    Time reference = 0;
    bool any = false;
    for (ClockFit& fit : fits) {
      if (fit.component != c) continue;
      const Time mapped = fit.map(fit.map.origin);
      if (!any) reference = mapped;
      any = true;
      // T' = T + shift + pace (T - reference), to first order in drifts.
      fit.map.shift -= shift;
      fit.map.offset -= pace * static_cast<double>(mapped - reference);
      fit.map.drift -= pace;
    }
  }
}

}  // namespace

std::vector<ClockFit> fit_clocks(const std::vector<ClockEnd>& ends, std::size_t clocks) {
  std::vector<ClockFit> fits = first_guess(ends, clocks);
  Solver(ends, fits).solve();
  refer_to_median(fits);
  return fits;
}

}  // namespace stepscope::derive
