// Events that belong to an event: what it launched, what it goes back through, what a flow arrow connects.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "derive/captured_ops.h"
#include "derive/flow_events.h"
#include "derive/places/short_operators.h"
#include "lanes/run.h"

namespace stepscope::lanes {

struct Link {
  std::string_view what;  ///< as docs/serve.md lists them
  std::size_t rank;       ///< index
  trace::Row row;
};

/// Any number of threads may ask. What a rank's links are found by is made at its first question, in
/// O(events of the rank).
class Links {
 public:
  explicit Links(const Run& run);
  ~Links();
  /// Each event once, by the first that connects it. O(device events + nodes + arrows of the rank).
  std::vector<Link> of(std::size_t rank, trace::Row row) const;

 private:
  struct OfRank;
  class Gathering;
  const OfRank& known(std::size_t rank) const;

  const Run& run_;
  std::unique_ptr<OfRank[]> ranks_;
  std::vector<std::vector<std::pair<trace::Row, std::uint32_t>>> collectives_;  // by rank: row, instance
};

}  // namespace stepscope::lanes
