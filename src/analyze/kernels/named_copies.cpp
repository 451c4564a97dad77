#include "analyze/kernels/named_copies.h"

#include <algorithm>

#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using report::Unit;
using trace::Kind;
using trace::Rank;
using trace::Row;

/// `timed` is the time of the copies with a recorded size, `sized` their number.
struct CopySum {
  trace::StringId name;
  std::int64_t count = 0, total = 0, bytes = 0, sized = 0, timed = 0;
};

std::vector<CopySum> sums_of(const trace::Trace& trace, const Rank& rank, const StepChoice& choice) {
  const trace::EventTable& e = rank.events;
  const trace::ArgReader bytes(trace, rank, "bytes");
  std::vector<CopySum> sums;
  std::vector<std::uint32_t> by_name(trace.strings.size());
  for (const Row row : rank.device_rows()) {
    if ((e.kind[row] != Kind::memcpy && e.kind[row] != Kind::memset) || !choice.includes(rank, row)) continue;
    std::uint32_t& slot = by_name[e.name[row]];  // index + 1
    if (slot == 0) {
      sums.push_back({e.name[row]});
      slot = static_cast<std::uint32_t>(sums.size());
    }
    CopySum& sum = sums[slot - 1];
    ++sum.count;
    report::add_to(sum.total, e.duration(row));
    const std::int64_t size = bytes.integer_or(row, -1);
    if (size < 0) continue;
    ++sum.sized;
    report::add_to(sum.bytes, size);
    report::add_to(sum.timed, e.duration(row));
  }
  std::sort(sums.begin(), sums.end(), [&](const CopySum& a, const CopySum& b) {
    return a.total != b.total ? a.total > b.total : trace.text(a.name) < trace.text(b.name);
  });
  return sums;
}

}  // namespace

void add_named_copies(std::vector<NamedCopies>& copies, const trace::Trace& trace, const Rank& rank,
                      const StepChoice& choice) {
  for (const CopySum& sum : sums_of(trace, rank, choice)) {
    const double seconds = static_cast<double>(sum.timed) / 1e9;
    copies.push_back({rank.rank, std::string(trace.text(sum.name)), sum.count,
                      sum.sized > 0 ? sum.bytes : report::kNoInt, sum.total,
                      report::mean(sum.total, sum.count),
                      sum.timed > 0 ? static_cast<double>(sum.bytes) / seconds : report::kNoReal});
  }
}

const report::Sheet<NamedCopies> kNamedCopiesSheet{"Copies and fills",
                                                   report::Shape::table,
                                                   {report::rank_field<NamedCopies>(&NamedCopies::rank),
                                                    {"name", &NamedCopies::name},
                                                    {"count", &NamedCopies::count, Unit::count},
                                                    {"bytes", &NamedCopies::bytes, Unit::bytes},
                                                    {"total", &NamedCopies::total, Unit::ns},
                                                    {"mean", &NamedCopies::mean, Unit::ns},
                                                    {"bytes_per_s", &NamedCopies::rate, Unit::bytes_per_s}}};

}  // namespace stepscope::analyze
