// Another tool that records through CUPTI's interface for several tools.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <vector>

#include "collect/cupti/cupti_abi.h"

namespace stepscope::test {

/// Counts the records of one kind. One object at a time.
class OtherTool {
  using Result = collect::cupti::Result;
  using Params = collect::cupti::SubscriberParams;
  using Enable = Result(void*, std::uint32_t, void*);

 public:
  OtherTool(void* library, std::uint32_t kind) : library_(library), kind_(kind) {
    Params params{};
    params.bytes = sizeof params;
    params.name = "other";
    params.allow_others = 1;
    counting_ = this;
    subscribed_ = call<Result(void**, collect::cupti::Callback, void*, Params*)>(
        "cuptiSubscribe_v2", &subscriber_, ignore, nullptr, &params);
    if (subscribed_ != collect::cupti::kSuccess) return;
    call<Result(void*, collect::cupti::RequestBufferV2, collect::cupti::CompleteBufferV2)>(
        "cuptiActivityRegisterCallbacks_v2", subscriber_, request, complete);
    call<Enable>("cuptiActivityEnable_v2", subscriber_, kind_, nullptr);
  }
  ~OtherTool() {
    if (subscribed_ != collect::cupti::kSuccess) return;
    call<Enable>("cuptiActivityDisable_v2", subscriber_, kind_, nullptr);
    flush();
    call<Result(void*)>("cuptiUnsubscribe", subscriber_);
  }
  OtherTool(const OtherTool&) = delete;
  OtherTool& operator=(const OtherTool&) = delete;

  Result subscribed() const { return subscribed_; }
  int records() const {
    flush();
    return records_;
  }

 private:
  // Not checked by -fsanitize=function: the library declares these pointer types under its own names.
  template <class Signature, class... Arguments>
#ifdef __clang__
  __attribute__((no_sanitize("function")))
#endif
  Result
  call(const char* name, Arguments... arguments) const {
    auto* const entry = reinterpret_cast<Signature*>(::dlsym(library_, name));
    return entry == nullptr ? collect::cupti::kUnknownError : entry(arguments...);
  }
  void flush() const { call<Result(std::uint32_t)>("cuptiActivityFlushAll", 0U); }

  static void ignore(void*, std::uint32_t, std::uint32_t, const void*) {}
  static void request(std::uint8_t** buffer, std::size_t* bytes, std::size_t*, void*) {
    constexpr std::size_t kBytes = 1 << 20;
    *buffer = new std::uint8_t[kBytes];
    *bytes = kBytes;
  }
  static void complete(std::uint8_t* buffer, std::size_t, std::size_t valid, void*) {
    using Next = Result(void*, std::uint8_t*, std::size_t, std::uint8_t**);
    std::uint8_t* record = nullptr;
    while (counting_->call<Next>("cuptiActivityGetNextRecord_v2", counting_->subscriber_, buffer, valid,
                                 &record) == collect::cupti::kSuccess)
      counting_->records_ += collect::cupti::field<std::uint32_t>(record, 0) == counting_->kind_ ? 1 : 0;
    delete[] buffer;
  }

  inline static OtherTool* counting_ = nullptr;
  void* library_;
  std::uint32_t kind_;
  int records_ = 0;
  void* subscriber_ = nullptr;
  Result subscribed_ = collect::cupti::kUnknownError;
};

}  // namespace stepscope::test
