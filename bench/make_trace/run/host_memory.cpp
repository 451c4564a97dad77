// The host and its device memory: what the caching allocator costs.
#include "make_trace/run/host.h"

namespace stepscope::make_trace {

void Host::remember_memory(std::int64_t address, std::int64_t bytes) {
  if (!recorded_ || !o_.memory) return;
  rows_.memory.push_back(
      {thread_, next_index_++, now_, address, bytes, allocator_.allocated(), allocator_.reserved()});
}

void Host::allocate(const Instr& instr) {
  std::int64_t& address = addresses_[instr.slot];
  if (address != 0) return;  // the gradient of the last step is still there
  const Allocator::Grant grant = allocator_.allocate(instr.bytes);
  if (grant.from_device) {
    const std::size_t row = rows_.host.size();
    call_row(instr.info, 0);
    pass_jittered(instr, Doing::alloc);
    rows_.host[row].end = now_;
  }
  address = grant.address;
  remember_memory(grant.address, grant.bytes);
}

void Host::release(const Instr& instr) {
  std::int64_t& address = addresses_[instr.slot];
  if (address == 0) return;
  const std::int64_t before = allocator_.allocated();
  allocator_.release(address);
  remember_memory(address, allocator_.allocated() - before);
  address = 0;
}

bool Host::empty_cache(const Instr& instr) {
  const std::int64_t idle = device_.idle_from(-1);
  if (idle == kUnknown) return false;
  const int blocks = allocator_.empty_cache();
  for (int i = 0; i < blocks; ++i) {
    const std::size_t row = rows_.host.size();
    call_row(instr.info, 0);
    if (i == 0) pass(idle + kSyncReturn - now_, Doing::alloc);
    pass_jittered(instr, Doing::alloc);
    rows_.host[row].end = now_;
  }
  return true;
}

}  // namespace stepscope::make_trace
