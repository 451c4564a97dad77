#include "advise/device_work.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/rules/constants.h"
#include "advise/say.h"
#include "base/text.h"
#include "report/statistics.h"

namespace stepscope::advise {

using report::format_value;
using report::Unit;

namespace {

std::vector<const analyze::KernelKindTimes*> kinds_of(const Evidence& e) {
  return e.mine(e.reports().kernels.kinds, "Kinds of compute kernels");
}

/// Σ over these kinds of their share of compute time × `part`.
template <class Part>
double sum_of_kinds(const Evidence& e, std::initializer_list<KernelKind> kinds, Part part) {
  double sum = 0;
  for (const analyze::KernelKindTimes* row : kinds_of(e))
    if (std::find(kinds.begin(), kinds.end(), row->kind) != kinds.end()) sum += row->share * part(*row);
  return sum;
}

}  // namespace

double kind_share(const Evidence& e, std::initializer_list<KernelKind> kinds) {
  return sum_of_kinds(e, kinds, [](const auto&) { return 1.0; });
}

double chained_share(const Evidence& e, std::initializer_list<KernelKind> kinds) {
  return sum_of_kinds(e, kinds, [](const auto& row) { return row.chained; });
}

double small_grid_share(const Evidence& e) {
  double sum = 0;
  for (const analyze::KernelKindTimes* row : kinds_of(e))
    if (row->small > 0) sum += row->small * row->share;
  return sum;
}

std::int64_t compute_time(const Evidence& e, double share) {
  return static_cast<std::int64_t>(share * static_cast<double>(e.fact(&Facts::compute))) / e.steps();
}

bool has_pointwise_chains(const Evidence& e) {
  return e.share(e.fact(&Facts::busy)) >= kBusyShare &&
         kind_share(e, {KernelKind::pointwise, KernelKind::cast}) >= kPointwiseShare;
}

CopySum copies_of(const Evidence& e, const std::function<bool(const OperatorCopies&)>& wanted) {
  CopySum sum;
  for (const analyze::OperatorCopies* row : e.mine(e.reports().copies.copies, "Copies by operator")) {
    if (!wanted(*row)) continue;
    if (sum.count == 0) sum.op = row->op;  // rows come longest first
    sum.count += row->count;
    sum.small += row->small;
    sum.created += row->created;
    report::add_to(sum.bytes, row->bytes);
    sum.total += row->total;
    sum.exposed += row->exposed;
    sum.host += row->host;
    if (row->large == 0 || !(row->large_rate > 0)) continue;
    sum.large += row->large;
    sum.slowest_large =
        sum.slowest_large > 0 ? std::min(sum.slowest_large, row->large_rate) : row->large_rate;
  }
  return sum;
}

bool is_bucket_copy(std::string_view op) { return has(op, "copy_bucket_to_grad"); }

void device_only(Claim& f, Bound bound) {
  if (bound != Bound::host) return;
  f.next = true;
  f.saving_low = 0;
  f.because = "the host limits the step now";
}

Memory memory_of(const Evidence& e) {
  Memory fullest;
  const auto share = [](std::int64_t peak, std::int64_t total) {
    return static_cast<double>(peak) / static_cast<double>(total);
  };
  for (const analyze::MemoryPeak* row : e.mine(e.reports().memory_events.peaks, "Peak of each memory"))
    if (row->allocated > 0 && row->capacity > 0 &&
        (fullest.total == 0 || share(row->allocated, row->capacity) > share(fullest.peak, fullest.total)))
      fullest = {row->allocated, row->capacity};
  return fullest;
}

std::string room_for_more(const Evidence& e) {
  std::string text;
  if (const double small = small_grid_share(e); small >= kSmallGridShare)
    text += fmt::format("; {} of kernel time runs on fewer blocks than the device has multiprocessors (K02)",
                        percent(small));
  const Memory memory = memory_of(e);
  if (memory.total <= 0 ||
      kFullestMemory * static_cast<double>(memory.total) < 2 * static_cast<double>(memory.peak))
    return text;
  return text +
         fmt::format("; {} of {} of device memory are used at the peak, so a batch twice as large fits",
                     format_value(memory.peak, Unit::bytes), format_value(memory.total, Unit::bytes));
}

}  // namespace stepscope::advise
