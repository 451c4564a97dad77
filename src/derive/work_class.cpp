#include "derive/kernel_class.h"
#include "derive/stages.h"
#include "trace/asked_once.h"

namespace stepscope::derive {

using trace::EventTable;
using trace::Kind;
using trace::Row;
using trace::Work;

void fill_work(const trace::Trace& trace, trace::Rank& rank) {
  EventTable& e = rank.events;
  e.work.assign(e.size(), Work::none);
  const trace::ArgReader collective(trace, rank, "Collective name");
  trace::AskedOnce communicates(trace.strings, is_collective_kernel);
  for (const Row row : rank.device_rows()) {
    if (e.kind[row] == Kind::memcpy) e.work[row] = Work::copy;
    if (e.kind[row] == Kind::memset) e.work[row] = Work::fill;
    if (e.kind[row] != Kind::kernel) continue;
    e.work[row] = communicates(e.name[row]) || collective.has(row) ? Work::communication : Work::compute;
  }
}

}  // namespace stepscope::derive
