// What the device's time goes into, as `kernels`, `copies` and `collectives` have it, summed for rules.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "advise/bound.h"
#include "advise/claim.h"
#include "advise/evidence.h"

namespace stepscope::advise {

using analyze::OperatorCopies;
using derive::CopyDirection;
using derive::HostMemory;
using derive::KernelKind;

/// Time of compute kernels of these kinds / time of all compute kernels, over the whole recording.
double kind_share(const Evidence& evidence, std::initializer_list<KernelKind> kinds);
/// Of kernels of these kinds, what fusing runs of them saves / time of all compute kernels.
double chained_share(const Evidence& evidence, std::initializer_list<KernelKind> kinds);
/// The share of compute kernels' time in kernels with fewer blocks than the device has multiprocessors; 0
/// where blocks are not recorded.
double small_grid_share(const Evidence& evidence);
/// `share` of compute time, ns per step.
std::int64_t compute_time(const Evidence& evidence, double share);

/// Element-wise kernels that no compiler fused take so much that K01 speaks; the copies between them are then
/// part of it.
bool has_pointwise_chains(const Evidence& evidence);

/// Sums over the copies in the window that a rule asks for.
struct CopySum {
  std::int64_t count = 0, small = 0, created = 0, large = 0;
  std::int64_t bytes = 0, total = 0, exposed = 0, host = 0;  ///< ns
  double slowest_large = 0;                                  ///< least median rate of large copies, bytes/s
  std::string op;                                            ///< of the row with most time
};
CopySum copies_of(const Evidence& evidence,
                  const std::function<bool(const analyze::OperatorCopies&)>& wanted);
/// DDP's copies of gradients into and out of buckets: rule N09's.
bool is_bucket_copy(std::string_view op);

/// Of a claim that only shortens work of the device: what is next once the host is fixed, when that limits.
void device_only(Claim& finding, Bound bound);

/// Allocated memory at the peak, and all there is, of the device where they are nearest; 0 where not
/// recorded.
struct Memory {
  std::int64_t peak = 0, total = 0;
};
Memory memory_of(const Evidence& evidence);

/// "; 78 % of kernel time runs on fewer blocks than the device has multiprocessors, and 0.23 of 79 GB of its
/// memory are used, so a batch twice as large fits", as far as it is so. "" when it is not.
std::string room_for_more(const Evidence& evidence);

}  // namespace stepscope::advise
