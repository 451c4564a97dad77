// Records a C++ program for `stepscope report`: ranges, steps, counters, memory.
//
//   stepscope::Recording recording("run.stepscope");
//   for (const Batch& batch : batches) {
//     const stepscope::Step step;
//     { const stepscope::Scope scope("decode"); decode(batch); }
//     stepscope::counter("queue", queue.size());
//   }
//
// Without an active recording, each of these costs a call and a load. Threads record without locks and copy a
// name once per segment. The recording survives a kill. Only Recording's constructor throws.
//
// CMake: find_package(stepscope), target_link_libraries(program stepscope::collect). With libtorch, its
// operators are recorded too: stepscope_record_torch(program), then stepscope::record_torch() once.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

extern "C" {
int stepscope_open(const char* path, std::uint32_t megabytes, std::uint32_t flags);
int stepscope_start(void);
int stepscope_stop(void);
std::uint64_t stepscope_close(void);
void stepscope_range_begin(const char* name, std::uint32_t length);
void stepscope_range_end(void);
int stepscope_metadata(const char* text, std::uint32_t length);
void stepscope_counter(const char* name, std::uint32_t length, double value);
void stepscope_memory(std::uint64_t address, std::int64_t bytes, int device);
int stepscope_torch_attach(int inputs);
void stepscope_torch_detach(void);
}

namespace stepscope {

/// Records the process while this object lives. One at a time.
class Recording {
 public:
  /// `path`: the file to create, which must not exist; `megabytes`: its maximum size; later records are
  /// dropped and counted. Throws std::runtime_error with the path and the reason.
  explicit Recording(const std::string& path, std::uint32_t megabytes = 256) {
    if (const int error = stepscope_open(path.c_str(), megabytes, 1); error != 0)
      throw std::runtime_error(
          path + ": " + (error == EBUSY ? "this process has a recording already" : std::strerror(error)));
    stepscope_start();
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() {
    stepscope_stop();
    stepscope_close();
  }

  /// Pauses recording until resume(). Ranges that are open now are lost.
  void pause() { stepscope_stop(); }
  void resume() { stepscope_start(); }
  /// Adds metadata to the top of the trace; `json` is a JSON value. False: no room, or over 512 kB.
  bool metadata(std::string_view key, std::string_view json) {
    const std::string text = std::string(key) + '=' + std::string(json);
    return stepscope_metadata(text.data(), static_cast<std::uint32_t>(text.size())) == 0;
  }
};

/// A range on the calling thread, for the lifetime of this object.
class Scope {
 public:
  explicit Scope(std::string_view name) {
    stepscope_range_begin(name.data(), static_cast<std::uint32_t>(name.size()));
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() { stepscope_range_end(); }
};

/// A step of the program; reports are per step. Steps are numbered from 0.
class Step : Scope {
 public:
  Step() : Scope("ProfilerStep#" + std::to_string(next())) {}

 private:
  static std::int64_t next() {
    static std::atomic<std::int64_t> count{0};
    return count.fetch_add(1, std::memory_order_relaxed);
  }
};

/// A number that changes over time, e.g. the length of a queue.
inline void counter(std::string_view name, double value) {
  stepscope_counter(name.data(), static_cast<std::uint32_t>(name.size()), value);
}

/// `bytes` are allocated at `address`; device -1 is main memory.
inline void allocated(const void* address, std::int64_t bytes, int device = -1) {
  stepscope_memory(reinterpret_cast<std::uint64_t>(address), bytes, device);
}
/// `bytes` at `address` are freed.
inline void freed(const void* address, std::int64_t bytes, int device = -1) {
  stepscope_memory(reinterpret_cast<std::uint64_t>(address), -bytes, device);
}

/// From now on, recordings include libtorch's operators of all threads; with `with_inputs`, also the types
/// and shapes of their inputs. False: libtorch refused.
inline bool record_torch(bool with_inputs = true) { return stepscope_torch_attach(with_inputs ? 1 : 0) == 0; }

}  // namespace stepscope
