#include "derive/idle/waiting_calls.h"

#include "derive/kernel_class.h"
#include "trace/asked_once.h"

namespace stepscope::derive {

using trace::Kind;
using trace::kNoRow;
using trace::Row;

std::vector<Waiting> waiting_calls(const trace::Trace& trace, const trace::Rank& rank,
                                   const LaunchQueue& queue) {
  const trace::EventTable& e = rank.events;
  std::vector<Waiting> waits(e.size(), Waiting::no);
  for (std::size_t i = 0; i < queue.size(); ++i)
    if (queue.blocked[i] > 0 && waits[queue.launch[i]] != Waiting::work)
      waits[queue.launch[i]] = e.kind[queue.event[i]] == Kind::memcpy ? Waiting::work : Waiting::queue;
  trace::AskedOnce blocks(trace.strings, is_blocking_call);
  std::vector<bool> inside(e.size());
  for (const Row row : rank.host_rows()) {  // parents precede their children
    if (e.kind[row] != Kind::runtime) continue;
    if (blocks(e.name[row])) waits[row] = Waiting::work;
    const Row parent = e.parent[row];
    if (parent == kNoRow || e.kind[parent] != Kind::runtime) continue;
    inside[row] = inside[parent] || waits[parent] != Waiting::no;
    if (inside[row]) waits[row] = Waiting::no;
  }
  return waits;
}

}  // namespace stepscope::derive
