// Rules of copies (C).
#include <fmt/format.h>

#include <algorithm>

#include "advise/cite.h"
#include "advise/constants.h"
#include "advise/families.h"
#include "advise/say.h"

namespace stepscope::advise {
namespace {

using report::format_value;
using report::Table;
using report::Texts;
using report::Unit;

std::optional<Finding> pageable_copy(const Evidence& e, Bound) {
  const Table* copies = table_of(e.reports().kernels, "Copies");
  if (copies == nullptr) return std::nullopt;
  const Texts& names = *texts_of(*copies, "name");
  for (std::size_t row = 0; row < names.size(); ++row) {
    const std::int64_t bytes = (*ints_of(*copies, "bytes"))[row] / e.steps();
    const double rate = (*reals_of(*copies, "bytes_per_s"))[row];
    if (!e.mine(*copies, row) || names[row].find("HtoD (Pageable") == std::string::npos ||
        bytes < kPageableBytes || !(rate > 0))
      continue;
    Finding f = finding(e, "C01", "copy",
                        fmt::format("{} per step are copied from pageable memory at {}",
                                    format_value(bytes, Unit::bytes), format_value(rate, Unit::bytes_per_s)));
    save(f, 0, 0, 0);
    change(f,
           fmt::format("call:/HtoD (Pageable/=0; kernel:/HtoD (Pageable/={}",
                       std::min(1.0, rate / pinned_rate(e))),
           kPageablePessimism);
    f.confidence = Confidence::medium;
    f.because = "the host waits in the copy call, and the copy is staged through a buffer";
    f.evidence = "kernels: copies and fills; synchronizations: calls that wait";
    f.remedy = "DataLoader(..., pin_memory=True) and tensor.to(device, non_blocking=True).";
    f.verify = "The copies are named Pinned -> Device and no call waits for them.";
    f.effort = Effort::option;
    return f;
  }
  return std::nullopt;
}

constexpr Rule kRules[] = {
    {"C01", "copy", "batches are copied from pageable memory", true, pageable_copy},
};

}  // namespace

std::span<const Rule> copy_rules() { return kRules; }

}  // namespace stepscope::advise
