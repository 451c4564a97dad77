#include "compare/match.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "compare/kernel_names.h"

namespace stepscope::compare {
namespace {

using Indices = std::vector<std::size_t>;
using Key = std::optional<std::string>;
struct Group {
  Indices a, b;
};

constexpr std::size_t kMaxPairs = 4'000'000;  // of an alignment; larger groups are compared as a whole
constexpr double kSameCalls = 0.1;

const char* side_of(const Leaf& leaf) { return leaf.device ? "\nd" : "\nh"; }

/// Key of the work below the first `levels` names: all of it, or one kind.
Key above(const Leaf& leaf, std::size_t levels, bool by_class) {
  return joined(leaf.op, levels) + side_of(leaf) + (by_class ? std::to_string(leaf.work_class) : "");
}

class Matcher {
 public:
  Matcher(std::span<const Leaf> a, std::span<const Leaf> b)
      : a_(a), b_(b), free_a_(a.size(), true), free_b_(b.size(), true) {}

  /// Matches leaves with equal keys.
  template <class KeyOf>
  void by_key(Way way, KeyOf key_of) {
    for (auto& [key, group] : groups(key_of))
      if (!group.a.empty() && !group.b.empty()) take(way, std::move(group.a), std::move(group.b));
  }

  /// The same, if both sides call the leaves about equally often.
  template <class KeyOf>
  void by_key_and_calls(Way way, KeyOf key_of) {
    for (auto& [key, group] : groups(key_of)) {
      const double calls_a = calls(a_, group.a), calls_b = calls(b_, group.b);
      if (calls_a > 0 && std::abs(calls_a - calls_b) <= kSameCalls * calls_a)
        take(way, std::move(group.a), std::move(group.b));
    }
  }

  /// Aligns the leaves of each place by kind of work, in the order in which they begin.
  void by_order() {
    const auto place = [](const Leaf& leaf) -> Key {
      return leaf.device && !leaf.op.empty() ? Key(leaf.module + '\n' + joined(leaf.op)) : std::nullopt;
    };
    for (auto& [key, group] : groups(place)) {
      if (group.a.size() * group.b.size() > kMaxPairs) continue;
      sort_by_begin(group.a, a_);
      sort_by_begin(group.b, b_);
      for (const auto& [x, y] : aligned(group.a, group.b)) take(Way::order, {x}, {y});
    }
  }

  std::vector<Match> finish() {
    for (std::size_t i = 0; i < a_.size(); ++i)
      if (free_a_[i]) out_.push_back({Way::none, {i}, {}});
    for (std::size_t i = 0; i < b_.size(); ++i)
      if (free_b_[i]) out_.push_back({Way::none, {}, {i}});
    return std::move(out_);
  }

  std::size_t deepest() const {
    std::size_t levels = 0;
    for (const std::span<const Leaf> side : {a_, b_})
      for (const Leaf& leaf : side) levels = std::max(levels, leaf.op.size());
    return levels;
  }

 private:
  template <class KeyOf>
  std::map<std::string, Group> groups(KeyOf key_of) const {
    std::map<std::string, Group> out;
    for (std::size_t i = 0; i < a_.size(); ++i)
      if (const Key key = free_a_[i] ? key_of(a_[i]) : std::nullopt) out[*key].a.push_back(i);
    for (std::size_t i = 0; i < b_.size(); ++i)
      if (const Key key = free_b_[i] ? key_of(b_[i]) : std::nullopt) out[*key].b.push_back(i);
    return out;
  }

  static double calls(std::span<const Leaf> leaves, const Indices& indices) {
    double sum = 0;
    for (const std::size_t i : indices) sum += leaves[i].calls;
    return sum;
  }

  static void sort_by_begin(Indices& indices, std::span<const Leaf> leaves) {
    std::sort(indices.begin(), indices.end(), [&](std::size_t x, std::size_t y) {
      return leaves[x].first != leaves[y].first ? leaves[x].first < leaves[y].first
                                                : leaves[x].kernel < leaves[y].kernel;
    });
  }

  /// The longest common subsequence by class.
  std::vector<std::pair<std::size_t, std::size_t>> aligned(const Indices& a, const Indices& b) const {
    const std::size_t wide = b.size() + 1;
    std::vector<std::uint32_t> longest((a.size() + 1) * wide);
    const auto same = [&](std::size_t i, std::size_t j) {
      return a_[a[i]].work_class == b_[b[j]].work_class;
    };
    for (std::size_t i = a.size(); i-- > 0;)
      for (std::size_t j = b.size(); j-- > 0;)
        longest[i * wide + j] = same(i, j) ? longest[(i + 1) * wide + j + 1] + 1
                                           : std::max(longest[(i + 1) * wide + j], longest[i * wide + j + 1]);
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
      if (same(i, j))
        pairs.emplace_back(a[i++], b[j++]);
      else
        longest[(i + 1) * wide + j] >= longest[i * wide + j + 1] ? ++i : ++j;
    }
    return pairs;
  }

  void take(Way way, Indices a, Indices b) {
    for (const std::size_t i : a) free_a_[i] = false;
    for (const std::size_t i : b) free_b_[i] = false;
    out_.push_back({way, std::move(a), std::move(b)});
  }

  std::span<const Leaf> a_, b_;
  std::vector<bool> free_a_, free_b_;
  std::vector<Match> out_;
};

}  // namespace

std::string_view name_of(Way way) {
  constexpr std::string_view kNames[] = {
      "", "same", "same, other build", "same place", "same operator", "same above", "moved", "same module"};
  return kNames[static_cast<std::size_t>(way)];
}

std::vector<Match> match(std::span<const Leaf> a, std::span<const Leaf> b) {
  Matcher matcher(a, b);
  matcher.by_key(Way::exact, [](const Leaf& leaf) -> Key {
    return leaf.module + '\n' + joined(leaf.op) + side_of(leaf) + leaf.kernel;
  });
  matcher.by_key(Way::variant, [](const Leaf& leaf) -> Key {
    return leaf.module + '\n' + joined(leaf.op) + side_of(leaf) + plain_kernel_name(leaf.kernel);
  });
  matcher.by_order();
  matcher.by_key(Way::op, [](const Leaf& leaf) -> Key {
    return leaf.op.empty() ? std::nullopt : Key(leaf.module + '\n' + joined(leaf.op) + side_of(leaf));
  });
  for (const bool by_class : {true, false})
    for (std::size_t levels = matcher.deepest(); levels > 0; --levels)
      matcher.by_key(Way::ancestor, [=](const Leaf& leaf) -> Key {
        if (leaf.op.size() < levels || levels <= leaf.first_op) return std::nullopt;
        return above(leaf, levels, by_class);
      });
  matcher.by_key_and_calls(Way::moved, [](const Leaf& leaf) -> Key {
    return leaf.op.empty() || !leaf.device ? std::nullopt : Key(leaf.op.back() + '\n' + leaf.kernel);
  });
  for (const bool by_class : {true, false})
    for (std::size_t levels = matcher.deepest(); levels > 0; --levels)
      matcher.by_key(Way::ancestor, [=](const Leaf& leaf) -> Key {
        return leaf.op.size() < levels || !leaf.device ? std::nullopt : above(leaf, levels, by_class);
      });
  matcher.by_key(Way::module, [](const Leaf& leaf) -> Key {
    return leaf.module.empty() ? std::nullopt : Key(leaf.module + side_of(leaf));
  });
  return matcher.finish();
}

}  // namespace stepscope::compare
