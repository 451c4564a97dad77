// Every threshold and range of the rules, with its meaning and its source; docs/advice.md prints the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace stepscope::advise {

// X(type, name, value, meaning with unit, source)
// clang-format off
#define STEPSCOPE_ADVICE_CONSTANTS(X) \
  X(double, kLoaderShare, 0.05, "of the step: data loading worth a finding", "the TensorBoard plugin's limit; below it a worker's queue costs as much as it saves") \
  X(double, kWorkerPessimism, 0.6, "of the ideal saving: loading moves to workers", "measured on a pair of runs: 36.5 of 59 ms were gained by num_workers 0 to 4") \
  X(std::int64_t, kQueueFetch, 1'500'000, "ns: a batch taken from workers that are ready, at most", "0.99 to 1.30 on average in six recordings of real workers that keep up") \
  X(double, kStarvedPessimism, 0.7, "of the ideal saving: more workers", "0.93 and more of it were gained in real and simulated programs; chosen: the cores may be used up") \
  X(double, kSyncPessimism, 0.5, "of the ideal saving: no wait", "chosen: half of the reads go at first; simulated jobs without any gained 0.94 to 1 of it, and replay has what the next read waits for") \
  X(double, kSlowedToo, 1.2, "times what is seen of a wait, a pause or a disturbance, on the CPU: saved at most", "0.97 in the median of 48 pairs of real runs, above 1.2 in three: what waits or is disturbed may compute slower too") \
  X(double, kScalarShare, 0.02, "of the window: idle time in and after reads of values", "one read a step costs 20 to 500 µs; this keeps it out") \
  X(std::int64_t, kManyWaits, 10, "waits per step: about one a layer", "chosen") \
  X(double, kSyncShare, 0.03, "of the window: idle time in and after waits that the program asks for", "2.6 % in an inference server that has to return its results") \
  X(double, kShapeShare, 0.01, "of the window: idle time in and after waits for the size of a result", "chosen") \
  X(double, kToHostShare, 0.02, "of the window: idle time in and after copies to the host", "chosen") \
  X(std::int64_t, kToHostBytes, 1'000'000, "bytes per step copied to the host with waiting", "chosen") \
  X(double, kAllocationPessimism, 0.5, "of the ideal saving: no allocation", "chosen") \
  X(double, kAllocationShare, 0.01, "of the window: idle time in allocations worth a finding", "a warm caching allocator makes none") \
  X(double, kPromptShare, 0.5, "of kernels start within 10 µs of their launch", "57 to 97 % in recordings bound by launches, at most 21 % in others") \
  X(std::int64_t, kMinKernels, 20, "kernels per step", "chosen") \
  X(double, kLateIdleShare, 0.10, "of the window: idle because the host had not asked yet", "chosen") \
  X(double, kGraphPessimism, 0.3, "of the remaining late idle time: launches captured or compiled in part", "chosen") \
  X(double, kGraphShare, 0.9, "of the remaining late idle time: launches captured as a graph", "chosen: one call launches the step") \
  X(std::int64_t, kManyLaunches, 100, "launches of an optimizer step", "404 and 483 in loops, 1 to 9 in multi-tensor optimizers") \
  X(double, kSureRecording, 0.5, "of the estimated cost of recording: there at least", "0.9 of 1.2 µs an operator in a loop of 21,212 a step, measured with and without recording") \
  X(std::int64_t, kShortKernel, 20'000, "ns", "a launch costs as much") \
  X(std::int64_t, kManyFills, 20, "fills of one zero_grad, copies of one bucket", "none when gradients are set to None") \
  X(double, kMultiTensorLeast, 0.5, "of an optimizer's loop: updated many parameters at a time, at least", "chosen") \
  X(double, kMultiTensorMost, 0.85, "of an optimizer's loop: updated many parameters at a time, at most", "chosen: 30 launches for 400 parameters, and their host work") \
  X(double, kZeroFillMost, 1.4, "of the fills' time on the CPU, at most", "1.0 to 1.5 in real programs: gradients that are kept are also read and added to") \
  X(double, kZeroFillPessimism, 0.7, "of the ideal saving: no fills", "chosen") \
  X(std::int64_t, kPageableBytes, 4'000'000, "bytes per step", "less goes through the driver's staging at once") \
  X(double, kPageablePessimism, 0.6, "of the ideal saving: pinned copies", "the staging moves to a thread of the loader: as measured for loading that moves to workers") \
  X(double, kBroadcastPessimism, 0.5, "of the ideal saving: no broadcast of buffers", "chosen") \
  X(std::int64_t, kMinSmallCopies, 30, "copies below 64 KiB per step", "chosen; 15 in a healthy serving step") \
  X(double, kSmallCopyShare, 0.02, "of the window: small copies worth a finding", "chosen") \
  X(double, kCopyShare, 0.03, "of the window: exposed copies worth a finding", "chosen") \
  X(double, kLinkShare, 0.5, "of the rate that pinned copies reach on this link", "chosen: 0.36 to 0.52 in recordings with neighbours on the link") \
  X(double, kDeviceCopyShare, 0.08, "of compute time: copies inside the device", "16 to 20 % where each tensor is cloned") \
  X(std::int64_t, kMinCreated, 5, "tensors made on the host and moved, per step", "chosen") \
  X(double, kLayoutShare, 0.04, "of kernel time: changes of memory layout", "1.9 % at the border of a network, 13 and 26 % inside one") \
  X(double, kCastShare, 0.05, "of kernel time: casts", "chosen") \
  X(double, kBusyShare, 0.5, "of the window: a device that busy can gain from shorter kernels", "chosen") \
  X(double, kPointwiseShare, 0.25, "of kernel time: element-wise kernels and casts", "14 to 24.5 % in trainings, 46 % in an eager transformer") \
  X(double, kFusedLeast, 0.3, "of element-wise time saved by fusing, at least", "chosen") \
  X(double, kFusedMost, 0.7, "of element-wise time saved by fusing, at most", "chosen: a chain of k kernels saves (k-1)/k of its traffic") \
  X(double, kSmallGridShare, 0.5, "of kernel time: kernels with fewer blocks than multiprocessors", "2 to 16 % in trainings, 78 % in a small model") \
  X(double, kSmallGridSaving, 0.5, "of that time saved by larger grids, at most", "chosen") \
  X(std::int64_t, kMinSmallGrids, 50, "kernels", "chosen") \
  X(double, kFullestMemory, 0.85, "of device memory that a larger batch may use", "chosen") \
  X(double, kOwnKernelShare, 0.05, "of kernel time: one kernel of the program's own", "chosen") \
  X(double, kLowOccupancy, 0.25, "of a multiprocessor's threads", "matrix products run well at 12 to 25 %; occupancy alone is no fault") \
  X(double, kMinBlocks, 2, "blocks per multiprocessor: below, the grid is what is small", "chosen") \
  X(double, kOccupiedLeast, 1.1, "times: a kernel with more threads in flight, at least", "chosen") \
  X(double, kOccupiedMost, 1.5, "times: a kernel with more threads in flight, at most", "chosen") \
  X(double, kMaxWaves, 4, "rounds of tiles: with more the last one matters little", "chosen") \
  X(double, kEmptyWave, 0.3, "of the last round of tiles is filled", "chosen") \
  X(double, kSlowProduct, 0.6, "of the best rate of a product of the type", "chosen") \
  X(double, kFallbackShare, 0.05, "of kernel time: convolutions by fallback kernels", "12 % in a convolutional training without cudnn.benchmark") \
  X(double, kMeasuredKernel, 1.3, "times: the fastest kernel for a convolution, at most", "chosen") \
  X(double, kRecomputeShare, 0.10, "of kernel time: activations computed again", "chosen") \
  X(double, kRecomputeLeast, 0.2, "of that time: fewer blocks or operators computed again, at least", "chosen") \
  X(double, kRecomputeMost, 0.9, "of that time: fewer blocks or operators computed again, at most", "chosen") \
  X(std::int64_t, kMinEqualKernels, 20, "equal kernels per step", "chosen") \
  X(double, kDriftPace, 1.05, "times: equal kernels in the last third of the steps against the first", "chosen: kernels vary by at most 1.5 % in recorded steps") \
  X(double, kDriftingGroups, 0.7, "of groups of equal kernels slow down", "chosen") \
  X(double, kDriftPessimism, 0.5, "of the ideal saving: the clock stays up", "chosen") \
  X(double, kFragmentedShare, 0.3, "of reserved memory not allocated at the peak", "chosen") \
  X(std::int64_t, kFragmentedBytes, 1'000'000'000, "bytes reserved and not allocated", "chosen") \
  X(std::size_t, kGrowingSteps, 5, "steps in a row", "chosen") \
  X(std::int64_t, kGrowthBytes, 1'000'000, "bytes per step", "chosen") \
  X(double, kGrowthShare, 0.001, "of the peak per step", "chosen") \
  X(std::int64_t, kManyCollectives, 50, "collectives per step", "404 in a loop over parameters, 73 in tensor parallelism") \
  X(std::int64_t, kShortCollective, 50'000, "ns", "latency of a collective, not its transfer") \
  X(std::int64_t, kSmallMessage, 1'000'000, "bytes", "chosen") \
  X(double, kCollectiveShare, 0.03, "of the window: exposed or host time of small collectives", "2.4 % in tensor parallelism by design") \
  X(std::int64_t, kLargeMessage, 4'000'000, "bytes whose transfer time counts", "less is latency") \
  X(double, kSlowLinkShare, 0.25, "of the bus rate that the link should reach", "1 and 3 % where transfers leave the fabric") \
  X(double, kSlowLinkPessimism, 0.3, "of the time beyond the expected transfer", "chosen: part of it is waiting for other ranks") \
  X(double, kInformedShare, 0.05, "of the window: exposed communication worth a word", "chosen") \
  X(double, kLateReduction, 0.7, "of the backward pass is over when the first reduction starts", "chosen: 0 to 12 % with buckets") \
  X(double, kWaitedGathers, 0.5, "of the gathers' time is exposed", "chosen") \
  X(std::int64_t, kMinGathers, 5, "gathers per step", "chosen") \
  X(double, kMinDouble, 1.5, "times: single precision where memory limits", "half the bytes, not twice the speed") \
  X(double, kMaxDouble, 16, "times: single precision in matrix products", "chosen: 2 on data-centre devices, 32 to 64 on others") \
  X(double, kMaxDoubleOnCpu, 3, "times: single precision on a CPU", "twice the values in a vector and half the bytes; 2.2 measured in a stack of linear layers") \
  X(double, kProductShare, 0.03, "of kernel time: products of unfit sizes", "chosen") \
  X(double, kFarProductShare, 0.05, "of kernel time: one product far from its roof", "chosen") \
  X(double, kFarFromRoof, 0.4, "of the roof", "good products reach 59 to 68 %, small ones 11 to 28 %") \
  X(double, kNearRoofLeast, 0.6, "of the roof that a better kernel reaches, at least", "good products reach 59 to 68 %") \
  X(double, kNearRoofMost, 0.8, "of the roof that a better kernel reaches, at most", "chosen") \
  X(std::int64_t, kMinProducts, 10, "calls of one product in the recording", "chosen") \
  X(double, kOnUnitsLeast, 2, "times: half precision on matrix units, at least", "chosen") \
  X(double, kOnUnitsMost, 8, "times: half precision on matrix units, at most", "the ratio of the peaks of plain cores and matrix units is 8 to 16") \
  X(std::int64_t, kMaxScores, 256, "rows and columns of attention scores", "chosen: shorter ones fit into caches") \
  X(double, kDoubleShare, 0.01, "of kernel time: double precision", "chosen: consumer devices run it at 1/32 or 1/64") \
  X(double, kCommunicationShare, 0.10, "of the window: exposed communication worth a finding", "the TensorBoard plugin's limit") \
  X(double, kPlainCoreShare, 0.10, "of kernel time: matrix work on plain cores worth a finding", "17 to 67 % in fp32 trainings, at most 5 % in mixed precision") \
  X(double, kMinSpeedUp, 1.5, "times: lower precision where memory limits", "chosen") \
  X(double, kMaxSpeedUp, 3, "times: lower precision in matrix products", "chosen") \
  X(std::int64_t, kStepsToCompare, 5, "steps", "chosen: fewer have no spread") \
  X(double, kOutlierSpreads, 3.5 * 1.4826, "times the median distance from the median", "a usual test for outliers: 3.5 standard deviations of a normal spread") \
  X(double, kOutlierShare, 0.10, "of the median step", "chosen") \
  X(double, kSlowerOpsShare, 0.4, "of operator time in names that became 1.3 times slower", "0.47 in a step that lost its CPU, at most 0.18 in 30 other recorded steps") \
  X(double, kHostPace, 1.2, "times the median step's time per operator", "1.24 in a step that lost its CPU, at most 1.13 in others but first steps") \
  X(double, kSamePace, 0.03, "of the median step's time per kernel", "kernels vary by at most 1.5 % in recorded steps") \
  X(double, kContentionPessimism, 0.7, "of the ideal saving: no other load", "0.82 and more of it were gained in real and simulated programs; chosen: some load stays") \
  X(double, kPythonShare, 0.10, "of the window: idle while only Python runs", "interpreter work alone rarely exceeds it unless it is the limit") \
  X(double, kTopFrameShare, 0.20, "of that time in one line of the program", "chosen: below, no line is worth naming") \
  X(double, kPythonLeast, 0.3, "of a line's time: made cheaper", "chosen; times 1 less the recording's own cost") \
  X(double, kPythonMost, 0.9, "of a line's time: moved out of the loop", "chosen") \
  X(double, kBorderShare, 0.03, "of the window: idle between steps", "at most 0.011 in recorded loops without such a pause") \
  X(std::int64_t, kLongPause, 10'000'000, "ns: one pause in a place", "chosen") \
  X(double, kLongPauseShare, 0.2, "of the step: one pause in a place", "chosen") \
  X(std::int64_t, kLeftBehind, 60, "ns an operator of the step: between steps what it left is freed", "1.6 to 2.3 ms behind 44,000 operators of 1,000 layers, 1.1 to 1.6 of it to free their graph") \
  X(std::int64_t, kRecordedBorder, 1'000'000, "ns per step: less between steps is the loop itself and the profiler's step()", "0.2 to 0.6 ms in recorded programs on a CPU") \
  X(double, kBorderPessimism, 0.6, "of the ideal saving: work between steps made asynchronous or rarer", "0.67 and more of it were gained in real and simulated programs") \
  X(double, kPreprocessPessimism, 0.6, "of the ideal saving: tensor work moved into workers or onto the device", "0.78 and more of it were gained in real programs; chosen: workers slow the main process down, as for loading") \
  X(std::int64_t, kTinyKernel, 10'000, "ns: half of a loop's device events are shorter", "chosen: a launch costs about as much") \
  X(std::int64_t, kLayerWork, 100'000, "ns: device work of a round beyond which it is a layer", "chosen: a layer of a small model") \
  X(double, kLoopShare, 0.03, "of the window: idle inside loops of operators", "chosen") \
  X(double, kPausesOfLoop, 0.5, "of what the device does in a loop: pauses before its kernels", "chosen: 2 µs before kernels of 4 µs; 0.2 in layers of a small model") \
  X(double, kLoopPessimism, 0.5, "of the loop's idle time: rounds made half as many", "chosen") \
  X(double, kQueryShare, 0.01, "of the window: host time in queries of the runtime", "counts alone mislead: 1,434 queries a step cost 0.4 ms of 124") \
  X(double, kQueryPessimism, 0.5, "of the ideal saving: no such query", "chosen") \
  X(double, kCompileShare, 0.01, "of the window: host time in compilation", "chosen") \
  X(double, kCompilePessimism, 0.7, "of the ideal saving: no compilation behind the second step", "chosen") \
  X(std::int64_t, kManyPieces, 3, "compiled pieces per step", "chosen") \
  X(double, kBreakShare, 0.03, "of the window: late idle time of a step in pieces", "chosen") \
  X(double, kCompiledShare, 0.5, "of kernels that a compiler made", "chosen") \
  X(double, kGradLeast, 0.02, "of late idle time: no autograd graph", "chosen") \
  X(double, kGradMost, 0.15, "of late idle time: no autograd graph", "chosen") \
  X(std::int64_t, kRestart, 200'000'000, "ns: a wait for the first batch of new workers", "a worker with torch imported starts in 0.1 (fork) to 3 s (spawn)") \
  X(std::int64_t, kWorkersEnd, 1'000'000, "ns: the end of a loop that ends its workers, at least", "7 and 8 ms in recordings of workers of PyTorch 2.15, 0.07 to 0.13 ms where they persist") \
  X(double, kRestartTimes, 10, "times the median wait", "chosen") \
  X(std::int64_t, kWaitsToCompare, 8, "waits for data", "chosen: fewer have no pattern") \
  X(double, kBurstShare, 0.03, "of the window: exposed waits that come in bursts", "chosen") \
  X(double, kBurstMedian, 0.25, "of their mean: half of the waits that come in bursts are shorter", "0.1 in recordings of real workers, of which each batch takes 1 ms to fetch; 0.7 and more of late workers") \
  X(double, kBurstWait, 0.5, "of the step: the longest of waits that come in bursts", "chosen: workers disturbed for a moment are a quarter of a step late") \
  X(double, kBurstLeast, 0.3, "of the exposed waits: evened out in part", "chosen") \
  X(double, kBurstMost, 1, "of the exposed waits: evened out", "0.99 to 1.01 in simulated jobs with the same mean load") \
  X(std::int64_t, kStepsToTrust, 3, "steps for the word that nothing is wrong", "chosen") \
  X(std::int64_t, kWindowToTrust, 20'000'000, "ns: a single window for that word", "chosen") \
  X(double, kFineIdle, 0.10, "of the window: idle where nothing is wrong", "the bound test's limit") \
  X(double, kFineCommunication, 0.05, "of the window: exposed communication where nothing is wrong", "another tool's limit for a finding") \
  X(double, kFineCopy, 0.02, "of the window: exposed copies where nothing is wrong", "chosen") \
  X(double, kSureWorth, 0.01, "of the step: the least that a finding saves", "less is noise") \
  X(double, kPossibleWorth, 0.03, "of the step: the most that a finding saves", "chosen") \
  X(double, kCpuOperatorShare, 0.20, "of the recording in one operator, on the CPU alone", "chosen") \
  X(double, kMergedLeast, 0.7, "of the cost of small collectives: sent together in part", "0.70 and more of it were gained in real and simulated programs") \
  X(double, kHiddenLeast, 0.5, "of the exposed reduction that the backward pass could hide", "chosen") \
  X(double, kPrefetchLeast, 0.2, "of exposed gathers: prefetched in part", "chosen") \
  X(double, kPrefetchMost, 0.7, "of exposed gathers: prefetched", "chosen") \
  X(double, kWaitingShare, 0.03, "of the step: what a slow rank costs the others", "chosen: three times what ranks differ by chance") \
  X(double, kMostlyLast, 0.6, "of collectives: to these the same rank comes last", "chosen: of four ranks each comes last to a quarter by chance") \
  X(double, kWaitingPessimism, 0.5, "of a slow rank's cost: saved at least", "chosen") \
  X(double, kPacePessimism, 0.8, "of what the job gains in the replay without a slow rank: saved at least", "chosen: a replay gives mean steps, and the first one recorded is often longer") \
  X(double, kSameWork, 0.9, "of a slow rank's kernel time: in kernels that a usual rank runs as often", "chosen") \
  X(double, kSlowDevice, 1.03, "times: the same kernels on a slow device", "chosen: kernels vary by at most 1.5 % in recorded steps") \
  X(double, kEvenPace, 0.8, "of the time of these: longer by about the same factor", "chosen") \
  X(std::int64_t, kMicroBatches, 8, "micro-batches per stage, which leave a bubble of about a tenth", "(p-1)/(8p+p-1) is at most 1/9") \
  X(double, kBubbleShare, 0.10, "of the step: the bubble of a pipeline's stage", "chosen: as idle time is judged") \
  X(double, kBubbleFit, 0.3, "of the ideal bubble: what a bubble that few micro-batches explain differs from it at most", "chosen") \
  X(double, kHalvedLeast, 0.5, "of half the bubble: saved at least by twice as many micro-batches", "chosen: smaller kernels are less efficient") \
  X(double, kOverlapLeast, 0.2, "of exposed communication: hidden or shrunk, at least", "chosen") \
  X(double, kOverlapMost, 0.8, "of exposed communication: hidden or shrunk, at most", "chosen") \
  X(double, kFullSet, 0.9, "calls of a reduction per forward: gradients are reduced each time", "chosen: the last forward of a recording may be cut") \
  X(double, kCopyLeast, 0.3, "of the time of needless copies and casts: at least", "chosen") \
  X(double, kCopyMost, 0.9, "of the time of needless copies and casts: at most", "chosen") \
  X(double, kWaitingCalls, 0.8, "of the copies' time spent in their calls: the host waits for them", "chosen") \
  X(double, kLayoutLeast, 0.5, "of the time of changes of memory layout: at least", "chosen") \
  X(double, kBreakLeast, 0.3, "of late idle time of a step in pieces: at least", "chosen") \
  X(double, kBreakMost, 0.8, "of late idle time of a step in pieces: at most", "chosen") \
  X(double, kFusedAttentionLeast, 0.7, "of attention's time beside its products: fused, at least", "chosen") \
  X(double, kFusedProducts, 0.3, "of the time of attention's products: fused, at most", "chosen") \
  X(double, kMaxOfProduct, 0.5, "of a product's time: what most of its kernels do", "a majority") \
  X(double, kVisibleCost, 0.2, "of the window: the cost of recording that lowers confidence", "as capture health has it (Q05)") \
  X(std::int64_t, kMinSaving, 50'000, "ns per step: less is not shown", "not worth a reader's time") \
  X(double, kMinShare, 0.01, "of the step: less is not shown", "not worth a reader's time") \
  X(double, kExactError, 0.02, "of the replayed length: above it confidence falls", "chosen") \
  X(double, kTwoRecordings, 2.77, "standard errors between the means of two recordings of one program", "1.96 × √2: 95 % of normal differences") \
  X(double, kMaxWidening, 0.02, "of a saving: its range is wider by at most this where steps vary", "chosen: beyond, the spread of the steps is what to look at") \
  X(double, kSavesLater, 2, "times what a change saves as it is: what it must save once others are done to stand behind them", "chosen") \
  X(double, kNearLimit, 0.9, "of the step: who needs as much limits it, or nearly does", "chosen") \
  X(double, kMaxUnlinked, 0.10, "of the window's device events without their launch: above it no replay", "chosen: such work cannot move") \
  X(double, kMemoryShare, 0.90, "of device memory", "the TensorBoard plugin's limit")
// clang-format on

#define STEPSCOPE_DEFINE(type, name, value, meaning, source) inline constexpr type name = value;
STEPSCOPE_ADVICE_CONSTANTS(STEPSCOPE_DEFINE)
#undef STEPSCOPE_DEFINE

struct Constant {
  std::string_view name;
  double value;
  std::string_view meaning, source;
};

#define STEPSCOPE_ROW(type, name, value, meaning, source) \
  {#name, static_cast<double>(value), meaning, source},
inline constexpr Constant kConstants[] = {STEPSCOPE_ADVICE_CONSTANTS(STEPSCOPE_ROW)};
#undef STEPSCOPE_ROW

}  // namespace stepscope::advise
