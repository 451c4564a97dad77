// Where the device's time goes, from `kernels`, `copies` and `collectives`, summed for rules.
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
/// Time that fusing runs of kernels of these kinds saves / time of all compute kernels.
double chained_share(const Evidence& evidence, std::initializer_list<KernelKind> kinds);
/// Share of compute kernels' time in kernels with fewer blocks than the device has multiprocessors; 0 if
/// blocks are not recorded.
double small_grid_share(const Evidence& evidence);
/// `share` of compute time, ns per step.
std::int64_t compute_time(const Evidence& evidence, double share);

/// Whether unfused element-wise kernels take enough time for K01 to fire; the copies between them then belong
/// to K01.
bool has_pointwise_chains(const Evidence& evidence);

/// Sums over the copies in the window that `wanted` accepts.
struct CopySum {
  std::int64_t count = 0, small = 0, created = 0, large = 0;
  std::int64_t bytes = 0, total = 0, exposed = 0, host = 0;  ///< ns
  double slowest_large = 0;                                  ///< least median rate of large copies, bytes/s
  std::string op;                                            ///< operator of the row with most time
};
CopySum copies_of(const Evidence& evidence,
                  const std::function<bool(const analyze::OperatorCopies&)>& wanted);
/// DDP's copies of gradients into and out of buckets, which have rule N09.
bool is_bucket_copy(std::string_view op);

/// For a claim that only shortens device work: if the host limits, the claim becomes `next`.
void device_only(Claim& finding, Bound bound);

/// Peak of allocated memory and capacity, of the device that is fullest; 0 if not recorded.
struct Memory {
  std::int64_t peak = 0, total = 0;
};
Memory memory_of(const Evidence& evidence);

/// "; 78 % of kernel time runs on fewer blocks than the device has multiprocessors (K02)", "; 0.23 of 79 GB
/// of device memory are used at the peak, so a batch twice as large fits": those that are true, or "".
std::string room_for_more(const Evidence& evidence);

}  // namespace stepscope::advise
