// Which runtime call launched which device events, and which runtime calls share an External id.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyze/tb/events.h"

namespace stepscope::analyze::tb {

/// A run of positions in Links::calls.
struct CallRange {
  std::uint32_t begin = 0, end = 0;
};

class Links {
 public:
  explicit Links(const Events& events);

  /// Runtime calls, grouped by External id, in time order within a group; then the calls that append() added.
  std::vector<Row> calls;
  /// Kernels whose correlation no runtime call has, by correlation, then in time order.
  std::vector<Row> stale_kernels;

  /// Device events that the runtime call in `row` launched.
  std::span<const Row> launched(Row row) const {
    return {devices_.data() + first_device_[row], devices_.data() + first_device_[row + 1]};
  }
  /// The calls of an External id. Only the first take() of an id returns them; later ones return nothing.
  CallRange take(std::int64_t external_id);
  /// Adds calls outside all groups.
  CallRange append(const std::vector<Row>& rows);

 private:
  struct Group {
    std::int64_t id;
    CallRange range;
    bool taken;
  };

  void link_devices(const Events& events, const Ids& ids);
  void group_calls(const Events& events, const Ids& ids);

  std::vector<Row> devices_;
  std::vector<std::uint32_t> first_device_;  // by row, one more than rows
  std::vector<Group> groups_;                // by id
};

}  // namespace stepscope::analyze::tb
