#include "collect/cupti/decoder.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

namespace stepscope::collect::cupti {
namespace {

using record::Type;

constexpr std::array<std::string_view, 11> kQuestions = {"cudaGetDevice",       "cudaSetDevice",
                                                         "cudaGetLastError",    "cudaPeekAtLastError",
                                                         "cudaEventCreate",     "cudaEventCreateWithFlags",
                                                         "cudaEventDestroy",    "cudaStreamIsCapturing",
                                                         "cuCtxGetCurrent",     "cuDevicePrimaryCtxGetState",
                                                         "cuKernelGetAttribute"};
constexpr std::array<std::string_view, 10> kDriverCalls = {"cuLaunchKernel",
                                                           "cuLaunchKernel_ptsz",
                                                           "cuLaunchKernelEx",
                                                           "cuLaunchKernelEx_ptsz",
                                                           "cuMemCreate",
                                                           "cuMemMap",
                                                           "cuMemUnmap",
                                                           "cuMemRelease",
                                                           "cuMemExportToShareableHandle",
                                                           "cuMemImportFromShareableHandle"};

template <std::size_t N>
bool holds(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// `name` without a final "_v" and four or more digits ("_v3020").
std::string_view without_version(std::string_view name) {
  const std::size_t digits = name.size() - (name.find_last_not_of("0123456789") + 1);
  return digits >= 4 && name.substr(0, name.size() - digits).ends_with("_v")
             ? name.substr(0, name.size() - digits - 2)
             : name;
}

template <class Written>
void write(Thread& thread, Written& written, Type type) {
  static_assert(sizeof written % 8 == 0);
  written.type = type;
  written.units = sizeof written / 8;
  std::memcpy(thread.segment + thread.used, &written, sizeof written);
  thread.used += sizeof written;
  commit(thread);
}

std::uint32_t text_id(Thread& thread, const char* text) {
  return text == nullptr ? 0 : name_of(thread, text)->value;
}

std::int64_t time(const std::uint8_t* at, std::size_t offset) { return field<std::int64_t>(at, offset); }
std::uint32_t number(const std::uint8_t* at, std::size_t offset) { return field<std::uint32_t>(at, offset); }

/// Minimum bytes of a record of this kind; 0: we do not read this kind.
std::size_t needed(std::uint32_t kind, bool has_graphs) {
  struct Needed {
    std::uint32_t kind;
    std::size_t bytes;
    bool in_graphs;  ///< has graph fields, if the library has them
  };
  static constexpr Needed kNeeded[] = {
      {kConcurrentKernel, kernel_at::bytes, true},
      {kMemcpy, memcpy_at::bytes, true},
      {kMemcpyPeer, peer_at::bytes, true},
      {kMemset, memset_at::bytes, true},
      {kRuntime, api_at::bytes, false},
      {kDriver, api_at::bytes, false},
      {kSynchronization, synchronization_at::bytes, false},
      {kCudaEvent, event_at::bytes, false},
      {kOverhead, overhead_at::bytes, false},
      {kContext, context_at::bytes, false},
      {kDevice, device_at::bytes, false},
  };
  for (const Needed& known : kNeeded)
    if (known.kind == kind) return known.bytes + (known.in_graphs && has_graphs ? 16 : 0);
  return 0;
}

}  // namespace

bool is_recorded(std::uint32_t domain, std::string_view name) {
  const std::string_view plain = without_version(name);
  return domain == kDriverApi ? holds(kDriverCalls, plain) : !holds(kQuestions, plain);
}

Thread* Decoder::place() {
  Recorder* recorder = stepscope_recorder.load(std::memory_order_acquire);
  Thread* thread = recorder == nullptr ? nullptr : thread_of(*recorder);
  if (thread == nullptr || !has_room(*thread)) return nullptr;
  const bool may_be_replaced = (recorder->flags & record::kNewest) != 0;
  if (recorder != told_ || (may_be_replaced && thread->segment != told_in_)) {
    told_ = recorder;
    told_in_ = thread->segment;
    tell_session(*thread);
    if (!has_room(*thread)) return nullptr;
  }
  return thread;
}

void Decoder::tell_session(Thread& thread) {
  record::DeviceSession session{};
  session.value = static_cast<std::uint32_t>(clock_);
  session.library_version = library_.version;
  session.has_thread_ids = has_thread_ids_ ? 1 : 0;
  write(thread, session, Type::device_session);
  tell_clock(thread);
  for (std::size_t i = 0; i < devices_.size() && has_room(thread); ++i) tell_device(thread, i);
  for (record::DeviceContext& context : contexts_)
    if (has_room(thread)) write(thread, context, Type::device_context);
}

void Decoder::tell_clock(Thread& thread) {
  if (clock_ != record::DeviceClock::library) return;
  record::DeviceClockPair best{};
  std::int64_t narrowest = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < 64; ++i) {
    std::uint64_t now = 0;
    const std::int64_t before = nanoseconds(CLOCK_MONOTONIC);
    if (session_.timestamp(now) != kSuccess) return;
    const std::int64_t width = nanoseconds(CLOCK_MONOTONIC) - before;
    if (width >= narrowest) continue;
    narrowest = width;
    best.library_ns = static_cast<std::int64_t>(now);
    best.monotonic_ns = before + width / 2;
  }
  write(thread, best, Type::device_clock);
}

void Decoder::tell_device(Thread& thread, std::size_t index) {
  Device& device = devices_[index];
  device.attributes.value =
      stepscope_text(&thread, Type::text, device.name.data(), static_cast<std::uint32_t>(device.name.size()))
          ->value;
  write(thread, device.attributes, Type::device_attributes);
}

void Decoder::read(std::uint8_t* buffer, std::size_t valid) {
  std::uint8_t* at = nullptr;
  while (valid > 0 && session_.next_record(buffer, valid, &at) == kSuccess) {
    const auto from = static_cast<std::size_t>(at - buffer);
    if (at < buffer || from + sizeof(std::uint32_t) > valid) break;
    record(at, valid - from);
  }
}

void Decoder::record(const std::uint8_t* at, std::size_t bytes) {
  const auto kind = field<std::uint32_t>(at, 0);
  if (needed(kind, has_graphs()) > bytes) {
    ++lost_.unread;
    return;
  }
  switch (kind) {
    case kConcurrentKernel:
      return kernel(at);
    case kMemcpy:
      return copy(at, false);
    case kMemcpyPeer:
      return copy(at, true);
    case kMemset:
      return fill(at);
    case kRuntime:
      return api_call(at, kRuntimeApi);
    case kDriver:
      return api_call(at, kDriverApi);
    case kSynchronization:
      return synchronization(at);
    case kCudaEvent:
      return event(at);
    case kOverhead:
      return overhead(at);
    case kContext:
      return context(at);
    case kDevice:
      return device(at);
    default:
      return;
  }
}

void Decoder::kernel(const std::uint8_t* at) {
  Thread* thread = place();
  if (thread == nullptr) return;
  record::Kernel kernel{};
  kernel.value = text_id(*thread, field<const char*>(at, kernel_at::name));
  kernel.begin = time(at, kernel_at::begin);
  kernel.end = time(at, kernel_at::end);
  kernel.device = number(at, kernel_at::device);
  kernel.context = number(at, kernel_at::context);
  kernel.stream = number(at, kernel_at::stream);
  kernel.correlation = number(at, kernel_at::correlation);
  if (has_graphs()) {
    kernel.graph_node = field<std::uint64_t>(at, kernel_at::graph_node);
    kernel.graph = number(at, kernel_at::graph);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    kernel.grid[i] = number(at, kernel_at::grid + 4 * i);
    kernel.block[i] = number(at, kernel_at::block + 4 * i);
  }
  kernel.static_shared = number(at, kernel_at::static_shared);
  kernel.dynamic_shared = number(at, kernel_at::dynamic_shared);
  kernel.registers = field<std::uint16_t>(at, kernel_at::registers);
  kernel.queued = time(at, kernel_at::queued);
  count_untimed(kernel);
  write(*thread, kernel, Type::kernel);
}

void Decoder::copy(const std::uint8_t* at, bool peer) {
  Thread* thread = place();
  if (thread == nullptr) return;
  record::Memcpy copy{};
  copy.value = peer ? 1 : 0;
  copy.begin = time(at, memcpy_at::begin);
  copy.end = time(at, memcpy_at::end);
  copy.device = number(at, memcpy_at::device);
  copy.context = number(at, memcpy_at::context);
  copy.stream = number(at, memcpy_at::stream);
  copy.correlation = number(at, peer ? peer_at::correlation : memcpy_at::correlation);
  if (has_graphs()) {
    copy.graph_node = field<std::uint64_t>(at, peer ? peer_at::graph_node : memcpy_at::graph_node);
    copy.graph = number(at, peer ? peer_at::graph : memcpy_at::graph);
  }
  copy.bytes = field<std::uint64_t>(at, memcpy_at::size);
  copy.kind = at[memcpy_at::kind];
  copy.from = at[memcpy_at::from];
  copy.to = at[memcpy_at::to];
  if (peer) {
    copy.from_device = number(at, peer_at::from_device);
    copy.to_device = number(at, peer_at::to_device);
    copy.from_context = number(at, peer_at::from_context);
    copy.to_context = number(at, peer_at::to_context);
  }
  count_untimed(copy);
  write(*thread, copy, Type::memcpy);
}

void Decoder::fill(const std::uint8_t* at) {
  Thread* thread = place();
  if (thread == nullptr) return;
  record::Memset fill{};
  fill.value = number(at, memset_at::value);
  fill.begin = time(at, memset_at::begin);
  fill.end = time(at, memset_at::end);
  fill.device = number(at, memset_at::device);
  fill.context = number(at, memset_at::context);
  fill.stream = number(at, memset_at::stream);
  fill.correlation = number(at, memset_at::correlation);
  if (has_graphs()) {
    fill.graph_node = field<std::uint64_t>(at, memset_at::graph_node);
    fill.graph = number(at, memset_at::graph);
  }
  fill.bytes = field<std::uint64_t>(at, memset_at::size);
  fill.memory_kind = field<std::uint16_t>(at, memset_at::memory_kind);
  count_untimed(fill);
  write(*thread, fill, Type::memset);
}

const Decoder::Api& Decoder::api(std::uint32_t domain, std::uint32_t call) {
  const auto [known, is_new] = apis_.try_emplace((std::uint64_t{domain} << 32) | call);
  Api& api = known->second;
  if (!is_new) return api;
  const char* name = nullptr;
  if (library_.callback_name(domain, call, &name) == kSuccess && name != nullptr)
    api.name = without_version(name);
  else
    api.name = (domain == kDriverApi ? "driver call " : "runtime call ") + std::to_string(call);
  api.recorded = is_recorded(domain, api.name);
  return api;
}

void Decoder::api_call(const std::uint8_t* at, std::uint32_t domain) {
  record::ApiCall call{};
  call.number = number(at, api_at::number);
  const Api& known = api(domain, call.number);
  Thread* thread = known.recorded ? place() : nullptr;
  if (thread == nullptr) return;
  call.value = text_id(*thread, known.name.c_str());
  call.begin = time(at, api_at::begin);
  call.end = time(at, api_at::end);
  call.thread = number(at, api_at::thread);
  call.correlation = number(at, api_at::correlation);
  call.returned = number(at, api_at::returned);
  call.is_driver = domain == kDriverApi ? 1 : 0;
  write(*thread, call, Type::api_call);
}

void Decoder::synchronization(const std::uint8_t* at) {
  Thread* thread = place();
  if (thread == nullptr) return;
  record::Synchronization wait{};
  wait.value = number(at, synchronization_at::kind);
  wait.begin = time(at, synchronization_at::begin);
  wait.end = time(at, synchronization_at::end);
  wait.context = number(at, synchronization_at::context);
  wait.stream = number(at, synchronization_at::stream);
  wait.event = number(at, synchronization_at::event);
  wait.correlation = number(at, synchronization_at::correlation);
  write(*thread, wait, Type::synchronization);
}

void Decoder::event(const std::uint8_t* at) {
  Thread* thread = place();
  if (thread == nullptr) return;
  record::EventRecord event{};
  event.value = number(at, event_at::event);
  event.context = number(at, event_at::context);
  event.stream = number(at, event_at::stream);
  event.correlation = number(at, event_at::correlation);
  write(*thread, event, Type::event_record);
}

void Decoder::overhead(const std::uint8_t* at) {
  Thread* thread = place();
  if (thread == nullptr) return;
  record::Overhead overhead{};
  overhead.value = number(at, overhead_at::kind);
  overhead.begin = time(at, overhead_at::begin);
  overhead.end = time(at, overhead_at::end);
  write(*thread, overhead, Type::overhead);
}

void Decoder::device(const std::uint8_t* at) {
  record::DeviceAttributes attributes{};
  attributes.device = number(at, device_at::id);
  const bool known = std::any_of(devices_.begin(), devices_.end(), [&](const Device& device) {
    return device.attributes.device == attributes.device;
  });
  if (known) return;
  attributes.multiprocessors = number(at, device_at::multiprocessors);
  attributes.warp_threads = number(at, device_at::warp_threads);
  attributes.warps_per_multiprocessor = number(at, device_at::warps);
  attributes.blocks_per_multiprocessor = number(at, device_at::blocks);
  attributes.threads_per_block = number(at, device_at::block_threads);
  attributes.registers_per_multiprocessor = number(at, device_at::registers);
  attributes.registers_per_block = number(at, device_at::block_registers);
  attributes.shared_per_multiprocessor = number(at, device_at::shared);
  attributes.shared_per_block = number(at, device_at::block_shared);
  attributes.compute_major = number(at, device_at::major);
  attributes.compute_minor = number(at, device_at::minor);
  attributes.memory = field<std::uint64_t>(at, device_at::memory);
  const char* name = field<const char*>(at, device_at::name);
  Thread* thread = place();  // before push_back: place() may start a session, which writes all known devices
  devices_.push_back({name == nullptr ? "" : name, attributes});
  if (thread != nullptr) tell_device(*thread, devices_.size() - 1);
}

void Decoder::context(const std::uint8_t* at) {
  record::DeviceContext context{};
  context.value = number(at, context_at::id);
  context.device = number(at, context_at::device);
  Thread* thread = place();
  contexts_.push_back(context);
  if (thread != nullptr) write(*thread, contexts_.back(), Type::device_context);
}

void Decoder::tell_state(std::uint64_t dropped, std::uint64_t discarded) {
  lost_.dropped += dropped;
  lost_.discarded += discarded;
  Thread* thread = place();
  if (thread == nullptr) return;
  tell_clock(*thread);
  if (lost_.dropped + lost_.discarded + lost_.untimed + lost_.unread == 0) return;
  write(*thread, lost_, Type::device_counts);
  lost_ = {};
}

}  // namespace stepscope::collect::cupti
