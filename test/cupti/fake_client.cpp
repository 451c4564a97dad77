#include "cupti/fake_client.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <utility>

namespace fake_client {

State& state() {
  static auto* const the_one = new State;
  return *the_one;
}

std::int64_t real_time() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec + state().options.clock_ahead;
}

std::int64_t now(const Client& client) {
  const auto clock = client.clock.load();
  return clock != nullptr ? static_cast<std::int64_t>(clock()) : real_time();
}

void deliver(Client& c) {
  State& s = state();
  if (c.buffer == nullptr) return;
  if (s.options.shuffled) std::shuffle(c.pending.begin(), c.pending.end(), s.random);
  std::size_t at = 0;
  for (const Bytes& record : c.pending) {
    std::memcpy(c.buffer + at, record.data(), record.size());
    at += record.size();
  }
  std::uint8_t* buffer = std::exchange(c.buffer, nullptr);
  c.pending.clear();
  c.pending_bytes = 0;
  c.runs_on = false;
  if (c.complete_v2 != nullptr)
    c.complete_v2(buffer, c.buffer_bytes, at, nullptr);
  else
    c.complete(nullptr, 0, buffer, c.buffer_bytes, at);
}

void append(Client& c, Bytes record) {
  const State& s = state();
  if (!c.has_buffers()) return;
  if (c.buffer != nullptr && c.pending_bytes + record.size() > c.room) deliver(c);
  if (c.buffer == nullptr) {
    std::size_t most = 1;
    if (c.request_v2 != nullptr)
      c.request_v2(&c.buffer, &c.buffer_bytes, &most, nullptr);
    else
      c.request(&c.buffer, &c.buffer_bytes, &most);
    c.room = s.options.buffer_bytes > 0 ? std::min(s.options.buffer_bytes, c.buffer_bytes) : c.buffer_bytes;
  }
  if (c.buffer == nullptr || c.room < record.size()) {
    ++c.dropped;
    return;
  }
  c.pending_bytes += record.size();
  c.pending.push_back(std::move(record));
}

std::size_t subscribers() {
  std::size_t count = 0;
  for_each_client([&](const Client& c) { count += c.is_subscribed ? 1 : 0; });
  return count;
}

}  // namespace fake_client
