// Writes CUPTI's records into the active recording. Used by one thread.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "collect/cupti/session.h"
#include "collect/recorder.h"
#include "record/device/format.h"

namespace stepscope::collect::cupti {

/// Whether calls of that name are recorded: all runtime calls except pure queries, and the driver calls that
/// start work or map memory.
bool is_recorded(std::uint32_t domain, std::string_view name);

class Decoder {
 public:
  Decoder(const Session& session, record::DeviceClock clock, bool has_thread_ids)
      : session_(session), library_(session.library()), clock_(clock), has_thread_ids_(has_thread_ids) {}

  /// Reads the records in the first `valid` bytes of `buffer`.
  void read(std::uint8_t* buffer, std::size_t valid);
  /// Writes the losses so far, including these, and a clock pair if the library's clock is used.
  void tell_state(std::uint64_t dropped, std::uint64_t discarded);

 private:
  struct Api {
    std::string name;
    bool recorded = false;
  };

  Thread* place();
  void tell_session(Thread& thread);
  void tell_clock(Thread& thread);
  void tell_device(Thread& thread, std::size_t index);
  void record(const std::uint8_t* at, std::size_t bytes);
  void kernel(const std::uint8_t* at);
  void copy(const std::uint8_t* at, bool peer);
  void fill(const std::uint8_t* at);
  void api_call(const std::uint8_t* at, std::uint32_t domain);
  void synchronization(const std::uint8_t* at);
  void event(const std::uint8_t* at);
  void overhead(const std::uint8_t* at);
  void device(const std::uint8_t* at);
  void context(const std::uint8_t* at);
  void count_untimed(const record::DeviceWork& work) {
    lost_.untimed += work.begin == 0 || work.end == 0 ? 1 : 0;
  }
  const Api& api(std::uint32_t domain, std::uint32_t number);
  bool has_graphs() const { return library_.version >= kHasGraphs; }

  const Session& session_;
  const Library& library_;
  const record::DeviceClock clock_;
  const bool has_thread_ids_;
  Recorder* told_ = nullptr;       // the recording that has the session record
  const char* told_in_ = nullptr;  // in this segment
  record::DeviceCounts lost_{};
  std::unordered_map<std::uint64_t, Api> apis_;
  struct Device {
    std::string name;
    record::DeviceAttributes attributes;
  };
  std::vector<Device> devices_;
  std::vector<record::DeviceContext> contexts_;
};

}  // namespace stepscope::collect::cupti
