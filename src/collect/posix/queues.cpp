// Requests that the kernel answers later: libaio and io_uring. What is seen is that they were submitted.
#include <linux/aio_abi.h>
#include <linux/io_uring.h>

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

template <class Next>
int submitting(IoFunction function, const SubmissionQueue& queue, Next next) {
  if (is_off()) return next();
  struct Asked {
    int file;
    unsigned kind, bytes;
    std::int64_t at;
  } asked[64];
  unsigned count = 0;
  const unsigned mask = *queue.mask;
  for (unsigned i = queue.first; i != queue.end && count < 64 && i - queue.first < kMost; ++i) {
    const io_uring_sqe& request = queue.requests[i & mask];
    if ((request.flags & IOSQE_FIXED_FILE) == 0)
      asked[count++] = {request.fd, request.opcode, request.len, static_cast<std::int64_t>(request.off)};
  }
  Call call{.function = function, .is_long = true};
  const int submitted = measured(call, next);
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
  return submitting(IoFunction::io_uring_submit, *ring, [&] { return NEXT(io_uring_submit)(ring); });
}
WRAP(int, io_uring_submit_and_wait, SubmissionQueue* ring, unsigned answers) {
  return submitting(IoFunction::io_uring_submit_and_wait, *ring,
                    [&] { return NEXT(io_uring_submit_and_wait)(ring, answers); });
}

/// libaio's function returns a negative error number.
WRAP(int, io_submit, aio_context_t context, long count, iocb** requests) {
  if (is_off()) return NEXT(io_submit)(context, count, requests);
  Call call{.function = IoFunction::io_submit, .is_long = true};
  const int submitted = measured(call, [&] { return NEXT(io_submit)(context, count, requests); });
  call.error = submitted < 0 ? -submitted : 0;
  for (long i = 0; i < submitted; ++i) {
    const iocb& request = *requests[i];
    File* file = traced(static_cast<int>(request.aio_fildes));
    if (file == nullptr) continue;
    call.descriptor = static_cast<int>(request.aio_fildes);
    call.offset = request.aio_offset;
    call.size = request.aio_nbytes;
    call.detail = request.aio_lio_opcode;
    tell(call, file);
  }
  return submitted;
}

}  // namespace stepscope::collect::posix
