// Builds a Program: spans that close themselves, kernels, copies, events, tensors. It has the host costs of
// calls; model.cpp and training_step.cpp define what a model does.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "make_trace/file/vendor.h"
#include "make_trace/model/program.h"
#include "make_trace/model/shapes.h"
#include "make_trace/options.h"
#include "make_trace/run/hardware.h"

namespace stepscope::make_trace {

class Builder;

/// Parts of a step that a planted problem replaces.
enum class Lane : std::uint8_t {
  base,
  loader,
  tiny,
  item,
  cache,
  zero_grad,
  accumulate,
  optimizer,
  collective,
  restart,
  preprocess,
  python,
  rows,
  callback,
  pause,
  nonzero,
  features,
  chain,
  compile,
  cold,
  calls,
  recompute
};
constexpr std::size_t kLanes = 22;

/// Closes the innermost span when it goes out of scope.
class [[nodiscard]] Scope {
 public:
  Scope(Builder* builder, std::int64_t close_ns, bool frame)
      : builder_(builder), close_ns_(close_ns), frame_(frame) {}
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope();

 private:
  Builder* builder_;  ///< null: nothing was opened
  std::int64_t close_ns_;
  bool frame_;
};

/// Autograd node that a span creates (forward) or runs (backward).
struct Node {
  int sequence = -1;
  bool backward = false;
};

class Builder {
 public:
  Builder(const Options& options, const Hardware& hw, const Vendor& vendor);

  Scope op(std::string_view name, const Args& args = {}, Node node = {});
  Scope light_op(std::string_view name, const Args& args = {}, Node node = {});
  Scope collective_op(std::string_view name, const Args& args, const std::string& comm_args,
                      const Group& group = {});
  Scope annotation(std::string_view name, bool numbered = false, bool loader = false, const Args& args = {});
  Scope frame(std::string_view python_function);
  Scope module(std::string_view class_name, int id);

  void think(std::int64_t ns);
  void sleep(std::int64_t ns);  ///< a fixed time that --host-cost does not scale
  void call(const CallInfo& call, std::int64_t ns);
  void kernel(const std::string& name, std::int64_t device_ns, const KernelShape& shape, int stream = 0);
  void copy(const std::string& name, std::int64_t bytes, double bytes_per_ns, bool blocking);
  void fill(std::int64_t bytes);
  void all_reduce(std::int64_t bytes, std::int64_t device_ns, const std::string& comm_args,
                  const Group& group);
  /// Runs on the `channel`-th communication stream.
  void message(int from, int to, std::int64_t bytes, const std::string& comm_args, const Group& group,
               int channel);
  std::uint32_t record_event(int stream);
  void wait_event(int stream, std::uint32_t event);
  void synchronize(int stream);
  void take_batch(std::int64_t own_ns, std::int64_t worker_ns, int workers);
  void lag(Phase phase);
  std::uint32_t new_tensor() { return static_cast<std::uint32_t>(program_.tensors++); }
  void allocate(std::uint32_t tensor, std::int64_t bytes);
  void release(std::uint32_t tensor);
  void empty_cache();
  void on_thread(Thread thread);
  void restart_workers(std::int64_t ns);

  int next_sequence() { return program_.sequences++; }
  int comm_stream(int channel = 0) const { return program_.comm_stream + channel; }

  /// Instructions built while a Part lives take jitter keys from a sequence of their own, so that adding or
  /// removing the part does not change the noise of anything else.
  class [[nodiscard]] Part {
   public:
    Part(Builder& builder, Lane lane) : builder_(builder), before_(builder.lane_) { builder.lane_ = lane; }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    ~Part() { builder_.lane_ = before_; }

   private:
    Builder& builder_;
    Lane before_;
  };

  /// Instructions built while an Only lives run in those steps only.
  class [[nodiscard]] Only {
   public:
    Only(Builder& builder, Steps steps);
    Only(const Only&) = delete;
    Only& operator=(const Only&) = delete;
    ~Only();

   private:
    Program& program_;
    std::size_t at_;
  };

  Program take();

 private:
  friend class Scope;
  void add(Instr instr);
  SpanInfo op_info(std::string_view name, const Args& args, Node node) const;
  std::string typed(std::string name) const;  ///< bf16 in a name replaced by the program's type
  Scope open(SpanInfo span, std::int64_t open_ns, std::int64_t close_ns);
  std::uint32_t call_index(const CallInfo& call);
  void queue(Act act, WorkInfo work, int stream, std::int64_t ns);
  std::string call_stack() const;

  const Options& options_;
  const Hardware& hw_;
  const Vendor& vendor_;
  Program program_;
  std::vector<std::string> frames_;
  Lane lane_ = Lane::base;
  std::array<std::uint64_t, kLanes> next_key_{};
};

}  // namespace stepscope::make_trace
