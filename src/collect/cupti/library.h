// The CUPTI library of this process: found, never linked, never unloaded.
#pragma once

#include <string>

#include "collect/cupti/cupti_abi.h"

namespace stepscope::collect::cupti {

/// The library's entry points; those below `optional` may be null.
struct Library {
  std::uint32_t version = 0;

  Result (*get_version)(std::uint32_t*) = nullptr;
  Result (*get_timestamp)(std::uint64_t*) = nullptr;
  Result (*subscribe)(void** subscriber, Callback, void*) = nullptr;
  Result (*unsubscribe)(void* subscriber) = nullptr;
  Result (*register_buffers)(RequestBuffer, CompleteBuffer) = nullptr;
  Result (*enable)(std::uint32_t kind) = nullptr;
  Result (*disable)(std::uint32_t kind) = nullptr;
  Result (*flush)(std::uint32_t flag) = nullptr;
  Result (*next_record)(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record) = nullptr;
  Result (*dropped)(void* context, std::uint32_t stream, std::size_t* count) = nullptr;
  Result (*callback_name)(std::uint32_t domain, std::uint32_t number, const char** name) = nullptr;
  // optional
  Result (*enable_and_dump)(std::uint32_t kind) = nullptr;
  Result (*register_timestamp)(TimestampCallback) = nullptr;
  Result (*thread_id_type)(std::uint32_t type) = nullptr;
  Result (*enable_driver_api)(std::uint32_t number, std::uint8_t on) = nullptr;
  Result (*enable_runtime_api)(std::uint32_t number, std::uint8_t on) = nullptr;
  Result (*subscribe_v2)(void** subscriber, Callback, void*, SubscriberParams*) = nullptr;
  Result (*result_text)(Result, const char** text) = nullptr;
  Result (*enable_callback)(std::uint32_t on, void* subscriber, std::uint32_t domain,
                            std::uint32_t number) = nullptr;
  Result (*graph_node_id)(void* node, std::uint64_t* id) = nullptr;

  /// The interface for several tools at once; complete from CUDA 13.3 on.
  struct Shared {
    Result (*get_timestamp)(void* subscriber, std::uint64_t*) = nullptr;
    Result (*register_buffers)(void* subscriber, RequestBufferV2, CompleteBufferV2) = nullptr;
    Result (*enable)(void* subscriber, std::uint32_t kind, void* config) = nullptr;
    Result (*enable_and_dump)(void* subscriber, std::uint32_t kind, void* config) = nullptr;
    Result (*disable)(void* subscriber, std::uint32_t kind, void* config) = nullptr;
    Result (*next_record)(void* subscriber, std::uint8_t* buffer, std::size_t valid,
                          std::uint8_t** record) = nullptr;
    Result (*dropped)(void* subscriber, void* context, std::uint32_t stream, std::size_t* count) = nullptr;
    Result (*set_attribute)(void* subscriber, std::uint32_t attribute, std::size_t* bytes,
                            void* value) = nullptr;
    Result (*enable_driver_api)(void* subscriber, std::uint32_t number, std::uint8_t on) = nullptr;
    Result (*enable_runtime_api)(void* subscriber, std::uint32_t number, std::uint8_t on) = nullptr;
  } shared;
  bool can_share = false;  ///< all functions of `shared` are there
};

/// Finds the copy of CUPTI that the process has loaded, else one beside its loaded CUDA libraries, else the
/// toolkit's. 0, or an errno with the reason in `why`.
int find_library(const Library*& library, std::string& why);

/// A failure as an errno and as words for the user.
int errno_of(Result result);
std::string words_of(const Library& library, Result result);

}  // namespace stepscope::collect::cupti
