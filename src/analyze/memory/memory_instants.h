// Instants of a memory snapshot as users name them, and the places that its allocations come from.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/derived.h"
#include "base/result.h"
#include "derive/allocator/allocator_replay.h"
#include "derive/allocator/stack_places.h"

namespace stepscope::analyze {

/// Levels of one device at an instant. Bytes.
struct MemoryInstant {
  std::int64_t rank, device;
  std::int64_t event;  ///< what holds after it; -1: before the first event
  std::int64_t time;   ///< ns from the first event's time; report::kNoInt if the file has no times
  std::int64_t requested, reserved, peak_requested;
  double share;  ///< requested / peak_requested
};

/// `at`: an event's number, "peak", "start", "end", "oom" (just before the last allocation that failed), or
/// "" (that, or the peak if none failed). Nothing, and a note, if it names none of this device.
std::optional<MemoryInstant> instant_of(const trace::Rank& rank, const derive::AllocatorReplay& replay,
                                        std::string_view at, std::vector<std::string>& notes);

/// The event of each device of the rank's snapshot that `at` names, as in instant_of(); of "oom" the failure
/// itself, and on devices without one the last event. An Error if one has no such instant, or none failed.
Result<std::vector<std::int64_t>> events_at(const trace::Rank& rank, std::string_view at);

/// ns from the device's first event to `event`; kNoInt if it is not known.
std::int64_t time_of(const derive::AllocatorReplay& replay, std::int64_t event);

/// Whether it is of a CUDA graph or a MemPool.
bool is_private(const trace::Snapshot& snapshot, std::uint16_t pool);
/// "default", or "private 1.0".
std::string pool_name(const trace::Snapshot& snapshot, std::uint16_t pool);
/// 0 is the default stream, the others count from 1 in the order of the file.
std::int64_t stream_number(const trace::Snapshot& snapshot, std::uint16_t stream);

enum class HeldBy : std::uint8_t { line, function, stack };

inline constexpr report::ParamSpec kHeldByParam = {
    "by", report::ParamSpec::Type::choice, "line", "line|function|stack",
    "what holds memory: the innermost line or function of the program, or the whole stack"};
HeldBy held_by(const report::Params& params);

/// Numbers the places of allocations: stacks whose place has the same text are one.
class AllocationPlaces {
 public:
  AllocationPlaces(const trace::Trace& trace, const trace::Snapshot& snapshot, HeldBy by);

  /// `before`: it was allocated before the first event.
  std::size_t number_of(trace::StackId stack, bool before);
  bool has_optimizer(trace::StackId stack) const { return places_.has_optimizer(stack); }
  trace::StackId stacks() const { return static_cast<trace::StackId>(numbers_.size()); }
  const std::vector<std::string>& names() const { return names_; }  ///< by number

 private:
  static constexpr std::size_t kUnknown = ~std::size_t{0};
  std::string name_of(trace::StackId stack, bool before) const;

  const derive::StackPlaces places_;
  const HeldBy by_;
  std::vector<std::array<std::size_t, 2>> numbers_;  ///< by stack and `before`
  std::map<std::string, std::size_t, std::less<>> by_name_;
  std::vector<std::string> names_;
};

}  // namespace stepscope::analyze
