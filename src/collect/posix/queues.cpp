// Requests that the kernel answers later: libaio and io_uring. What is seen is that they were submitted.
#include <dlfcn.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "collect/posix/call.h"
#include "collect/posix/wrap.h"

namespace stepscope::collect::posix {
namespace {

/// The submission queue at the front of liburing's `struct io_uring`; its layout is part of that library's
/// ABI.
struct SubmissionQueue {
  unsigned *head, *tail, *mask, *entries, *flags, *dropped, *array;
  io_uring_sqe* requests;
  unsigned first, end;
};

constexpr unsigned kMost = 4096;

/// The function that the caller was linked with. Its library may be visible to the caller alone, e.g. in a
/// Python module. Null: there is none.
template <class Function>
Function* next_for(IoFunction function, void* caller) {
  void* found = next_functions[static_cast<int>(function)].load(std::memory_order_relaxed);
  if (found == nullptr) found = find_next(function);
  if (found == nullptr) {
    const int kept = errno;
    const Inside inside;
    Dl_info from{};
    const bool known = ::dladdr(caller, &from) != 0 && from.dli_fname != nullptr;
    if (void* library = known ? ::dlopen(from.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr) {
      found = ::dlsym(library, record::kIoNames[static_cast<int>(function)].data());
      ::dlclose(library);
    }
    errno = kept;
  }
  return reinterpret_cast<Function*>(found);
}
#define NEXT_FOR_CALLER(name) next_for<decltype(wrap_##name)>(IoFunction::name, __builtin_return_address(0))

std::uint64_t sum(const iovec* parts, std::uint64_t count) {
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < count && count <= IOV_MAX; ++i) bytes += parts[i].iov_len;
  return bytes;
}

template <class Next>
int submitting(IoFunction function, const SubmissionQueue& queue, Next next) {
  if (is_off()) return next();
  struct Asked {
    int file;
    unsigned kind;
    std::uint64_t bytes;
    std::int64_t at;
  } asked[64];
  unsigned count = 0;
  const unsigned mask = *queue.mask;
  for (unsigned i = queue.first; i != queue.end && count < 64 && i - queue.first < kMost; ++i) {
    const io_uring_sqe& request = queue.requests[i & mask];
    if ((request.flags & IOSQE_FIXED_FILE) != 0) continue;
    const bool has_parts = request.opcode == IORING_OP_READV || request.opcode == IORING_OP_WRITEV;
    asked[count++] = {
        request.fd, request.opcode,
        has_parts ? sum(reinterpret_cast<const iovec*>(request.addr), request.len) : request.len,
        static_cast<std::int64_t>(request.off)};
  }
  Call call{.function = function, .is_long = true};
  const int submitted = measured(call, next);
  call.error = submitted < 0 ? -submitted : 0;
  for (unsigned i = 0; i < count; ++i) {
    File* file = traced(asked[i].file);
    if (file == nullptr) continue;
    call.descriptor = asked[i].file;
    call.offset = asked[i].at;
    call.size = asked[i].bytes;
    call.detail = asked[i].kind;
    tell(call, file);
  }
  return submitted;
}

}  // namespace

WRAP(int, io_uring_submit, SubmissionQueue* ring) {
  auto* next = NEXT_FOR_CALLER(io_uring_submit);
  if (next == nullptr) return -ENOSYS;
  return submitting(IoFunction::io_uring_submit, *ring, [&] { return next(ring); });
}
WRAP(int, io_uring_submit_and_wait, SubmissionQueue* ring, unsigned answers) {
  auto* next = NEXT_FOR_CALLER(io_uring_submit_and_wait);
  if (next == nullptr) return -ENOSYS;
  return submitting(IoFunction::io_uring_submit_and_wait, *ring, [&] { return next(ring, answers); });
}

/// libaio's function returns a negative error number.
WRAP(int, io_submit, aio_context_t context, long count, iocb** requests) {
  auto* library = NEXT_FOR_CALLER(io_submit);
  const auto next = [&] {
    if (library != nullptr) return library(context, count, requests);
    const int kept = errno;
    const auto submitted = static_cast<int>(::syscall(SYS_io_submit, context, count, requests));
    const int error = std::exchange(errno, kept);
    return submitted == -1 ? -error : submitted;
  };
  if (is_off()) return next();
  Call call{.function = IoFunction::io_submit, .is_long = true};
  const int submitted = measured(call, next);
  call.error = 0;
  for (long i = 0; i < submitted; ++i) {
    const iocb& request = *requests[i];
    File* file = traced(static_cast<int>(request.aio_fildes));
    if (file == nullptr) continue;
    const bool has_parts =
        request.aio_lio_opcode == IOCB_CMD_PREADV || request.aio_lio_opcode == IOCB_CMD_PWRITEV;
    call.descriptor = static_cast<int>(request.aio_fildes);
    call.offset = request.aio_offset;
    call.size = has_parts ? sum(reinterpret_cast<const iovec*>(request.aio_buf), request.aio_nbytes)
                          : request.aio_nbytes;
    call.detail = request.aio_lio_opcode;
    tell(call, file);
  }
  return submitted;
}

}  // namespace stepscope::collect::posix
