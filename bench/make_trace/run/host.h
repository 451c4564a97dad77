// One rank's host: executes the program of a step, pays for calls, waits where a real host would wait. It
// stops at an instruction whose outcome depends on a rank that has not been simulated so far, and resumes
// there later.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "make_trace/model/program.h"
#include "make_trace/options.h"
#include "make_trace/run/allocator.h"
#include "make_trace/run/device.h"
#include "make_trace/run/jitter.h"
#include "make_trace/run/loader.h"
#include "make_trace/run/records.h"

namespace stepscope::make_trace {

/// From the end of the awaited work to the return of the call that waits for it.
constexpr std::int64_t kSyncReturn = 7000;

class Host {
 public:
  Host(const Options& options, const Program& program, Collectives& collectives, int rank);

  void begin_step(int step, bool recorded);

  /// Runs until the step has ended (true) or another rank has to be simulated first (false).
  bool run();

  /// Computes the device times that can be known now; true when all are known. Every rank does this before
  /// any rank ends the step.
  bool settle() { return device_.idle_from(-1) != kUnknown; }

  /// Fills in the device's rows; every rank must have ended its program.
  void end_step();

  /// The profiler's own wait for the device, at both ends of the recording.
  std::optional<HostRow> drain(bool recorded);

  const StepRows& rows() const { return rows_; }
  std::int64_t now() const { return now_; }

 private:
  struct Open {
    std::size_t row = 0;
    SpanKind kind = SpanKind::op;
    std::uint32_t external = 0;
    std::uint32_t python = 0;
    bool loader = false;
  };

  bool execute(const Instr& instr);
  void open(const Instr& instr);
  void close(const Instr& instr);
  bool launch(const Instr& instr);
  bool blocking_copy(const Instr& instr);
  bool synchronize(const Instr& instr);
  void take_batch(const Instr& instr);
  bool chosen(const Steps& steps) const;
  void lag(const Instr& instr);
  void allocate(const Instr& instr);
  void release(const Instr& instr);
  bool empty_cache(const Instr& instr);

  void pass(std::int64_t ns, Doing doing);
  void pass_jittered(const Instr& instr, Doing doing);
  std::int64_t jittered(const Instr& instr) const;
  Doing doing_here() const;
  HostRow& call_row(std::uint32_t call, std::uint32_t work);
  const Open* innermost(SpanKind kind) const;
  void describe(Meeting& meeting, const Instr& instr) const;
  std::size_t submit(const Instr& instr, std::int64_t launch_start);
  void remember_memory(std::int64_t address, std::int64_t bytes);
  std::int64_t lag_ns(Phase phase) const;
  std::int64_t launch_ns(const WorkInfo& work, std::int64_t ns) const;

  const Options& o_;
  const Program& program_;
  const Hardware& hw_;
  Collectives& collectives_;
  int rank_;
  Jitter jitter_;
  Device device_;
  Allocator allocator_;
  Loader loader_;

  std::int64_t now_ = 0;
  std::size_t pc_ = 0;
  std::uint64_t place_ = 0;
  int step_ = 0;
  std::int64_t batches_ = 0;
  bool recorded_ = false;
  std::uint8_t thread_ = kMainThread;
  std::array<std::vector<Open>, kThreads> open_;
  std::optional<std::size_t> awaited_;  ///< activity of a blocking copy in progress
  std::int64_t blocked_since_ = 0;
  /// Number of collectives of these ranks issued in earlier steps and in this one.
  struct Issued {
    std::int64_t before = 0;
    std::size_t in_step = 0;
  };
  std::map<Members, Issued> issued_;
  std::int64_t messages_ = 0;            ///< sent and received since the start
  std::vector<std::int64_t> addresses_;  ///< of tensors; 0: not allocated
  double compute_factor_ = 1.0;
  StepRows rows_;

  std::uint32_t next_external_ = 1;
  std::uint32_t next_correlation_ = 1;
  std::uint32_t next_index_ = 1;   ///< 0 is the program itself
  std::uint32_t next_python_ = 2;  ///< 1 is the program itself
  std::int64_t sequence_base_ = 0;
};

}  // namespace stepscope::make_trace
