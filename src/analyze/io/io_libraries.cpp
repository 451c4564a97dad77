// Calls of libraries above the file system, by function.
#include <algorithm>
#include <map>

#include "analyze/io/io.h"
#include "report/statistics.h"

namespace stepscope::analyze {

using report::add_to;

void add_io_libraries(Io& of, const trace::Trace& trace, const trace::Rank& rank, const RankIo& io) {
  const trace::EventTable& e = rank.events;
  struct Sum {
    IoLibraryCalls row;
    std::vector<std::int64_t> lengths;
  };
  std::map<trace::StringId, Sum> sums;
  for (const derive::LibraryCall& call : io.library_calls) {
    auto& [row, lengths] =
        sums.try_emplace(e.name[call.row], Sum{{rank.rank, call.library, trace.name(rank, call.row)}, {}})
            .first->second;
    ++row.calls;
    row.failed += call.failed;
    add_to(row.time, e.duration(call.row));
    add_to(row.bytes, call.bytes);
    add_to(row.io, call.io);
    add_to(row.io_bytes, call.io_bytes);
    lengths.push_back(e.duration(call.row));
  }
  const auto first = std::ssize(of.libraries);
  for (auto& [name, sum] : sums) {
    sum.row.longest = *std::ranges::max_element(sum.lengths);
    sum.row.median = report::quantile(sum.lengths, 0.5);
    sum.row.p95 = report::quantile(sum.lengths, 0.95);
    of.libraries.push_back(sum.row);
  }
  std::stable_sort(of.libraries.begin() + first, of.libraries.end(),
                   [](const IoLibraryCalls& a, const IoLibraryCalls& b) { return a.time > b.time; });
}

}  // namespace stepscope::analyze
