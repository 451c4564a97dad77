// Time the program waited for data, by step, and how much of it the device was idle.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"
#include "analyze/steps/batches.h"
#include "report/sheet.h"

namespace stepscope::analyze {

/// Where a loader fetches its batches.
enum class LoaderKind : std::uint8_t { unknown, multi_process, single_process, several };
std::string_view name_of(LoaderKind kind);

/// One step's waits. Times in ns; `exposed`: while no device work runs, kNoInt without a device.
struct StepWaits {
  std::int64_t rank = -1;
  std::int64_t step = report::kNoInt;  ///< kNoInt: no step is marked, the row is the whole recording
  LoaderKind kind = LoaderKind::unknown;
  std::int64_t count = 0, total = 0;
  double share = report::kNoReal;  ///< total / length of the step's mark
  std::int64_t exposed = report::kNoInt;
  double exposed_share = report::kNoReal;  ///< exposed / length of the step's mark
  std::int64_t longest = report::kNoInt;
};

/// All waits for one loader. Times in ns.
struct Loader {
  std::int64_t rank;
  std::string loader;
  LoaderKind kind;
  std::int64_t count, total, exposed, median, shortest, longest;
};

/// One wait. Times in ns; `start` counts from the first event of the file.
struct LoaderWait {
  std::int64_t rank, start;
  std::int64_t step;  ///< report::kNoInt outside all steps
  std::string loader;
  std::int64_t length, exposed;
};

struct InputWait {
  std::vector<StepWaits> steps;
  std::vector<Loader> loaders;
  std::vector<LoaderWait> waits;     ///< by start
  std::vector<BatchStages> batches;  ///< by start
  std::vector<BatchesReady> ready;   ///< by time
  std::vector<std::string> notes;
};
InputWait input_wait_of(const Derived& derived);

}  // namespace stepscope::analyze
