#include "collect/posix/call.h"

#include <climits>

namespace stepscope::collect::posix {
namespace {

std::uint32_t what(const Call& call) {
  return call.function.value | static_cast<std::uint32_t>(call.error) << 16;
}

void write(Thread& thread, const Call& call, std::uint32_t file, std::uint32_t other) {
  if (call.begin - thread.clock > UINT32_MAX && call.begin > thread.clock) stepscope_tell_clock(&thread);
  const bool fits = call.begin >= thread.clock && call.begin - thread.clock <= UINT32_MAX &&
                    call.end - call.begin <= UINT32_MAX && call.size <= UINT32_MAX &&
                    call.result >= INT_MIN && call.result <= INT_MAX;
  if (fits && !call.is_long && other == 0) [[likely]] {
    auto& record = next<record::IoCall>(thread, record::Type::io_call);
    record.value = what(call);
    record.begin = static_cast<std::uint32_t>(call.begin - thread.clock);
    record.duration = static_cast<std::uint32_t>(call.end - call.begin);
    record.file = file;
    record.descriptor = call.descriptor;
    record.offset = call.offset;
    record.size = static_cast<std::uint32_t>(call.size);
    record.result = static_cast<std::int32_t>(call.result);
    commit(thread, record);
    return;
  }
  auto& record = next<record::LongIoCall>(thread, record::Type::long_io_call);
  record.value = what(call);
  record.begin = call.begin;
  record.end = call.end;
  record.file = file;
  record.descriptor = call.descriptor;
  record.offset = call.offset;
  record.size = call.size;
  record.result = call.result;
  record.other = other;
  record.detail = call.detail;
  commit(thread, record);
}

Call with_flags(Call call, int descriptor, int flags) {
  call.descriptor = descriptor;
  if (flags == kNoFlags) return call;
  call.detail = static_cast<std::uint32_t>(flags);
  call.is_long = true;
  return call;
}

}  // namespace

void tell(const Call& call, File* file, File* other, int other_descriptor) {
  const int kept = errno;
  const Inside inside;
  if (Thread* thread = place()) {
    const std::uint32_t number = file == nullptr ? 0 : number_of(*thread, *file, call.descriptor);
    write(*thread, call, number, other == nullptr ? 0 : number_of(*thread, *other, other_descriptor));
  }
  errno = kept;
}

void tell(const Call& call, Named file, Named other) {
  if (file.number == kNoRoom || other.number == kNoRoom) return;  // it is counted as missing
  const int kept = errno;
  const Inside inside;
  if (Thread* thread = place()) {
    const std::uint32_t now = session.load(std::memory_order_relaxed);
    write(*thread, call, file.session == now ? file.number : 0, other.session == now ? other.number : 0);
  }
  errno = kept;
}

void opened_traced(Call call, Named file, int descriptor, int flags, Position position) {
  opened(descriptor, file, position);
  tell(with_flags(call, descriptor, flags), file);
}

void opened_unnamed(Call call, int descriptor, int flags) {
  closed(descriptor);
  if (File* file = traced(descriptor); file != nullptr) tell(with_flags(call, descriptor, flags), file);
}

}  // namespace stepscope::collect::posix
