// The calls that bench/io.py times: `io_calls THREADS PREADS PAIRS FILE`. Each thread reads 4 KiB of its own
// file, which are cached, then opens and closes it. Prints the process's CPU ns per pread and per pair, and
// the wall ns.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { kBlock = 4096, kBlocks = 256, kMostThreads = 64 };
static long preads, pairs;
static const char* base;
static pthread_barrier_t barrier;

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void* work(void* number) {
  char name[4096], block[kBlock] = "";
  snprintf(name, sizeof name, "%s.%ld", base, (long)number);
  const int file = open(name, O_RDWR | O_CREAT, 0600);
  for (long i = 0; i < kBlocks; ++i)
    if (pwrite(file, block, kBlock, i * kBlock) != kBlock) exit(1);
  for (int part = 0; part < 2; ++part) {
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    for (long i = 0; part == 0 && i < preads; ++i)
      if (pread(file, block, kBlock, i % kBlocks * kBlock) != kBlock) exit(1);
    for (long i = 0; part == 1 && i < pairs; ++i) close(open(name, O_RDONLY));
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

int main(int count, char** args) {
  if (count != 5) return 2;
  const long threads = atol(args[1]);
  preads = atol(args[2]);
  pairs = atol(args[3]);
  base = args[4];
  pthread_t all[kMostThreads];
  pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1);
  for (long i = 0; i < threads && i < kMostThreads; ++i) pthread_create(&all[i], NULL, work, (void*)i);
  double cpu[2], wall[2];
  for (int part = 0; part < 2; ++part) {
    pthread_barrier_wait(&barrier);  // all are ready
    cpu[part] = -now(CLOCK_PROCESS_CPUTIME_ID);
    wall[part] = -now(CLOCK_MONOTONIC);
    pthread_barrier_wait(&barrier);  // they begin
    pthread_barrier_wait(&barrier);  // all have ended
    cpu[part] += now(CLOCK_PROCESS_CPUTIME_ID);
    wall[part] += now(CLOCK_MONOTONIC);
  }
  for (long i = 0; i < threads; ++i) pthread_join(all[i], NULL);
  const double read = (double)(preads * threads), opened = (double)(pairs * threads);
  printf("%.1f %.1f %.1f %.1f\n", cpu[0] / read, cpu[1] / opened, wall[0] / read, wall[1] / opened);
  return 0;
}
