// One subscription to CUPTI. Uses its interface for several tools where the library has it, else that for
// one.
#pragma once

#include <cstdint>
#include <string>

#include "collect/cupti/library.h"

namespace stepscope::collect::cupti {

/// What CUPTI calls: for buffers, on the program's threads; `callback` for what enable_callback() selected.
struct Callbacks {
  Callback callback;
  RequestBuffer request;
  CompleteBuffer complete;
  RequestBufferV2 request_shared;
  CompleteBufferV2 complete_shared;
};

class Session {
 public:
  /// Subscribes. If another tool allows no second one, `holder` is its name, where the library tells it.
  Result open(const Library& library, const Callbacks& callbacks, std::string& holder);
  void close();

  const Library& library() const { return *library_; }
  bool is_shared() const { return is_shared_; }

  Result use_clock(TimestampCallback clock);
  Result use_system_thread_ids();
  Result register_buffers();
  Result enable(std::uint32_t kind);
  /// Also gives records of what exists already, if the library can.
  Result enable_and_dump(std::uint32_t kind);
  Result disable(std::uint32_t kind);
  bool can_disable_calls() const;
  Result disable_call(std::uint32_t domain, std::uint32_t number);
  Result enable_callback(std::uint32_t domain, std::uint32_t number);
  /// Flushes the buffers of all tools.
  Result flush(std::uint32_t flag) { return library_->flush(flag); }
  Result next_record(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record) const;
  /// Records that the library dropped since the last call.
  std::size_t dropped();
  Result timestamp(std::uint64_t& ns) const;

 private:
  Result set(std::uint32_t attribute, std::size_t bytes, void* value);

  const Library* library_ = nullptr;
  Callbacks callbacks_{};
  void* subscriber_ = nullptr;
  bool is_shared_ = false;
};

}  // namespace stepscope::collect::cupti
