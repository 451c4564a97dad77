#include "analyze/tb/links.h"

#include <algorithm>

namespace stepscope::analyze::tb {
namespace {

struct WithId {
  std::int64_t id;
  Row row;
};

/// Sorts by id; rows with equal ids stay in time order.
std::vector<WithId> by_id(std::vector<WithId> rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const WithId& a, const WithId& b) { return a.id < b.id; });
  return rows;
}

}  // namespace

Links::Links(const Events& events) {
  const Ids ids(events);
  link_devices(events, ids);
  group_calls(events, ids);
}

/// Assigns each device event to the last runtime call of its correlation that began before it, else to the
/// first call of its correlation.
void Links::link_devices(const Events& events, const Ids& ids) {
  std::vector<WithId> correlated;
  for (const Row row : events.order)
    if (events.type[row] == Type::runtime || is_device(events.type[row]))
      correlated.push_back({ids.correlation(row), row});
  const std::vector<WithId> rows = by_id(std::move(correlated));
  std::vector<std::pair<Row, Row>> owned;  // runtime call, device event
  for (std::size_t from = 0, to = 0; from < rows.size(); from = to) {
    Row call = trace::kNoRow;
    for (to = from; to < rows.size() && rows[to].id == rows[from].id; ++to)
      if (call == trace::kNoRow && !is_device(events.type[rows[to].row])) call = rows[to].row;
    for (std::size_t i = from; i < to; ++i) {
      if (!is_device(events.type[rows[i].row]))
        call = rows[i].row;
      else if (call != trace::kNoRow)
        owned.emplace_back(call, rows[i].row);
      else if (events.type[rows[i].row] == Type::kernel)
        stale_kernels.push_back(rows[i].row);
    }
  }
  first_device_.assign(events.type.size() + 1, 0);
  for (const auto& [call, device] : owned) ++first_device_[call + 1];
  for (std::size_t i = 1; i < first_device_.size(); ++i) first_device_[i] += first_device_[i - 1];
  devices_.resize(owned.size());
  std::vector<std::uint32_t> next = first_device_;
  for (const auto& [call, device] : owned) devices_[next[call]++] = device;
}

void Links::group_calls(const Events& events, const Ids& ids) {
  std::vector<WithId> rows;
  for (const Row row : events.order)
    if (events.type[row] == Type::runtime) rows.push_back({ids.external(row), row});
  for (const WithId& call : by_id(std::move(rows))) {
    const auto at = static_cast<std::uint32_t>(calls.size());
    if (groups_.empty() || groups_.back().id != call.id) groups_.push_back({call.id, {at, at}, false});
    calls.push_back(call.row);
    groups_.back().range.end = at + 1;
  }
}

CallRange Links::take(std::int64_t external_id) {
  const auto group = std::lower_bound(groups_.begin(), groups_.end(), external_id,
                                      [](const Group& g, std::int64_t id) { return g.id < id; });
  if (group == groups_.end() || group->id != external_id || group->taken) return {};
  group->taken = true;
  return group->range;
}

CallRange Links::append(const std::vector<Row>& rows) {
  const auto begin = static_cast<std::uint32_t>(calls.size());
  calls.insert(calls.end(), rows.begin(), rows.end());
  return {begin, static_cast<std::uint32_t>(calls.size())};
}

}  // namespace stepscope::analyze::tb
