#include "derive/kernel_class.h"
#include "derive/stages.h"

namespace stepscope::derive {

using trace::EventTable;
using trace::Kind;
using trace::Row;
using trace::Work;

void fill_work(const trace::Trace& trace, trace::Rank& rank) {
  EventTable& e = rank.events;
  e.work.assign(e.size(), Work::none);
  const trace::ArgReader collective(trace, rank, "Collective name");
  enum : std::uint8_t { kUnasked, kCompute, kCommunication };
  std::vector<std::uint8_t> by_name(trace.strings.size(), kUnasked);
  for (const Row row : rank.device_rows()) {
    if (e.kind[row] == Kind::memcpy) e.work[row] = Work::copy;
    if (e.kind[row] == Kind::memset) e.work[row] = Work::fill;
    if (e.kind[row] != Kind::kernel) continue;
    std::uint8_t& known = by_name[e.name[row]];
    if (known == kUnasked) known = is_collective_kernel(trace.text(e.name[row])) ? kCommunication : kCompute;
    e.work[row] = known == kCommunication || collective.has(row) ? Work::communication : Work::compute;
  }
}

}  // namespace stepscope::derive
