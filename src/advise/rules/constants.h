// Every threshold and range of the rules, with its meaning and its source; docs/advice.md prints the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "analyze/steps/long_steps.h"

namespace stepscope::advise {

// X(type, name, value, meaning with unit, source)
// clang-format off
#define STEPSCOPE_ADVICE_CONSTANTS(X) \
  X(double, kLoaderShare, 0.05, "of the window: loading worth a finding", "the TensorBoard plugin's limit; below it a worker's queue costs as much as it saves") \
  X(double, kWorkerPessimism, 0.6, "of the ideal saving: loading moves to workers", "measured in a pair of runs: num_workers 0 to 4 gained 36.5 of 59 ms") \
  X(std::int64_t, kQueueFetch, 1'500'000, "ns: taking a batch from workers that are ready, at most", "0.99 to 1.30 ms on average in six recordings of real workers that keep up") \
  X(double, kMostOfCores, 0.7, "of the machine's cores, used by loader workers: no more workers fit", "chosen: the training process needs the rest") \
  X(double, kSomeOfWait, 0.5, "of the wait for a batch, in which a worker loads it: handing it over takes most", "chosen: half") \
  X(double, kStarvedPessimism, 0.7, "of the ideal saving: more workers", "0.93 or more of it was gained in real and simulated programs; chosen: the cores may be used up") \
  X(double, kSyncPessimism, 0.5, "of the ideal saving: waits removed", "chosen: half of the reads can go; simulated jobs without reads gained 0.94 to 1 of it, since replay keeps the wait of the next read") \
  X(double, kSlowedToo, 1.2, "times the wait, pause or disturbance seen on the CPU: saved at most", "0.97 in the median of 48 pairs of real runs, above 1.2 in three: the work around it may be slower too") \
  X(double, kScalarShare, 0.02, "of the window: idle time in and after reads of values", "one read per step costs 20 to 500 µs; this keeps it out") \
  X(std::int64_t, kManyWaits, 10, "waits per step: about one per layer", "chosen") \
  X(double, kSyncShare, 0.03, "of the window: idle time in and after explicit waits", "2.6 % in an inference server that has to return its results") \
  X(double, kShapeShare, 0.01, "of the window: idle time in and after waits for the size of a result", "chosen") \
  X(double, kToHostShare, 0.02, "of the window: idle time in and after copies to the host", "chosen") \
  X(std::int64_t, kToHostBytes, 1'000'000, "bytes per step in copies to the host that wait", "chosen") \
  X(double, kAllocationPessimism, 0.5, "of the ideal saving: allocations removed", "chosen") \
  X(double, kAllocationShare, 0.01, "of the window: idle time in allocations worth a finding", "a warm caching allocator makes none") \
  X(std::int64_t, kLeakBytes, 16'384, "bytes per step: growth of one place worth a finding", "chosen: 16 GiB after a million steps; below it, scalars that a program logs") \
  X(double, kLeakChance, 0.02, "chance of such a rise without a trend, at most", "five rising steps have 0.014 by the normal approximation") \
  X(double, kChurnSteps, 0.5, "of the steps after the warm-up: take segments and return some", "chosen: half; a settled program has none") \
  X(std::int64_t, kLeakMore, 3, "more allocations in the last step than in the first: memory of a place grows", "a leak in each second of eight steps") \
  X(std::int64_t, kManyRetries, 3, "in the steps after the warm-up: cached memory was flushed to go on", "chosen: each flush makes the next steps take all segments again") \
  X(double, kPendingShare, 0.1, "of the peak: memory that waited for other streams, worth a remedy", "chosen") \
  X(double, kLongStep, 2, "times the peak of usual steps: one step needs far more", "chosen: batches of usual lengths differ by less") \
  X(double, kUsualSteps, 0.8, "of the steps: their peaks are usual", "chosen: one step of five may evaluate") \
  X(double, kCachedShare, 2, "times the peak of what tensors asked for: reserved memory worth a finding", "1.1 to 1.5 in recorded programs") \
  X(std::int64_t, kSmallDevice, 7'000'000'000, "bytes: less than devices that train have", "the smallest in use have 8 GB") \
  X(double, kSpikeShare, 0.2, "of the peak: what one place alone adds to it", "chosen: less does not change which batch fits") \
  X(double, kSpikeMean, 0.1, "of what a place holds at the peak: its mean, if it is a spike", "chosen: activations, which live for half a step on average, hold a third or more") \
  X(double, kPromptShare, 0.5, "of kernels: start within 10 µs of their launch", "57 to 97 % in recordings bound by launches, at most 21 % in others") \
  X(std::int64_t, kMinKernels, 20, "kernels per step", "chosen") \
  X(double, kLateIdleShare, 0.10, "of the window: idle because the host had not launched yet", "chosen") \
  X(double, kGraphPessimism, 0.3, "of the remaining late idle time: launches partly captured or compiled", "chosen") \
  X(double, kGraphShare, 0.9, "of the remaining late idle time: launches captured as a graph", "chosen: one call launches the step") \
  X(std::int64_t, kManyLaunches, 100, "launches per optimizer step", "404 and 483 in loops, 1 to 9 in multi-tensor optimizers") \
  X(double, kSureLoading, 0.15, "of the window: loading on a CPU that workers would surely hide", "6 to 11 % in healthy programs of bench/unseen, 32 % and more where loading was the fault") \
  X(double, kSureRecording, 0.5, "of the estimated cost of recording: really spent, at least", "0.9 of 1.2 µs per operator in a loop of 21,212 per step, measured with and without recording") \
  X(std::int64_t, kShortKernel, 20'000, "ns: a short kernel or operator", "a launch takes as long") \
  X(std::int64_t, kManyFills, 20, "fills per zero_grad; bucket copies per step", "none when gradients are set to None") \
  X(double, kMultiTensorLeast, 0.5, "of an optimizer's loop: saved by updating many parameters at once, at least", "chosen") \
  X(double, kMultiTensorOnCpuLeast, 0.25, "of an optimizer's loop on a CPU, where a fused optimizer still computes: saved at least", "0.27 and 0.39 measured by stepscope try on the mended stamp_pairs and tile_defects of bench/unseen") \
  X(std::int64_t, kManyGroups, 8, "parameter groups: worth merging", "chosen") \
  X(double, kMultiTensorMost, 0.85, "of an optimizer's loop: saved by updating many parameters at once, at most", "chosen: 30 launches for 400 parameters, and their host work") \
  X(double, kOptimizerShare, 0.05, "of the window: the optimizer, where only a CPU works", "3 to 4 % in small programs that are healthy") \
  X(double, kZeroFillMost, 1.4, "of the fills' time on the CPU: saved at most", "1.0 to 1.5 in real programs: gradients that are kept are also read and added to") \
  X(double, kZeroFillPessimism, 0.7, "of the ideal saving: fills removed", "chosen") \
  X(std::int64_t, kPageableBytes, 4'000'000, "bytes per step from pageable memory", "smaller copies go through the driver's staging buffer at once") \
  X(double, kPageablePessimism, 0.6, "of the ideal saving: pinned copies", "staging moves to a thread of the loader: as measured for loading that moves to workers") \
  X(double, kBroadcastPessimism, 0.5, "of the ideal saving: broadcasts of buffers removed", "chosen") \
  X(std::int64_t, kMinSmallCopies, 30, "copies below 64 KiB per step", "chosen; 15 in a healthy serving step") \
  X(double, kSmallCopyShare, 0.02, "of the window: small copies worth a finding", "chosen") \
  X(double, kCopyShare, 0.03, "of the window: exposed copies worth a finding", "chosen") \
  X(double, kLinkShare, 0.5, "of the rate that pinned copies reach on this link", "chosen: 0.36 to 0.52 in recordings with neighbours on the link") \
  X(double, kDeviceCopyShare, 0.08, "of compute time: copies inside the device", "16 to 20 % where each tensor is cloned") \
  X(std::int64_t, kMinCreated, 5, "tensors made on the host and moved, per step", "chosen") \
  X(double, kLayoutShare, 0.04, "of compute time: changes of memory layout", "1.9 % at the border of a network, 13 and 26 % inside networks") \
  X(double, kCastShare, 0.05, "of compute time: casts", "chosen") \
  X(double, kBusyShare, 0.5, "of the window: a device this busy gains from shorter kernels", "chosen") \
  X(double, kPointwiseShare, 0.25, "of compute time: element-wise kernels and casts", "14 to 24.5 % in training, 46 % in an eager transformer") \
  X(double, kFusedLeast, 0.3, "of element-wise time saved by fusing, at least", "chosen") \
  X(double, kFusedMost, 0.7, "of element-wise time saved by fusing, at most", "chosen: a chain of k kernels saves (k-1)/k of its traffic") \
  X(double, kSmallGridShare, 0.5, "of compute time: kernels with fewer blocks than multiprocessors", "2 to 16 % in training, 78 % in a small model") \
  X(double, kSmallGridSaving, 0.5, "of the time on small grids: saved by larger grids, at most", "chosen") \
  X(std::int64_t, kMinSmallGrids, 50, "kernels", "chosen") \
  X(double, kFullestMemory, 0.85, "of device memory that a change may fill", "chosen") \
  X(double, kOwnKernelShare, 0.05, "of compute time: one kernel of the program itself", "chosen") \
  X(double, kLowOccupancy, 0.25, "of a multiprocessor's threads", "matrix products run well at 12 to 25 %; low occupancy alone is no fault") \
  X(double, kMinBlocks, 2, "blocks per multiprocessor: below it, the grid is too small", "chosen") \
  X(double, kOccupiedLeast, 1.1, "times as fast: a kernel with more threads in flight, at least", "chosen") \
  X(double, kOccupiedMost, 1.5, "times as fast: a kernel with more threads in flight, at most", "chosen") \
  X(double, kMaxWaves, 4, "rounds of tiles: with more, the last one matters little", "chosen") \
  X(double, kEmptyWave, 0.3, "of the last round of tiles: below it, the round is nearly empty", "chosen") \
  X(double, kSlowProduct, 0.6, "of the best rate among products of the same type", "chosen") \
  X(double, kFallbackShare, 0.05, "of compute time: convolutions by fallback kernels", "12 % in convolutional training without cudnn.benchmark") \
  X(double, kMeasuredKernel, 1.3, "times as fast: the fastest kernel for a convolution, at most", "chosen") \
  X(double, kRecomputeShare, 0.10, "of compute time: recomputed activations", "chosen") \
  X(double, kRecomputeLeast, 0.2, "of the time of recomputation: saved by recomputing less, at least", "chosen") \
  X(double, kRecomputeOnCpuLeast, 0.6, "of the time of recomputation on a CPU: saved by recomputing nothing, at least", "chosen: kept activations have to be read from memory") \
  X(double, kRecomputeOnCpuMost, 1.2, "of the time of recomputation on a CPU: saved by recomputing nothing, at most", "as kSlowedToo: the modules and Python around the operators go, too") \
  X(double, kAgainShare, 0.05, "of the window: nodes of the backward pass that go through an operator again", "a backward pass per loss costs much more") \
  X(double, kAgainLeast, 0.6, "of the time of repeated nodes: saved by one backward pass, at least", "chosen: the one pass adds the gradients of all losses first") \
  X(double, kMaxDeeper, 0.02, "of nodes: belong to gradients of gradients; above it, repeated nodes are needed", "0 where no graph of a gradient is made") \
  X(double, kRecomputeMost, 0.9, "of the time of recomputation: saved by recomputing less, at most", "chosen") \
  X(std::int64_t, kMinEqualKernels, 20, "equal kernels per step", "chosen") \
  X(double, kDriftPace, 1.05, "times as long: equal kernels in the last third of the steps against the first", "chosen: kernels vary by at most 1.5 % in recorded steps") \
  X(double, kDriftingGroups, 0.7, "of groups of equal kernels: slow down", "chosen") \
  X(double, kDriftPessimism, 0.5, "of the ideal saving: the clock stays up", "chosen") \
  X(double, kFragmentedShare, 0.3, "of reserved memory: not allocated at the peak", "chosen") \
  X(std::int64_t, kFragmentedBytes, 1'000'000'000, "bytes reserved but not allocated", "chosen") \
  X(std::size_t, kGrowingSteps, 5, "steps in a row", "chosen") \
  X(std::int64_t, kGrowthBytes, 1'000'000, "bytes of growth per step", "chosen") \
  X(double, kKeptInFunction, 0.8, "of the bytes never freed: made in one function", "chosen") \
  X(double, kGrowthShare, 0.001, "of the peak: growth per step", "chosen") \
  X(std::int64_t, kManyCollectives, 50, "collectives per step", "404 in a loop over parameters, 73 in tensor parallelism") \
  X(std::int64_t, kShortCollective, 50'000, "ns: a short collective", "the latency of a collective, not its transfer") \
  X(std::int64_t, kSmallMessage, 1'000'000, "bytes: a small message", "chosen") \
  X(double, kCollectiveShare, 0.03, "of the window: small collectives, exposed or on the host", "2.4 % in tensor parallelism by design") \
  X(std::int64_t, kLargeMessage, 4'000'000, "bytes: a message whose transfer time counts", "smaller messages are latency") \
  X(double, kSlowLinkShare, 0.25, "of the bus rate that the link should reach", "1 and 3 % where transfers leave the fabric") \
  X(double, kSlowLinkPessimism, 0.3, "of the time beyond the expected transfer: saved at least", "chosen: part of it is waiting for other ranks") \
  X(double, kInformedShare, 0.05, "of the window: exposed communication worth mentioning", "chosen") \
  X(double, kLateReduction, 0.7, "of the backward pass: over when the first reduction starts", "chosen: 0 to 12 % with buckets") \
  X(double, kWaitedGathers, 0.5, "of the gathers' time: exposed", "chosen") \
  X(std::int64_t, kMinGathers, 5, "gathers per step", "chosen") \
  X(double, kMinDouble, 1.5, "times as fast: single precision where memory limits", "half the bytes, not twice the speed") \
  X(double, kMaxDouble, 16, "times as fast: single precision in matrix products", "chosen: 2 on data-centre devices, 32 to 64 on others") \
  X(double, kMaxDoubleOnCpu, 3, "times as fast: single precision on a CPU", "twice the values in a vector and half the bytes; 2.2 measured in a stack of linear layers") \
  X(double, kProductShare, 0.03, "of compute time: products worth a finding", "chosen") \
  X(double, kFarProductShare, 0.05, "of compute time: one product far from its roof", "chosen") \
  X(double, kFarFromRoof, 0.4, "of the roof: below it, a product is far from it", "good products reach 59 to 68 %, small ones 11 to 28 %") \
  X(double, kNearRoofLeast, 0.6, "of the roof: what a better kernel reaches, at least", "good products reach 59 to 68 %") \
  X(double, kNearRoofMost, 0.8, "of the roof: what a better kernel reaches, at most", "chosen") \
  X(std::int64_t, kMinProducts, 10, "calls of one product in the recording", "chosen") \
  X(double, kOnUnitsLeast, 2, "times as fast: half precision on matrix units, at least", "chosen") \
  X(double, kOnUnitsMost, 8, "times as fast: half precision on matrix units, at most", "the peak of matrix units is 8 to 16 times that of plain cores") \
  X(std::int64_t, kMaxScores, 256, "rows and columns of attention scores", "chosen: smaller scores fit into caches") \
  X(double, kDoubleShare, 0.01, "of compute time: double precision", "chosen: consumer devices run it at 1/32 or 1/64") \
  X(double, kCommunicationShare, 0.10, "of the window: exposed communication worth a finding", "the TensorBoard plugin's limit") \
  X(double, kPlainCoreShare, 0.10, "of compute time: matrix work on plain cores worth a finding", "17 to 67 % in fp32 training, at most 5 % in mixed precision") \
  X(double, kMinSpeedUp, 1.5, "times as fast: lower precision where memory limits", "chosen") \
  X(double, kMaxSpeedUp, 3, "times as fast: lower precision in matrix products", "chosen") \
  X(std::int64_t, kStepsToCompare, analyze::kStepsToCompare, "steps", "chosen: fewer have no spread") \
  X(double, kOutlierSpreads, analyze::kLongSpreads, "times the median distance from the median", "a usual test for outliers: 3.5 standard deviations of a normal spread") \
  X(double, kOutlierShare, analyze::kLongShare, "of the median step", "chosen") \
  X(double, kSlowerOpsShare, 0.4, "of operator time: operators that take 1.3 times as long or longer", "0.47 in a step that lost its CPU, at most 0.18 in 30 other recorded steps") \
  X(double, kHostPace, 1.2, "times the median step's time per operator", "1.24 in a step that lost its CPU, at most 1.13 in others except first steps") \
  X(double, kSamePace, 0.03, "of the median step's time per kernel", "kernels vary by at most 1.5 % in recorded steps") \
  X(double, kContentionShare, 0.03, "of the window: what other load costs", "1 to 2 % in healthy programs on a machine with other jobs") \
  X(double, kPythonShare, 0.10, "of the window: idle while only Python runs", "interpreter work alone rarely exceeds it unless it is the limit") \
  X(double, kTopFrameShare, 0.20, "of the idle time while only Python runs: in one line of the program", "chosen: below it, no line is worth naming") \
  X(double, kPythonLeast, 0.3, "of a line's time: saved by making it cheaper", "chosen; times (1 − recording's share)") \
  X(double, kPythonMost, 0.9, "of a line's time: saved by moving it out of the loop", "chosen") \
  X(double, kBorderShare, 0.03, "of the window: idle between steps", "at most 0.011 in recorded loops without such a pause") \
  X(std::int64_t, kLongPause, 10'000'000, "ns: one pause at a place", "chosen") \
  X(double, kLongPauseShare, 0.2, "of the step: one pause at a place", "chosen") \
  X(std::int64_t, kLeftBehind, 60, "ns per operator: to free, between steps, what the step left", "1.6 to 2.3 ms after 44,000 operators of 1,000 layers, 1.1 to 1.6 ms of it to free their graph") \
  X(std::int64_t, kRecordedBorder, 1'000'000, "ns per step: a shorter pause between steps is the loop itself and the profiler's step()", "0.2 to 0.6 ms in recorded programs on a CPU") \
  X(double, kBorderPessimism, 0.6, "of the ideal saving: work between steps made asynchronous or rarer", "0.67 or more of it was gained in real and simulated programs") \
  X(double, kPreprocessPessimism, 0.6, "of the ideal saving: tensor work moved into workers or onto the device", "0.78 or more of it was gained in real programs; chosen: workers slow the main process down, as for loading") \
  X(std::int64_t, kTinyKernel, 10'000, "ns: the median device event of a loop is shorter", "chosen: a launch costs about as much") \
  X(std::int64_t, kLayerWork, 100'000, "ns of work per round: more is a layer, not a loop", "chosen: a layer of a small model") \
  X(double, kLoopShare, 0.03, "of the window: idle inside loops of operators", "chosen") \
  X(double, kPausesOfLoop, 0.5, "of device work in a loop: pauses before its kernels", "chosen: 2 µs before kernels of 4 µs; 0.2 in layers of a small model") \
  X(double, kLoopPessimism, 0.5, "of a loop's time: saved by halving its rounds", "chosen") \
  X(double, kQueryShare, 0.01, "of the window: host time in queries of the runtime", "counts alone mislead: 1,434 queries per step cost 0.4 ms of 124") \
  X(double, kQueryPessimism, 0.5, "of the ideal saving: queries removed", "chosen") \
  X(double, kCompileShare, 0.01, "of the window: host time in compilation", "chosen") \
  X(double, kCompilePessimism, 0.7, "of the ideal saving: no compilation after the second step", "chosen") \
  X(std::int64_t, kManyPieces, 3, "compiled pieces per step", "chosen") \
  X(double, kBreakShare, 0.03, "of the window: late idle time of a program compiled in pieces", "chosen") \
  X(double, kCompiledShare, 0.5, "of kernels: made by a compiler", "chosen") \
  X(double, kGradLeast, 0.02, "of late idle time: saved without an autograd graph, at least", "chosen") \
  X(double, kGradMostOnCpu, 0.35, "of the step where only a CPU works: saved without an autograd graph, at most", "0.31 of small linear layers and 0.26 of an LSTM measured, nothing of convolutions") \
  X(double, kFastPathMost, 0.7, "of the same with attention: saved at most", "0.69 of ticket_service in bench/unseen, whose nn.TransformerEncoder then skips the padding") \
  X(double, kGradMost, 0.15, "of late idle time: saved without an autograd graph, at most", "chosen") \
  X(std::int64_t, kRestart, 200'000'000, "ns: a wait for the first batch of new workers", "a worker with torch imported starts in 0.1 (fork) to 3 s (spawn)") \
  X(std::int64_t, kWorkersEnd, 1'000'000, "ns: the end of a loop that ends its workers, at least", "7 and 8 ms in recordings with workers of PyTorch 2.15, 0.07 to 0.13 ms where workers persist") \
  X(double, kRestartTimes, 10, "times the median wait", "chosen") \
  X(std::int64_t, kWaitsToCompare, 8, "waits for data", "chosen: fewer have no pattern") \
  X(double, kBurstShare, 0.03, "of the window: exposed waits that come in bursts", "chosen") \
  X(double, kBurstMedian, 0.25, "of the mean wait: half of the waits that come in bursts are shorter", "0.1 in recordings of real workers that need 1 ms to fetch each batch; 0.7 or more with late workers") \
  X(double, kBurstWait, 0.5, "of the step: the longest wait, where waits come in bursts", "chosen: workers disturbed for a moment are a quarter of a step late") \
  X(double, kEvenLoad, 1.5, "of the median load of a batch: nine of ten batches take no longer, so they are even", "chosen: workers share the cores with each other and with the program") \
  X(double, kBurstLeast, 0.3, "of the exposed waits: saved if they are partly evened out", "chosen") \
  X(double, kBurstMost, 1, "of the exposed waits: saved if they are evened out", "0.99 to 1.01 in simulated jobs with the same mean load") \
  X(std::int64_t, kStepsToTrust, 3, "steps needed for the verdict that nothing is wrong", "chosen") \
  X(std::int64_t, kWindowToTrust, 20'000'000, "ns: the window needed for that verdict where at most one step is complete", "chosen") \
  X(double, kFineIdle, 0.10, "of the window: idle at most where nothing is wrong", "the bound test's limit") \
  X(double, kFineCommunication, 0.05, "of the window: exposed communication at most where nothing is wrong", "another tool's limit for a finding") \
  X(double, kFineCopy, 0.02, "of the window: exposed copies at most where nothing is wrong", "chosen") \
  X(double, kSureWorth, 0.01, "of the step: the low end of a saving worth acting on", "less is noise") \
  X(double, kPossibleWorth, 0.03, "of the step: the high end of a saving worth acting on", "chosen") \
  X(double, kCpuOperatorShare, 0.20, "of the recording: one operator, where only a CPU works", "chosen") \
  X(double, kWorkMost, 1.2, "of the work of one line, where only a CPU works: saved at most", "0.4 to 1.4 in fifteen programs of bench/unseen whose fault was such a line; as kSlowedToo") \
  X(double, kCollectingShare, 0.02, "of the step: garbage collections", "chosen: half of what a trial of `stepscope try` tells from noise") \
  X(double, kOutlierWorth, 0.02, "of the step: outliers spread over all steps, where only a CPU works", "chosen: a busy machine makes one step in fifty 30 % longer") \
  X(double, kHole, 0.10, "of the window: idle time that the report must explain", "another tenth of a step is worth a look, as in the bound test") \
  X(double, kOwnShare, 0.10, "of the window: a line of the program besides the model", "chosen: the verdict leaves no hole above a tenth") \
  X(double, kMostOfCost, 0.6, "of a cost: held by one called line, which is then the place", "chosen") \
  X(double, kMuchOfCost, 0.3, "of a cost: held by one called line, which is worth naming", "chosen") \
  X(double, kWholeProgram, 0.75, "of the window: held by one call, which is then the program rather than a part of it", "chosen: the lines below it are named instead") \
  X(double, kSomeOfCost, 0.1, "of a cost: held by one called line, which is then listed", "chosen: at most three are listed") \
  X(double, kClearlyMore, 1.25, "times the dearest line's cost: what the lines of another function hold, which is then named", "chosen; 1.4 in forum_bots of bench/unseen") \
  X(double, kUnreadShare, 0.05, "of the elements of all gradients: in no optimizer", "chosen") \
  X(double, kCrossedShare, 0.02, "of the window: work on results of N × N elements where N were meant", "as kScalarShare: a small part is not worth a finding") \
  X(std::int64_t, kMostBroadcasts, 8, "per step: more are the program's own", "DistributedDataParallel joins a model's buffers into one broadcast per data type") \
  X(double, kScatteredShare, 0.02, "of the window: picking rows from columns", "as kScalarShare: a small part is not worth a finding") \
  X(double, kSlicesShare, 0.02, "of the window: copying the gradients of slices", "as kScatteredShare") \
  X(double, kSlicesLeast, 0.5, "of that time: saved at least", "0.78 of it was saved in river_gauges of bench/unseen; parts in a list have a gradient to stack, too") \
  X(double, kScatteredLeast, 0.5, "of that time: saved at least", "0.68 and 0.74 of it were saved in turbine_wear and heat_pumps of bench/unseen, on a busy machine") \
  X(double, kScatteredMost, 0.95, "of that time: saved at most", "chosen: the rows still have to be read") \
  X(double, kMuchUnpacking, 0.5, "of the wait for data: unpacking tensors of workers", "half; jet_tagger of bench/unseen, faulty, 0.99, mended, less than 0.1") \
  X(std::int64_t, kManyTensors, 16, "tensors per batch: worth joining", "chosen; jet_tagger and orchard_fruit of bench/unseen send 192 and 160") \
  X(double, kParametrizedShare, 0.05, "of the window: computing parametrized weights", "measured: 0.02 where it is done once per step, 0.15 and 0.22 at each moment (turbine_flow, verse_chars of bench/unseen)") \
  X(double, kParametrizedLeast, 1.0, "of that time: saved at least", "the backward pass goes through each computation, too; one of them per pass stays") \
  X(double, kParametrizedMost, 4.5, "of that time: saved at most, as the backward pass through it takes longer", "2.1 to 4.3 times were saved in verse_chars, turbine_flow, tide_gauge and town_load of bench/unseen") \
  X(double, kFftShare, 0.02, "of the window: Fourier transforms of an awkward length", "as kScatteredShare") \
  X(double, kFftLeast, 0.5, "of that time: saved at least by another length", "measured: at a prime factor of 67, a point took 3.4 times as long (bench/fft_lengths.py); fast lengths need up to a tenth more points") \
  X(double, kFftMost, 0.95, "of that time: saved at most", "measured: at a prime factor of 2,311, a point took 14 times as long (bench/fft_lengths.py)") \
  X(double, kCrossedLeast, 0.8, "of that work: saved at least", "what is left has N of N × N elements; operators that only look alike may be wanted") \
  X(double, kPaddingShare, 0.25, "of the elements of padded batches: padding", "0.61 in batches drawn at random, 0.02 in batches by length (saga_words in bench/unseen)") \
  X(double, kPaddingLeast, 0.4, "of that share of the forward and the backward pass: saved at least", "0.71 in saga_words: batches by length are never without padding") \
  X(double, kSharedLeast, 0.7, "of the part of the forward and the backward pass for padding in whole columns: saved at least", "0.92 in tenant_letters, 0.98 in advert_scorer of bench/unseen; other work of the passes does not shrink") \
  X(double, kInputMost, 0.5, "of the backward pass for gradients of tensors that are no parameters: saved at most", "the first layer's pass makes two products, one of them for its input") \
  X(double, kUnreadLeast, 0.2, "of the backward pass for gradients that nobody reads: saved at least", "chosen: the pass through these layers goes on if layers below them are trained") \
  X(double, kTouchedMost, 0.25, "of an embedding's rows: with a gradient, where a sparse one is worth it", "chosen") \
  X(double, kSparseLeast, 0.5, "of the cost of rows without a gradient: saved by sparse gradients, at least", "chosen") \
  X(double, kTracingLeast, 0.8, "of the time in which stacks are formatted: saved at least", "nothing else formats them in a step") \
  X(double, kAnomalyMost, 0.85, "of the forward and the backward pass under anomaly detection: saved at most", "0.85 of it was gained in a program of many small operators") \
  X(double, kGrowth, 1.5, "times as long in the last third of the recording as in the first: grows", "chosen") \
  X(double, kCallingShare, 0.5, "of the window: short operators one after another", "chosen") \
  X(std::int64_t, kManyShort, 1000, "short operators in the recording", "chosen: fewer may be a start that is not repeated") \
  X(std::int64_t, kCallAlone, 10'000, "ns: a short operator that does little besides being called", "1.7 to 4.2 µs each in loops over elements of bench/unseen, 19 µs in a healthy program of small layers") \
  X(double, kShortLeast, 0.3, "of the time of short operators: saved at least", "chosen") \
  X(double, kShortMost, 0.95, "of the time of short operators: saved at most", "chosen") \
  X(double, kMergedLeast, 0.7, "of the cost of small collectives: saved if they are partly merged", "0.70 or more of it was gained in real and simulated programs") \
  X(double, kHiddenLeast, 0.5, "of the exposed reduction that the backward pass could hide: hidden at least", "chosen") \
  X(double, kPrefetchLeast, 0.2, "of exposed gathers: saved if they are partly prefetched", "chosen") \
  X(double, kPrefetchMost, 0.7, "of exposed gathers: saved if they are prefetched", "chosen") \
  X(double, kWaitingShare, 0.03, "of the step: what a slow rank costs the others", "chosen: three times what ranks differ by chance") \
  X(double, kMoreTogether, 1.25, "times the cost of the slowest rank: what several cost together, to be named", "chosen") \
  X(double, kWaitingOnCpuShare, 0.06, "of the step: what a late rank costs the others where only CPUs work", "measured: 0.05 by chance in molecule_energy and wind_sites of bench/unseen, whose ranks share two cores") \
  X(double, kLateWaits, 0.5, "of the shortest wait of the others: what a late rank waits itself at most", "by chance, ranks of equal work wait equally long") \
  X(double, kExplainedWait, 0.25, "of that wait: a phase in which the late rank exceeds this one explains it", "the backward pass, which cannot be compared, takes about twice the forward pass") \
  X(double, kWaitingPessimism, 0.5, "of a slow rank's cost: saved at least", "chosen") \
  X(double, kPacePessimism, 0.8, "of the job's gain in a replay without the slow rank: saved at least", "chosen: a replay gives mean steps, and the first one recorded is often longer") \
  X(double, kSameWork, 0.9, "of a slow rank's kernel time: kernels that a usual rank runs as often", "chosen") \
  X(double, kSlowDevice, 1.03, "times as long: the same kernels on a slow device", "chosen: kernels vary by at most 1.5 % in recorded steps") \
  X(double, kEvenPace, 0.8, "of the time of these kernels: longer by about the same factor", "chosen") \
  X(std::int64_t, kMicroBatches, 8, "micro-batches per stage: they leave a bubble of about a tenth", "(p-1)/(8p+p-1) is at most 1/9") \
  X(double, kBubbleShare, 0.10, "of the step: the bubble of a pipeline's stage", "chosen: as for idle time") \
  X(double, kUnevenStages, 0.10, "of the mean compute of a pipeline's stages: one of them computes more than that", "chosen: stages of equal layers differ by 1 % in simulated pipelines") \
  X(double, kWholeLayers, 0.25, "of the mean compute of a pipeline's stages: less cannot be moved for sure, as layers are moved whole", "chosen: four layers per stage") \
  X(double, kMovedLeast, 0.5, "of the ideal saving of balanced stages: saved at least", "chosen: layers are moved whole") \
  X(double, kBubbleFit, 0.3, "of the ideal bubble: how far a bubble due to few micro-batches may differ from it", "chosen") \
  X(double, kHalvedLeast, 0.5, "of half the bubble: saved by twice as many micro-batches, at least", "chosen: smaller kernels are less efficient") \
  X(double, kOverlapLeast, 0.2, "of exposed communication: hidden or shrunk, at least", "chosen") \
  X(double, kOverlapMost, 0.8, "of exposed communication: hidden or shrunk, at most", "chosen") \
  X(double, kFullSet, 0.9, "calls of a reduction per forward: from here on, gradients are reduced each time", "chosen: the last forward of a recording may be cut") \
  X(double, kCopyLeast, 0.3, "of the time of needless copies and casts: saved at least", "chosen") \
  X(double, kCopyMost, 0.9, "of the time of needless copies and casts: saved at most", "chosen") \
  X(double, kWaitingCalls, 0.8, "of the copies' time: spent in their calls if the host waits for them", "chosen") \
  X(double, kLayoutLeast, 0.5, "of the time of layout changes: saved at least", "chosen") \
  X(double, kBreakLeast, 0.3, "of late idle time of a program compiled in pieces: saved at least", "chosen") \
  X(double, kBreakMost, 0.8, "of late idle time of a program compiled in pieces: saved at most", "chosen") \
  X(double, kFusedAttentionLeast, 0.7, "of attention's time outside its products: saved by fusing, at least", "chosen") \
  X(double, kFusedProducts, 0.3, "of the time of attention's products: saved by fusing, at most", "chosen") \
  X(double, kMaxOfProduct, 0.5, "of a product's time: above it, plain cores or small grids count for the whole product", "a majority") \
  X(double, kVisibleCost, 0.2, "of the window: a cost of recording that lowers confidence", "the limit of capture health (Q05)") \
  X(std::int64_t, kMinSaving, 50'000, "ns per step: less is not shown", "not worth a reader's time") \
  X(double, kMuchShare, 0.05, "of the step: the middle of an estimate that comes before H10", "more than the noise of a step, 1 to 3 %; in the first looks of bench/unseen, H10 was right where no such estimate was found") \
  X(double, kMinShare, 0.01, "of the step: less is not shown", "not worth a reader's time") \
  X(double, kExactError, 0.02, "of the recorded length: a larger error of the replay lowers confidence", "chosen") \
  X(double, kTwoRecordings, 2.77, "standard errors between the means of two recordings of one program", "1.96 × √2: 95 % of normal differences") \
  X(double, kMaxWidening, 0.02, "of a saving: its range widens by at most this where steps vary", "chosen: beyond it, look at the spread of the steps") \
  X(double, kSavesLater, 2, "times what a change saves now: a change that saves more after the others is placed after them", "chosen") \
  X(double, kNearLimit, 0.9, "of the step: host work that limits it, or nearly does", "chosen") \
  X(double, kMaxUnlinked, 0.10, "of the window's device events: without a recorded launch; above it, no replay", "chosen: such work cannot move") \
  X(double, kIoShare, 0.25, "of the fetches of batches, or of a recording of I/O alone: file I/O that may explain them", "chosen: Python spends as much around each call on small files") \
  X(double, kBusyWorkers, 0.6, "of the workers' time: fetching, so that little is fetched ahead", "chosen") \
  X(double, kReadyBatches, 0.8, "of the batches: fetched before the program asks, so that workers are not late", "chosen") \
  X(double, kBurstsReady, 0.95, "of the batches: fetched before the program asks, so that no burst is late", "chosen: one late batch in sixteen is told") \
  X(double, kMostOfIo, 0.5, "of the I/O: one cause", "a majority") \
  X(double, kStoredReads, 0.01, "of the reads: longer than the page cache takes", "0.001 where a busy machine interrupts reads; readahead lets 0.03 of small reads wait") \
  X(double, kMuchOfIo, 0.4, "of the I/O: stat, directories and names, or locks", "chosen") \
  X(double, kNeverTwo, 0.98, "of the calls' time, during which no second call of the fetch is open: a lock", "threads without a lock overlap by chance") \
  X(std::int64_t, kManyFiles, 64, "opens or reads per batch, or of a recording of I/O alone: many", "chosen: two per sample of a usual batch") \
  X(std::int64_t, kTinyFile, 16'384, "bytes read per file that is opened: tiny", "chosen: opening and closing take longer than reading") \
  X(double, kReadAgain, 2, "bytes read by the bytes of the files, or opens by the number of files: the same again", "chosen") \
  X(double, kAgainPerRound, 0.5, "times per batch or step: bytes of files read so often are read again, not in a new pass over the data", "chosen: a pass has more than two batches") \
  X(double, kOftenAgain, 8, "times that bytes are read, where no steps are known: again", "chosen: more passes than a short recording has") \
  X(double, kAgainRate, 0.02, "bytes per ns: read again so fast, they cost much, also by unpacking and parsing", "a quarter of what Python takes of JSON, 0.08; it takes 0.13 of gzip, 0.05 of pickles (bench/unpacking.py)") \
  X(double, kHoldingShare, 0.10, "of the window: handling files that the steps wait for", "as kOwnShare") \
  X(std::int64_t, kTinyRead, 4'096, "bytes per read: tiny", "a page") \
  X(double, kSavingShare, 0.03, "of the window: writing files on the main thread", "as kBurstShare") \
  X(double, kSavingLeast, 0.5, "of that time: saved at least by writing in the background", "chosen: the state is still copied, and writing shares the cores") \
  X(double, kMemoryShare, 0.90, "of device memory", "the TensorBoard plugin's limit")
// clang-format on

// bench/explain/sensitivity.cpp varies them in a program of its own.
#ifdef STEPSCOPE_VARIABLE_CONSTANTS
#define STEPSCOPE_DEFINE(type, name, value, meaning, source) inline type name = value;
#else
#define STEPSCOPE_DEFINE(type, name, value, meaning, source) inline constexpr type name = value;
#endif
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
