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

}  // namespace

void tell(const Call& call, File* file, File* other, int other_descriptor) {
  const int kept = errno;
  const Inside inside;
  if (Thread* thread = place()) {
    const std::uint32_t number = file == nullptr ? 0 : number_of(*thread, *file, call.descriptor);
    // Without a name it is no file: the descriptor has become another's unseen.
    const bool is_gone = file != nullptr && number == 0;
    if (!is_gone)
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

void opened_other(const Call& call, const Opening& what, std::size_t look) {
  const int descriptor = call.descriptor;
  const bool has_failed = descriptor < 0;
  Call told = call;
  if (what.flags != kNoFlags) {
    told.detail = static_cast<std::uint32_t>(what.flags);
    told.is_long = true;
  }
  if (!has_failed && (is_unnamed(what.flags) || leads_to_descriptor(what.name))) {
    closed(descriptor);
    if (File* file = traced(descriptor); file != nullptr) tell(told, file);
    return;
  }
  Named file;
  if (!has_failed)
    file = named(what.directory, what.name, look);
  else if (was_read_by_failed_call(what.name))
    file = named(what.directory, what.name);
  if (file.number == 0) return ignored(descriptor);
  opened(descriptor, file, what.position);
  tell(told, file);
}

}  // namespace stepscope::collect::posix
