// Requests to libaio and io_uring.
#define _GNU_SOURCE
#include <libaio.h>
#include <liburing.h>

#include "conformance.h"

static void check_libaio(int f) {
  io_context_t context = 0;
  char bytes[64];
  const int made = io_setup(4, &context);
  line("io_setup %d", made);
  if (made != 0) return;
  struct iocb one, two;
  struct iocb* both[] = {&one, &two};
  io_prep_pread(&one, f, bytes, 10, 3);
  io_prep_pwrite(&two, f, "abc", 3, 20);
  errno = kUntouched;
  const int submitted = io_submit(context, 2, both);
  told("io_submit",
       (struct expected){
           .file = "u", .fd = f, .offset = 3, .size = 10, .ret = submitted, .detail = "opcode:0"});
  told("io_submit",
       (struct expected){
           .file = "u", .fd = f, .offset = 20, .size = 3, .ret = submitted, .detail = "opcode:1"});
  struct io_event events[2];
  line("%d", io_getevents(context, 2, 2, events, NULL));
  one.aio_fildes = -1;
  line("%d", io_submit(context, 1, both));
  io_destroy(context);
}

static void check_uring(int f) {
  struct io_uring ring;
  char bytes[64];
  const int made = io_uring_queue_init(8, &ring, 0);
  line("io_uring_queue_init %d", made);
  if (made != 0) return;
  io_uring_prep_read(io_uring_get_sqe(&ring), f, bytes, 5, 2);
  io_uring_prep_write(io_uring_get_sqe(&ring), f, "xy", 2, 30);
  int submitted = io_uring_submit(&ring);
  told("io_uring_submit",
       (struct expected){
           .file = "u", .fd = f, .offset = 2, .size = 5, .ret = submitted, .detail = "opcode:22"});
  told("io_uring_submit",
       (struct expected){
           .file = "u", .fd = f, .offset = 30, .size = 2, .ret = submitted, .detail = "opcode:23"});
  struct iovec parts[] = {{bytes, 4}, {bytes + 8, 6}};
  io_uring_prep_readv(io_uring_get_sqe(&ring), f, parts, 2, 0);
  submitted = io_uring_submit_and_wait(&ring, 3);
  told("io_uring_submit_and_wait",
       (struct expected){
           .file = "u", .fd = f, .offset = 0, .size = 10, .ret = submitted, .detail = "opcode:1"});
  struct io_uring_cqe* answers[3];
  line("%u", io_uring_peek_batch_cqe(&ring, answers, 3));
  io_uring_queue_exit(&ring);
}

void check_queues(void) {
  long long r;
  CALL(int, open, (const char*, int, ...), ("u", O_RDWR | O_CREAT, 0644), .file = "u", .fd = r);
  const int f = (int)r;
  CALL(int, ftruncate, (int, off_t), (f, 4096), .file = "u", .fd = f, .size = 4096);
  check_libaio(f);
  check_uring(f);
  CALL(int, close, (int), (f), .file = "u", .fd = f);
}
