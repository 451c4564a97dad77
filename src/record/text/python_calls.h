// Python calls on their way into text: the numbers by which they name each other, and calls out of samples.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stepscope::record {

/// Calls are told when they end, so inner ones come first. The first one inside of a call makes the numbers
/// of all that is around it, outermost first: a call's number is above its parent's.
class PythonIds {
 public:
  struct Ids {
    std::int64_t id, parent;  ///< parent 0: none
  };
  /// Of the next call of `track`, which `depth` calls are around.
  Ids next(std::uint32_t track, std::uint32_t depth);

 private:
  struct Run {
    std::uint32_t depth;  // of its outermost call; each runs to the next one's
    std::int64_t id;      // of that call; they are in a row
  };
  struct Open {
    std::vector<Run> runs;    // outermost first
    std::uint32_t count = 0;  // calls that have a number and were not told
  };
  std::unordered_map<std::uint32_t, Open> open_;  // by track
  std::int64_t last_ = 0;
};

/// A call on its way into text.
struct PythonCall {
  std::uint32_t track, depth;
  std::string_view name;
  std::int64_t begin_ns, end_ns;
  std::int64_t samples = 0;  ///< that show it; 0: it was not sampled
  std::string_view path = {};
  bool is_module = false, ended_late = false;
  PythonIds::Ids ids{0, 0};
};

/// Passes calls on as they are told, but the outer first of those that begin and end together.
class OuterFirst {
 public:
  using Take = std::function<void(const PythonCall&)>;
  explicit OuterFirst(Take take) : take_(std::move(take)) {}
  /// Texts of `call` outlive this.
  void add(const PythonCall& call);
  void finish();

 private:
  Take take_;
  std::vector<PythonCall> held_;  // innermost first
};

/// A call that samples show.
struct SampledCall {
  std::uint32_t thread, depth;
  std::string_view name;
  std::int64_t begin_ns, end_ns, samples;
};

/// Frames that samples in a row have in common, from the outermost on, are one call. What a sample shows
/// lasts until the thread's next one, where that is not more than two periods away; else for one period.
class SampledCalls {
 public:
  using Take = std::function<void(const SampledCall&)>;
  explicit SampledCalls(Take take) : take_(std::move(take)) {}
  /// Samples of a thread come in the order of time. `names`: innermost first; they outlive this.
  void sample(std::uint32_t thread, std::int64_t ns, std::int64_t period_ns,
              std::span<const std::string_view> names);
  void finish();

 private:
  struct Open {
    std::string_view name;
    std::int64_t begin_ns, samples;
  };
  struct Stack {
    std::vector<Open> calls;  // outermost first
    std::int64_t last_ns = 0, period_ns = 0;
  };
  void close(std::uint32_t thread, Stack& stack, std::size_t down_to, std::int64_t end_ns);

  Take take_;
  std::map<std::uint32_t, Stack> stacks_;
};

}  // namespace stepscope::record
