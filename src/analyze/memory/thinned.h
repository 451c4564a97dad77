// Some instants of a curve, so that its lows and highs stay.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace stepscope::analyze {

/// Which members of an instant count.
template <class Instant>
struct ThinnedBy {
  using Member = std::int64_t Instant::*;
  Member place;                ///< grows from instant to instant
  Member level;                ///< the lowest and the highest of every run of instants stay
  std::vector<Member> others;  ///< the highest of each stays
};

/// The first and the last instant, the highest of each level, and of every run of instants the lowest and the
/// highest of the first level.
template <class Instant>
class Thinned {
 public:
  /// `at`: the first instant. Places are from its own place on, `instants` in all.
  Thinned(ThinnedBy<Instant> by, const Instant& at, std::int64_t instants, std::int64_t most)
      : by_(std::move(by)),
        first_(at.*by_.place),
        instants_(instants),
        runs_(instants <= most ? instants : std::max<std::int64_t>(1, (most - kept_of_all()) / 2)),
        kept_{at},
        low_(at),
        high_(at),
        last_(at),
        highest_(by_.others.size(), at) {}

  void add(const Instant& at) {
    const std::int64_t run = (at.*by_.place - first_) * runs_ / instants_;
    if (run != run_) end_run();
    if (run != run_ || at.*by_.level < low_.*by_.level) low_ = at;
    if (run != run_ || at.*by_.level > high_.*by_.level) high_ = at;
    run_ = run;
    for (std::size_t i = 0; i < by_.others.size(); ++i)
      if (at.*by_.others[i] > highest_[i].*by_.others[i]) highest_[i] = at;
    last_ = at;
  }

  /// By place. Only once.
  std::vector<Instant> finish() {
    end_run();
    kept_.insert(kept_.end(), highest_.begin(), highest_.end());
    kept_.push_back(last_);
    std::ranges::sort(kept_, {}, by_.place);
    const auto same = std::ranges::unique(kept_, {}, by_.place);
    kept_.erase(same.begin(), same.end());
    return std::move(kept_);
  }

 private:
  std::int64_t kept_of_all() const { return 2 + static_cast<std::int64_t>(by_.others.size()); }

  void end_run() {
    kept_.push_back(low_);
    kept_.push_back(high_);
  }

  const ThinnedBy<Instant> by_;
  const std::int64_t first_, instants_, runs_;
  std::vector<Instant> kept_;
  std::int64_t run_ = 0;
  Instant low_, high_, last_;
  std::vector<Instant> highest_;
};

}  // namespace stepscope::analyze
