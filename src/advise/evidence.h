// The evidence that rules may use: one rank's part of the answers. Rules never see the Trace.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/host/host_time.h"
#include "analyze/host/lines.h"
#include "analyze/host/operators.h"
#include "analyze/idle/devices.h"
#include "analyze/idle/idle.h"
#include "analyze/idle/launches.h"
#include "analyze/idle/ledger.h"
#include "analyze/idle/synchronizations.h"
#include "analyze/io/io.h"
#include "analyze/kernels/copies.h"
#include "analyze/kernels/kernels.h"
#include "analyze/kernels/products.h"
#include "analyze/memory/checkpointing.h"
#include "analyze/memory/churn.h"
#include "analyze/memory/fragmentation.h"
#include "analyze/memory/leaks.h"
#include "analyze/memory/memory_events.h"
#include "analyze/memory/memory_peak.h"
#include "analyze/memory/memory_summary.h"
#include "analyze/memory/oom.h"
#include "analyze/overview.h"
#include "analyze/ranks/collectives.h"
#include "analyze/ranks/communication.h"
#include "analyze/ranks/pipeline.h"
#include "analyze/ranks/stragglers.h"
#include "analyze/replay/replayed_rank.h"
#include "analyze/steps/input_wait.h"
#include "analyze/steps/phases.h"
#include "analyze/steps/steps.h"
#include "report/table.h"

namespace stepscope::advise {

using Facts = analyze::RankFacts;
using derive::IdleCause;

/// Answers that compare ranks; empty for a single rank.
struct JobReports {
  analyze::Stragglers stragglers;
  analyze::Pipeline pipeline;
  analyze::Communication communication;
};

/// Answers about memory snapshots; empty without one.
struct SnapshotReports {
  analyze::MemorySummary summary;
  analyze::MemoryHolders at_peak;
  analyze::OutOfMemory failures;
  analyze::Fragmentation fragmentation;
  analyze::Leaks leaks;
  analyze::MemoryChurn churn;
};

/// What rules read of `io`; empty where no file I/O is recorded.
struct FileReports {
  std::vector<analyze::IoOverlap> overlap;
  std::vector<analyze::IoOfKind> kinds;
  std::vector<analyze::IoGroup> groups;
  std::vector<analyze::FetchIo> fetching;
  std::vector<analyze::SavedFile> saved;
  std::vector<analyze::FlushedFile> flushed;
  std::vector<analyze::HoldingFiles> holding;
  std::vector<analyze::IoFile> reread;  ///< files opened more than once, or not read in order
};

/// The answers that rules read. Each holds every rank; a rule reads its own rank's part.
struct Reports {
  analyze::Overview overview;
  analyze::Idle idle;
  analyze::Ledger ledger;
  analyze::Launches launches;
  analyze::Steps steps;
  analyze::InputWait input_wait;
  FileReports files;
  analyze::Synchronizations synchronizations;
  analyze::Collectives collectives;
  analyze::Devices devices;
  analyze::Kernels kernels;
  analyze::Products products;
  analyze::Copies copies;
  analyze::MemoryEvents memory_events;
  analyze::Checkpointing checkpointing;
  SnapshotReports snapshot;
  analyze::HostTime host_time;   ///< only if some rank has no device
  analyze::Phases phases;        ///< only if some rank has no device
  analyze::Lines lines;          ///< only if some rank has no device or has Python stacks
  analyze::Operators operators;  ///< only if some rank has no device
  std::shared_ptr<JobReports> job = std::make_shared<JobReports>();
  std::vector<std::vector<analyze::Launched>> launched;  ///< by rank's index in the trace, then kAskedRanges
};

/// Idle causes in which the host had not launched yet only because it is slow.
inline constexpr IdleCause kLateCauses[] = {IdleCause::launch, IdleCause::runtime,    IdleCause::op,
                                            IdleCause::python, IdleCause::annotation, IdleCause::untraced};

/// The autograd node that adds to a gradient.
inline constexpr std::string_view kAccumulate = "torch::autograd::AccumulateGrad";

/// How the names of a DataLoader's ranges begin.
inline constexpr std::string_view kLoaderRange = "enumerate(DataLoader)#";

/// Parts of names of host ranges that rules ask about; one pass finds them all.
inline constexpr std::string_view kAskedRanges[] = {
    "Optimizer.step#",         "Optimizer.zero_grad#", "reducer::copy_bucket_to_grad",
    "unflatten_dense_tensors", "gloo:broadcast",       "autograd::engine::evaluate_function",
    "Torch-Compiled Region",   "(dynamo_timed)",       "_dynamo/convert_frame.py",
    "triton/compiler/",        "ModuleLoad",           kAccumulate,
    "autograd::CopySlices",    kLoaderRange,
};

/// One of kAskedRanges; any other text does not compile.
struct AskedRange {
  std::size_t index = 0;
  consteval AskedRange(std::string_view part) {
    while (kAskedRanges[index] != part) ++index;
  }
  consteval AskedRange(const char* part) : AskedRange(std::string_view(part)) {}
};

/// A fact, share or table that a rule read from an Evidence, and its value.
struct Asked {
  std::string what;   ///< "idle(input)"
  std::string from;   ///< the analysis or table that it comes from
  std::string value;  ///< for people; "absent" when there is none
  double number = report::kNoReal;
  report::Unit unit = report::Unit::none;
};

/// One rank's view of the reports.
class Evidence {
 public:
  /// `launched`: the rank's element of Reports::launched; without it, launched_in() has no data.
  Evidence(const Reports& reports, std::int64_t rank, std::span<const analyze::Launched> launched = {});

  /// Logs each question once; `log` outlives it.
  Evidence logged(std::vector<Asked>& log) const {
    Evidence copy = *this;
    copy.log_ = &log;
    return copy;
  }

  std::int64_t rank() const { return rank_; }
  const Reports& reports() const { return reports_; }
  /// A count or time of the overview, 0 if it is not known.
  std::int64_t fact(std::int64_t Facts::* fact) const;
  /// True if the recording says that the machine has no accelerator.
  bool without_accelerator() const;
  /// True if the rank has a memory snapshot and no events of ops or devices.
  bool snapshot_alone() const;
  /// Calls of the file system are all that is known: no steps, fetches of batches, operators or device work.
  bool files_alone() const;
  /// The kind of the rank's first loader that has a known kind.
  analyze::LoaderKind loader_kind() const;
  /// The machine's accelerator that the recorder watched and the program gives no work; "" if there is none.
  std::string_view unused_accelerator() const;
  std::int64_t idle_total(std::int64_t analyze::IdleTotals::* total) const;
  /// The backend of torch.distributed; "" if it is not recorded.
  std::string_view backend() const;
  /// Who waits for whom, from `ledger`.
  analyze::Limit limit() const;
  /// A time of the bound numbers as a share of the window; 0 without device work.
  double bound_share(std::int64_t analyze::BoundNumbers::* time) const;
  /// The numbers that the bound rests on, of the typical steps; nullptr without device work.
  const analyze::BoundNumbers* bound_numbers() const;
  /// Share of kernels that start at most 10 µs after their launch; 0 when not known.
  double prompt() const;
  /// Idle time of a cause in the window, mean over devices, ns.
  std::int64_t idle(IdleCause cause) const;
  /// Time of a phase in the window, ns; 0 where phases are not asked.
  std::int64_t time_in(analyze::Phase phase) const;
  /// The rank's elements of an answer.
  template <class Row>
  std::vector<const Row*> mine(const std::vector<Row>& rows, std::string_view name) const {
    if (!rows.empty())
      note("rows of " + std::string(name), "", static_cast<double>(rows.size()), report::Unit::count);
    std::vector<const Row*> own;
    for (const Row& row : rows)
      if (row.rank == rank_) own.push_back(&row);
    return own;
  }

  /// Launches by host ranges whose name contains `range`, over the whole recording.
  const analyze::Launched& launched_in(AskedRange range) const;

  std::int64_t window() const { return fact(&Facts::window); }
  /// Complete steps in the window, at least 1.
  std::int64_t steps() const;
  /// Mean length of a step in the window, ns: what shares and savings per step refer to.
  std::int64_t step_length() const { return window() / steps(); }
  /// `part` of the window as a share, 0 when there is no window.
  double share(std::int64_t part) const;

 private:
  const Reports& reports_;
  std::int64_t rank_;
  std::vector<analyze::Launched> launched_;  // by kAskedRanges
  std::vector<Asked>* log_ = nullptr;

  void note(std::string what, std::string_view from, double number, report::Unit unit) const;
  void note(std::string what, std::string_view from, std::string_view text) const;
};

}  // namespace stepscope::advise
