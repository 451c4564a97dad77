// The entry points of CUPTI that the fake has: those for one tool, and those for several at once.
#include <algorithm>
#include <cstring>
#include <utility>

#include "cupti/fake_client.h"
#include "cupti/fake_records.h"

namespace {

using namespace fake_client;   // NOLINT
using namespace fake_records;  // NOLINT

/// Two devices, one context each.
void dump(Client& c, std::uint32_t kind) {
  for (std::uint32_t i = 0; i < 2; ++i) {
    if (kind == 9) append(c, context_record(state().strides, i + 1, i));
    if (kind == 8) append(c, device_record(state().strides, i));
  }
}

int enable(Client& c, std::uint32_t kind) {
  State& s = state();
  if (kind == 10 && s.options.enable_error != 0) return s.options.enable_error;
  const std::scoped_lock lock(s.mutex);
  c.kinds.insert(kind);
  return 0;
}
int disable(Client& c, std::uint32_t kind) {
  const std::scoped_lock lock(state().mutex);
  c.kinds.erase(kind);
  return 0;
}
int turn(std::set<std::uint32_t>& off, std::uint32_t number, std::uint8_t on) {
  const std::scoped_lock lock(state().mutex);
  if (on != 0)
    off.erase(number);
  else
    off.insert(number);
  return 0;
}
int set_clock(Client& c, std::uint64_t (*clock)()) {
  if (!state().options.has_clock) return 11;
  const std::scoped_lock lock(state().mutex);
  if (!c.kinds.empty()) return 7;  // too late: kinds are enabled already
  c.clock = clock;
  return 0;
}

/// The client behind a handle of the interface for several tools; null: a call that may not be mixed with it.
Client* shared(void* subscriber) {
  for (Client& client : state().several)
    if (&client == subscriber && client.is_subscribed) return &client;
  return nullptr;
}
constexpr int kNotCompatible = 14;
/// The interface for one tool does not work once that for several is in use.
bool is_shared() {
  return std::any_of(state().several.begin(), state().several.end(),
                     [](const Client& client) { return client.is_subscribed; });
}

}  // namespace

extern "C" {

int cuptiGetVersion(std::uint32_t* version) {
  *version = state().options.version;
  return 0;
}
int cuptiGetTimestamp(std::uint64_t* timestamp) {
  if (is_shared()) return kNotCompatible;
  *timestamp = static_cast<std::uint64_t>(now(state().one));
  return 0;
}
using Callback = void (*)(void*, std::uint32_t, std::uint32_t, const void*);
int cuptiSubscribe(void** subscriber, Callback callback, void*) {
  State& s = state();
  if (s.options.subscribe_error != 0) return s.options.subscribe_error;
  if (subscribers() > 0) return 39;
  s.one.is_subscribed = true;
  s.one.callback = callback;
  *subscriber = &s.one;
  return 0;
}
struct SubscriberParams {
  std::size_t bytes;
  const char* name;
  char* holder;
  std::size_t holder_bytes;
  std::uint8_t allow_others, pad[7];
};
int cuptiSubscribe_v2(void** subscriber, Callback callback, void*, SubscriberParams* params) {
  State& s = state();
  if (params->bytes != 40) return 1;
  if (params->holder != nullptr) std::strncpy(params->holder, s.options.holder, params->holder_bytes - 1);
  if (params->allow_others == 0 || s.options.subscribe_error != 0 || s.one.is_subscribed) return 39;
  for (Client& client : s.several) {
    if (client.is_subscribed) continue;
    client.is_subscribed = true;
    client.callback = callback;
    *subscriber = &client;
    return 0;
  }
  return 8;
}
int cuptiUnsubscribe(void* subscriber) {
  static_cast<Client*>(subscriber)->is_subscribed = false;
  static_cast<Client*>(subscriber)->resource_callbacks.clear();
  return 0;
}
int cuptiEnableCallback(std::uint32_t on, void* subscriber, std::uint32_t domain, std::uint32_t number) {
  if (domain != 3) return 1;
  const std::scoped_lock lock(state().mutex);
  auto& callbacks = static_cast<Client*>(subscriber)->resource_callbacks;
  if (on != 0)
    callbacks.insert(number);
  else
    callbacks.erase(number);
  return 0;
}
int cuptiGetGraphNodeId(const Node* node, std::uint64_t* id) {
  if (node == nullptr) return 1;
  *id = node->id;
  return 0;
}
int cuptiActivityRegisterCallbacks(void (*request)(std::uint8_t**, std::size_t*, std::size_t*),
                                   void (*complete)(void*, std::uint32_t, std::uint8_t*, std::size_t,
                                                    std::size_t)) {
  if (is_shared()) return kNotCompatible;
  const std::scoped_lock lock(state().mutex);
  state().one.request = request;
  state().one.complete = complete;
  return 0;
}
int cuptiActivityRegisterTimestampCallback(std::uint64_t (*clock)()) {
  return is_shared() ? kNotCompatible : set_clock(state().one, clock);
}
int cuptiSetThreadIdType(std::uint32_t type) { return type == 1 && !is_shared() ? 0 : 1; }
int cuptiActivityEnable(std::uint32_t kind) {
  return is_shared() ? kNotCompatible : enable(state().one, kind);
}
int cuptiActivityEnableAndDump(std::uint32_t kind) {
  if (const int error = cuptiActivityEnable(kind); error != 0) return error;
  dump(state().one, kind);
  return 0;
}
int cuptiActivityDisable(std::uint32_t kind) {
  return is_shared() ? kNotCompatible : disable(state().one, kind);
}
int cuptiActivityEnableDriverApi(std::uint32_t number, std::uint8_t on) {
  return turn(state().one.driver_off, number, on);
}
int cuptiActivityEnableRuntimeApi(std::uint32_t number, std::uint8_t on) {
  return turn(state().one.runtime_off, number, on);
}
int cuptiActivityFlushAll(std::uint32_t flag) {
  State& s = state();
  const std::scoped_lock lock(s.mutex);
  s.forced += flag;
  for_each_client([&](Client& c) {
    if (flag != 0 || !c.runs_on) deliver(c);
  });
  return 0;
}
int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
  if (is_shared()) return kNotCompatible;
  const std::scoped_lock lock(state().mutex);
  *dropped = std::exchange(state().one.dropped, 0);
  return 0;
}

int cuptiGetTimestamp_v2(void* subscriber, std::uint64_t* timestamp) {
  const Client* client = shared(subscriber);
  if (client == nullptr) return 1;
  *timestamp = static_cast<std::uint64_t>(now(*client));
  return 0;
}
int cuptiActivityRegisterCallbacks_v2(void* subscriber,
                                      void (*request)(std::uint8_t**, std::size_t*, std::size_t*, void*),
                                      void (*complete)(std::uint8_t*, std::size_t, std::size_t, void*)) {
  Client* client = shared(subscriber);
  if (client == nullptr) return 1;
  const std::scoped_lock lock(state().mutex);
  client->request_v2 = request;
  client->complete_v2 = complete;
  return 0;
}
int cuptiActivityEnable_v2(void* subscriber, std::uint32_t kind, void*) {
  Client* client = shared(subscriber);
  return client == nullptr ? 1 : enable(*client, kind);
}
int cuptiActivityEnableAndDump_v2(void* subscriber, std::uint32_t kind, void* config) {
  if (const int error = cuptiActivityEnable_v2(subscriber, kind, config); error != 0) return error;
  dump(*shared(subscriber), kind);
  return 0;
}
int cuptiActivityDisable_v2(void* subscriber, std::uint32_t kind, void*) {
  Client* client = shared(subscriber);
  return client == nullptr ? 1 : disable(*client, kind);
}
int cuptiActivityEnableDriverApi_v2(void* subscriber, std::uint32_t number, std::uint8_t on) {
  Client* client = shared(subscriber);
  return client == nullptr ? 1 : turn(client->driver_off, number, on);
}
int cuptiActivityEnableRuntimeApi_v2(void* subscriber, std::uint32_t number, std::uint8_t on) {
  Client* client = shared(subscriber);
  return client == nullptr ? 1 : turn(client->runtime_off, number, on);
}
int cuptiActivitySetAttribute_v2(void* subscriber, std::uint32_t attribute, std::size_t* bytes, void* value) {
  Client* client = shared(subscriber);
  if (client == nullptr) return 1;
  if (attribute == 21) return *bytes == 4 && *static_cast<std::uint32_t*>(value) == 1 ? 0 : 1;
  if (attribute != 22 || *bytes != sizeof(void*)) return 1;
  std::uint64_t (*clock)() = nullptr;
  std::memcpy(&clock, value, sizeof clock);
  return set_clock(*client, clock);
}
int cuptiActivityGetNumDroppedRecords_v2(void* subscriber, void*, std::uint32_t, std::size_t* dropped) {
  Client* client = shared(subscriber);
  if (client == nullptr) return 1;
  const std::scoped_lock lock(state().mutex);
  *dropped = std::exchange(client->dropped, 0);
  return 0;
}
int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record) {
  const std::size_t last = *record == nullptr ? 0 : static_cast<std::size_t>(*record - buffer);
  std::uint32_t kind = 0;
  if (*record != nullptr) std::memcpy(&kind, *record, sizeof kind);
  const std::size_t at = *record == nullptr ? 0 : last + stride_of(state().strides, kind);
  if (at >= valid) return 12;
  std::memcpy(&kind, buffer + at, sizeof kind);
  if (stride_of(state().strides, kind) == 0 || at + stride_of(state().strides, kind) > valid) return 21;
  *record = buffer + at;
  return 0;
}
int cuptiActivityGetNextRecord_v2(void* subscriber, std::uint8_t* buffer, std::size_t valid,
                                  std::uint8_t** record) {
  return shared(subscriber) == nullptr ? 1 : cuptiActivityGetNextRecord(buffer, valid, record);
}
int cuptiGetCallbackName(std::uint32_t domain, std::uint32_t number, const char** name) {
  const auto find = [&](const auto& names, std::uint32_t first) {
    if (number < first || number - first >= names.size()) return 1;
    *name = names[number - first];
    return 0;
  };
  return domain == 1 ? find(kDriverNames, kFirstDriver) : find(kRuntimeNames, kFirstRuntime);
}
int cuptiGetResultString(int, const char** text) {
  *text = "CUPTI_ERROR_FAKE";
  return 0;
}
int cuptiFinalize() {
  ++state().finalized;
  return 0;
}
}
