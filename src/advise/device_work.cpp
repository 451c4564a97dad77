#include "advise/device_work.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/rules/constants.h"
#include "advise/say.h"
#include "report/statistics.h"

namespace stepscope::advise {

using report::format_value;
using report::Ints;
using report::kNoInt;
using report::Reals;
using report::Table;
using report::Texts;
using report::Unit;

namespace {

/// Σ over rows of these kinds of their share of compute time × `part`.
template <class Part>
double sum_of_kinds(const Evidence& e, std::initializer_list<std::string_view> kinds, Part part) {
  const Table* table = table_of(e.reports().kernels, "Kinds of compute kernels");
  double sum = 0;
  if (table == nullptr) return sum;
  const Texts& names = *texts_of(*table, "kind");
  for (std::size_t row = 0; row < names.size(); ++row)
    if (e.mine(*table, row) && std::find(kinds.begin(), kinds.end(), names[row]) != kinds.end())
      sum += (*reals_of(*table, "share"))[row] * part(*table, row);
  return sum;
}

}  // namespace

double kind_share(const Evidence& e, std::initializer_list<std::string_view> kinds) {
  return sum_of_kinds(e, kinds, [](const Table&, std::size_t) { return 1.0; });
}

double chained_share(const Evidence& e, std::initializer_list<std::string_view> kinds) {
  return sum_of_kinds(
      e, kinds, [](const Table& table, std::size_t row) { return (*reals_of(table, "chained_share"))[row]; });
}

double small_grid_share(const Evidence& e) {
  const Table* table = table_of(e.reports().kernels, "Kinds of compute kernels");
  double sum = 0;
  for (std::size_t row = 0; table != nullptr && row < table->rows(); ++row) {
    const double small = (*reals_of(*table, "small_grid_share"))[row];
    if (e.mine(*table, row) && small > 0) sum += small * (*reals_of(*table, "share"))[row];
  }
  return sum;
}

std::int64_t compute_time(const Evidence& e, double share) {
  return static_cast<std::int64_t>(share * static_cast<double>(e.fact(&Facts::compute))) / e.steps();
}

bool has_pointwise_chains(const Evidence& e) {
  return e.share(e.fact(&Facts::busy)) >= kBusyShare &&
         kind_share(e, {"pointwise", "cast"}) >= kPointwiseShare;
}

CopySum copies_of(const Evidence& e, const std::function<bool(std::string_view, std::string_view)>& wanted) {
  CopySum sum;
  const Table* table = table_of(e.reports().copies, "Copies by operator");
  if (table == nullptr) return sum;
  const Texts &names = *texts_of(*table, "name"), &ops = *texts_of(*table, "op");
  const auto number = [&](std::string_view column, std::size_t row) {
    return (*ints_of(*table, column))[row];
  };
  for (std::size_t row = 0; row < names.size(); ++row) {
    if (!e.mine(*table, row) || !wanted(names[row], ops[row])) continue;
    if (sum.count == 0) sum.op = ops[row];  // rows come longest first
    sum.count += number("count", row);
    sum.small += number("small", row);
    sum.created += number("created", row);
    report::add_to(sum.bytes, number("bytes", row));
    sum.total += number("total", row);
    sum.exposed += number("exposed", row);
    sum.host += number("host", row);
    const double rate = (*reals_of(*table, "large_rate"))[row];
    if (number("large", row) == 0 || !(rate > 0)) continue;
    sum.large += number("large", row);
    sum.slowest_large = sum.slowest_large > 0 ? std::min(sum.slowest_large, rate) : rate;
  }
  return sum;
}

namespace {
bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }
}  // namespace

bool within_device(std::string_view copy) { return has(copy, "DtoD") || has(copy, "DeviceToDevice"); }
bool to_device(std::string_view copy) { return has(copy, "HtoD") || has(copy, "HostToDevice"); }
bool from_device(std::string_view copy) { return has(copy, "DtoH") || has(copy, "DeviceToHost"); }
bool is_bucket_copy(std::string_view op) { return has(op, "copy_bucket_to_grad"); }

void device_only(Claim& f, Bound bound) {
  if (bound != Bound::host) return;
  f.next = true;
  f.saving_low = 0;
  f.because = "the host is what limits the step now";
}

Memory memory_of(const Evidence& e) {
  Memory fullest;
  const Table* peaks = table_of(e.reports().memory_events, "Peak");
  const Ints* peak = peaks == nullptr ? nullptr : ints_of(*peaks, "peak_allocated");
  const Ints* total = peaks == nullptr ? nullptr : ints_of(*peaks, "capacity");
  for (std::size_t row = 0; peak != nullptr && total != nullptr && row < peak->size(); ++row)
    if (e.mine(*peaks, row) && (*peak)[row] > 0 && (*total)[row] > 0 &&
        (fullest.total == 0 || static_cast<double>((*peak)[row]) / static_cast<double>((*total)[row]) >
                                   static_cast<double>(fullest.peak) / static_cast<double>(fullest.total)))
      fullest = {(*peak)[row], (*total)[row]};
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
         fmt::format("; {} of {} of device memory are used at the peak (A03), so a batch twice as large fits",
                     format_value(memory.peak, Unit::bytes), format_value(memory.total, Unit::bytes));
}

}  // namespace stepscope::advise
