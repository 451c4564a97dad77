// The state of the fake CUPTI: its clients, each with its own kinds, clock and buffers.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "cupti/fake_cupti.h"
#include "cupti/fake_records.h"

namespace fake_client {

using fake_records::Bytes;

inline constexpr std::array kRuntimeNames = {
    "cudaLaunchKernel_v7000",      "cudaMemcpyAsync_v3020",       "cudaMemsetAsync_v3020",
    "cudaStreamSynchronize_v3020", "cudaDeviceSynchronize_v3020", "cudaEventRecord_v3020",
    "cudaStreamWaitEvent_v3020",   "cudaGetDevice_v3020",         "cudaGraphLaunch_v10000",
    "cudaEventSynchronize_v3020",  "cudaMemcpyPeerAsync_v4000"};
inline constexpr std::array kDriverNames = {"cuLaunchKernel", "cuCtxGetCurrent", "cuMemCreate"};
inline constexpr std::uint32_t kFirstRuntime = 200, kFirstDriver = 300;

/// A client: its kinds, its clock and its buffers. The interface for one tool has one, of whoever calls it.
struct Client {
  void (*request)(std::uint8_t**, std::size_t*, std::size_t*) = nullptr;
  void (*complete)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t) = nullptr;
  void (*request_v2)(std::uint8_t**, std::size_t*, std::size_t*, void*) = nullptr;
  void (*complete_v2)(std::uint8_t*, std::size_t, std::size_t, void*) = nullptr;
  void (*callback)(void*, std::uint32_t, std::uint32_t, const void*) = nullptr;
  std::atomic<std::uint64_t (*)()> clock{nullptr};
  std::set<std::uint32_t> kinds, driver_off, runtime_off, resource_callbacks;
  std::vector<Bytes> pending;  // records of the buffer that the client has not got back
  std::size_t pending_bytes = 0, room = 0;
  std::uint8_t* buffer = nullptr;
  std::size_t buffer_bytes = 0;
  bool runs_on = false;  // a record of the work is not complete
  std::size_t dropped = 0;
  bool is_subscribed = false;

  bool has_buffers() const { return request != nullptr || request_v2 != nullptr; }
};

struct State {
  std::recursive_mutex mutex;  // the library's own mutex, held during its callbacks
  FakeOptions options;
  fake_records::Strides strides = fake_records::kStrides[1];
  Client one;                     // of the interface for one tool
  std::array<Client, 3> several;  // of that for several
  std::size_t forced = 0, finalized = 0;
  std::uint32_t correlation = 1;
  std::mt19937 random{7};
};

State& state();

template <class Take>
void for_each_client(Take take) {
  take(state().one);
  for (Client& client : state().several) take(client);
}

std::int64_t real_time();
std::int64_t now(const Client& client);
/// Writes the record into the client's buffer.
void append(Client& client, Bytes record);
/// Gives the client its buffer back.
void deliver(Client& client);
std::size_t subscribers();

template <std::size_t N>
std::uint32_t number_of(const std::array<const char*, N>& names, const std::string& name,
                        std::uint32_t first) {
  for (std::size_t i = 0; i < N; ++i) {
    const std::string known = names[i];
    if (known == name || known.starts_with(name + "_v")) return first + static_cast<std::uint32_t>(i);
  }
  return 0;
}

}  // namespace fake_client
