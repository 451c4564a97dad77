// One rank's device: streams that run what was queued on them, in order. Times become known when everything
// they depend on is known; a collective may keep them unknown until other ranks have been simulated further.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "make_trace/run/collectives.h"
#include "make_trace/run/hardware.h"

namespace stepscope::make_trace {

constexpr std::int64_t kUnknown = -1;

struct Activity {
  int stream = 0;
  std::int64_t ready = 0;          ///< earliest start: the launch has reached the device
  std::int64_t duration = 0;       ///< of a collective: its transfer time
  int meeting = -1;                ///< which collective of the step, −1 none
  std::vector<std::size_t> after;  ///< activities of other streams that must have ended
  std::int64_t start = kUnknown;
  std::int64_t end = kUnknown;
};

class Device {
 public:
  Device(const Hardware& hw, Collectives& collectives, int rank, int streams);

  /// Queues work; returns its number within the step.
  std::size_t submit(Activity activity);

  void record_event(std::uint32_t slot, int stream);
  void wait_event(std::uint32_t slot, int stream);

  /// Computes every time that can be known now.
  void settle();

  /// End of the activity, or kUnknown.
  std::int64_t end_of(std::size_t activity);

  /// When everything queued on `stream` (−1: all streams) has ended, 0 if nothing ever ran; kUnknown if not
  /// known.
  std::int64_t idle_from(int stream);

  /// Earliest moment at which one more launch is accepted; kUnknown if not known.
  std::int64_t accepts_from();

  /// Activities of the current step, in launch order.
  const std::vector<Activity>& activities() const { return activities_; }

  /// Forgets the finished step, all of whose times must be known.
  void next_step();

 private:
  struct Stream {
    std::deque<std::size_t> pending;
    std::int64_t last_end = 0;
    std::int64_t floor = 0;             ///< earliest start, from events of finished steps
    std::vector<std::size_t> waits;     ///< activities that the next one waits for
    std::optional<std::size_t> newest;  ///< last activity queued in this step
  };
  struct Event {
    std::optional<std::size_t> activity;
    std::int64_t end = 0;  ///< used when `activity` is empty
  };

  bool settle_head(Stream& stream);
  Event& event(std::uint32_t slot);

  const Hardware& hw_;
  Collectives& collectives_;
  int rank_;
  std::vector<Stream> streams_;
  std::vector<Event> events_;
  std::vector<Activity> activities_;
  std::vector<std::int64_t> past_starts_;  ///< starts of the last `queue_limit` launches of earlier steps
};

}  // namespace stepscope::make_trace
