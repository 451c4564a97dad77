// Python calls for the text: their ids and parents, and calls made from samples.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stepscope::record {

/// Calls are recorded when they end, so inner calls come first. The first call inside others also reserves
/// ids for all calls around it, outermost first, so a call's id is greater than its parent's.
class PythonIds {
 public:
  struct Ids {
    std::int64_t id, parent;  ///< parent 0: none
  };
  /// Ids of the next call of `track`, with `depth` calls around it.
  Ids next(std::uint32_t track, std::uint32_t depth);

 private:
  struct Run {
    std::uint32_t depth;  // of its outermost call; the run ends where the next run begins
    std::int64_t id;      // of its outermost call; ids in a run are consecutive
  };
  struct Open {
    std::vector<Run> runs;    // outermost first
    std::uint32_t count = 0;  // calls with an id that are not yet recorded
  };
  std::unordered_map<std::uint32_t, Open> open_;  // by track
  std::int64_t last_ = 0;
};

/// A call to be written.
struct PythonCall {
  std::uint32_t track, depth;
  std::string_view name;
  std::int64_t begin_ns, end_ns;
  std::int64_t samples = 0;  ///< number of samples that contain the call; 0: not sampled
  std::string_view path = {};
  bool is_module = false, ended_late = false;
  PythonIds::Ids ids{0, 0};
};

/// Passes calls on in order, except that of calls that begin and end together the outer goes first.
class OuterFirst {
 public:
  using Take = std::function<void(const PythonCall&)>;
  explicit OuterFirst(Take take) : take_(std::move(take)) {}
  /// The texts of `call` must outlive this object.
  void add(const PythonCall& call);
  void finish();

 private:
  Take take_;
  std::vector<PythonCall> held_;  // innermost first
};

/// A call derived from samples.
struct SampledCall {
  std::uint32_t thread, depth;
  std::string_view name;
  std::int64_t begin_ns, end_ns, samples;
};

/// Outer frames that consecutive samples have in common are one call. The calls of a sample last until the
/// thread's next sample if that is at most two periods away, else for one period.
class SampledCalls {
 public:
  using Take = std::function<void(const SampledCall&)>;
  explicit SampledCalls(Take take) : take_(std::move(take)) {}
  /// A thread's samples must come in order of time. `names`: innermost first; must outlive this object.
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
