#include "collect/cupti/session.h"

namespace stepscope::collect::cupti {
namespace {

constexpr char kName[] = "stepscope";

/// Name of the tool that is subscribed; "" with older libraries.
std::string holder_of(const Library& library, Callback callback) {
  if (library.subscribe_v2 == nullptr) return "";
  char name[128] = {};
  SubscriberParams params{};
  params.bytes = sizeof params;
  params.holder = name;
  params.holder_bytes = sizeof name;
  void* subscriber = nullptr;
  if (library.subscribe_v2(&subscriber, callback, nullptr, &params) == kSuccess)
    library.unsubscribe(subscriber);
  name[sizeof name - 1] = '\0';
  return name;
}

}  // namespace

Result Session::open(const Library& library, const Callbacks& callbacks, std::string& holder) {
  library_ = &library;
  callbacks_ = callbacks;
  SubscriberParams params{};
  params.bytes = sizeof params;
  params.name = kName;
  params.allow_others = 1;
  is_shared_ = library.can_share &&
               library.subscribe_v2(&subscriber_, callbacks.callback, nullptr, &params) == kSuccess;
  if (is_shared_) return kSuccess;
  const Result result = library.subscribe(&subscriber_, callbacks.callback, nullptr);
  if (result == kHeldByAnother) holder = holder_of(library, callbacks.callback);
  return result;
}

void Session::close() { library_->unsubscribe(subscriber_); }

Result Session::set(std::uint32_t attribute, std::size_t bytes, void* value) {
  return library_->shared.set_attribute(subscriber_, attribute, &bytes, value);
}

Result Session::use_clock(TimestampCallback clock) {
  if (is_shared_) return set(kTimestampCallback, sizeof clock, &clock);
  return library_->register_timestamp == nullptr ? kNotSupported : library_->register_timestamp(clock);
}

Result Session::use_system_thread_ids() {
  std::uint32_t type = kSystemThreadIds;
  if (is_shared_) return set(kThreadIdType, sizeof type, &type);
  return library_->thread_id_type == nullptr ? kNotSupported : library_->thread_id_type(type);
}

Result Session::register_buffers() {
  if (is_shared_)
    return library_->shared.register_buffers(subscriber_, callbacks_.request_shared,
                                             callbacks_.complete_shared);
  return library_->register_buffers(callbacks_.request, callbacks_.complete);
}

Result Session::enable(std::uint32_t kind) {
  return is_shared_ ? library_->shared.enable(subscriber_, kind, nullptr) : library_->enable(kind);
}

Result Session::enable_and_dump(std::uint32_t kind) {
  if (is_shared_) return library_->shared.enable_and_dump(subscriber_, kind, nullptr);
  return library_->enable_and_dump == nullptr ? enable(kind) : library_->enable_and_dump(kind);
}

Result Session::disable(std::uint32_t kind) {
  return is_shared_ ? library_->shared.disable(subscriber_, kind, nullptr) : library_->disable(kind);
}

bool Session::can_disable_calls() const {
  return is_shared_ || (library_->version >= kHasSingleApis && library_->enable_driver_api != nullptr &&
                        library_->enable_runtime_api != nullptr);
}

Result Session::disable_call(std::uint32_t domain, std::uint32_t number) {
  const bool is_driver = domain == kDriverApi;
  if (!is_shared_) return (is_driver ? library_->enable_driver_api : library_->enable_runtime_api)(number, 0);
  const Library::Shared& shared = library_->shared;
  return (is_driver ? shared.enable_driver_api : shared.enable_runtime_api)(subscriber_, number, 0);
}

Result Session::enable_callback(std::uint32_t domain, std::uint32_t number) {
  return library_->enable_callback == nullptr ? kNotSupported
                                              : library_->enable_callback(1, subscriber_, domain, number);
}

Result Session::next_record(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record) const {
  return is_shared_ ? library_->shared.next_record(subscriber_, buffer, valid, record)
                    : library_->next_record(buffer, valid, record);
}

std::size_t Session::dropped() {
  std::size_t count = 0;
  const Result result = is_shared_ ? library_->shared.dropped(subscriber_, nullptr, 0, &count)
                                   : library_->dropped(nullptr, 0, &count);
  return result == kSuccess ? count : 0;
}

Result Session::timestamp(std::uint64_t& ns) const {
  return is_shared_ ? library_->shared.get_timestamp(subscriber_, &ns) : library_->get_timestamp(&ns);
}

}  // namespace stepscope::collect::cupti
