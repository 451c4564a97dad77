// What goes wrong in programs, one case per name. Each prints what must be the same without the collector,
// and on the last line how many of its calls should be recorded, e.g. "read 100".
#define _GNU_SOURCE
#include "robust.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

int make(const char* name) {
  const int f = open(name, O_RDWR | O_CREAT, 0644);
  if (f < 0 || pwrite(f, "0123456789", 10, 0) != 10) exit(4);
  return f;
}

static int wait_for_all(void) {
  int status = 0, sum = 0;
  while (wait(&status) > 0 || errno == EINTR) sum += WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
  return sum;
}

// Counts calls in a file that the driver reads after it has killed this program.
static void calls_until_killed(void) {
  const int f = make("a"), count = open("count", O_RDWR | O_CREAT, 0600);
  (void)!ftruncate(count, 4096);
  atomic_llong* done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, count, 0);
  char byte;
  for (long long i = 0;; ++i) {
    (void)!pread(f, &byte, 1, i);
    atomic_store(done, i + 1);
  }
}

static void processes(void) {
  const int f = make("a");
  for (int i = 0; i < 64; ++i)
    if (fork() == 0) {
      char byte;
      for (int k = 0; k < 100; ++k)
        if (pread(f, &byte, 1, k % 10) != 1) _exit(1);
      if (i % 2 == 0) _exit(0);
      exit(0);
    }
  printf("%d\npread 6400\n", wait_for_all());
}

static void fork_chain(void) {
  char byte;
  fflush(stdout);
  for (int depth = 0; depth < 30; ++depth) {
    const int f = make("a");
    (void)!pread(f, &byte, 1, 0);
    const pid_t child = fork();
    if (child != 0) {
      int status = 0;
      waitpid(child, &status, 0);
      if (depth != 0) _exit(WEXITSTATUS(status));
      printf("%d\npread 30\n", WEXITSTATUS(status));
      return;
    }
  }
  _exit(11);
}

static void exec_chain(char** args) {
  char byte, depth[16];
  const int f = make("a");
  (void)!pread(f, &byte, 1, 0);
  const int left = args[2] == NULL ? 20 : atoi(args[2]);
  if (left == 0) {
    printf("end\npread 21\n");
    return;
  }
  snprintf(depth, sizeof depth, "%d", left - 1);
  execl(args[0], args[0], args[1], depth, (char*)NULL);
  exit(5);
}

static void* short_thread(void* none) {
  char byte = 0;
  (void)none;
  const int f = open("./a", O_RDONLY);
  const int good =
      f >= 0 && pread(f, &byte, 1, 3) == 1 && byte == '3' && rename("./none", "./d/../none2") == -1;
  close(f);
  return good ? NULL : (void*)1;
}

// 10,000 threads, 50 at a time, with the smallest stack that there is.
static void threads(void) {
  close(make("a"));
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN);
  int bad = 0;
  for (int round = 0; round < 200; ++round) {
    pthread_t all[50];
    for (int i = 0; i < 50; ++i) bad += pthread_create(&all[i], &small, short_thread, NULL) != 0;
    for (int i = 0; i < 50; ++i) {
      void* result = NULL;
      pthread_join(all[i], &result);
      bad += result != NULL;
    }
  }
  printf("%d\npread 10000\n", bad);
}

static atomic_int handled;
static void io_in_handler(int signal) {
  const int kept = errno;
  char byte = 0;
  (void)signal;
  const int f = open("./b", O_RDONLY);
  if (f >= 0 && read(f, &byte, 1) == 1 && byte == '0') atomic_fetch_add(&handled, 1);
  close(f);
  errno = kept;
}

static void every(int microseconds) {
  const struct itimerval timer = {{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// A handler does I/O while the program does it, too, and forks.
static void handler_storm(void) {
  static char stack[16384];
  const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&other, NULL);
  close(make("b"));
  const struct sigaction action = {.sa_handler = io_in_handler, .sa_flags = SA_RESTART | SA_ONSTACK};
  sigaction(SIGALRM, &action, NULL);
  every(150);
  int bad = 0, calls = 0;
  char bytes[4];
  for (const double end = seconds() + 0.7; seconds() < end;) {
    const int f = open("./a", O_RDWR | O_CREAT, 0644);
    bad +=
        f < 0 || pwrite(f, "abcd", 4, 0) != 4 || pread(f, bytes, 4, 0) != 4 || memcmp(bytes, "abcd", 4) != 0;
    calls += 1;
    errno = 77;
    struct stat what;
    bad += fstat(f, &what) != 0 || errno != 77 || close(f) != 0;
    if (calls % 500 == 0) {
      const pid_t child = fork();
      if (child == 0) _exit(0);
      while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
      }
    }
  }
  every(0);
  printf("%d %d\npwrite %d\n", bad, atomic_load(&handled) > 10, calls + 1);
}

static sigjmp_buf back;
static void jump(int signal) { siglongjmp(back, signal); }

// A handler jumps out of a read that waits, then out of whatever the program is doing.
static void jumps(void) {
  const int f = make("a");
  mkfifo("fifo", 0600);
  const int pipe_end = open("fifo", O_RDWR);
  signal(SIGALRM, jump);
  volatile int jumped = 0;
  char byte;
  if (sigsetjmp(back, 1) == 0) {
    every(20000);
    (void)!read(pipe_end, &byte, 1);
  } else {
    jumped = 1;
  }
  volatile long long count = 0;
  volatile double end = seconds() + 0.3;
  every(130);
  (void)sigsetjmp(back, 1);
  while (seconds() < end) {
    (void)!pread(f, &byte, 1, 5);
    ++count;
  }
  every(0);
  signal(SIGALRM, SIG_IGN);
  for (int i = 0; i < 1000; ++i) (void)!lseek(f, i, SEEK_SET);
  printf("%d %d\nlseek 1000\n", jumped, count > 0);
  fprintf(stderr, "%lld\n", count);
}

static void* waits(void* at) {
  char byte;
  (void)!read(*(int*)at, &byte, 1);
  return NULL;
}

// Neither lseek nor stat is a place where a thread is canceled.
static void* is_canceled_late(void* at) {
  pthread_cancel(pthread_self());
  struct stat what;
  for (int i = 0; i < 40000; ++i) (void)!lseek(*(int*)at, i, SEEK_SET);
  (void)!stat("./a", &what);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
  return (void*)42;
}

static void cancellation(void) {
  mkfifo("fifo", 0600);
  int pipe_end = open("fifo", O_RDWR);
  pthread_t thread;
  void* result = NULL;
  pthread_create(&thread, NULL, waits, &pipe_end);
  usleep(50000);
  pthread_cancel(thread);
  pthread_join(thread, &result);
  printf("%d\n", result == PTHREAD_CANCELED);
  int f = make("a");
  pthread_create(&thread, NULL, is_canceled_late, &f);
  pthread_join(thread, &result);
  printf("%d\n", (int)(long)result);
  printf("lseek 40000\n");
}

static void* reads_until_canceled(void* at) {
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  char byte;
  struct stat what;
  for (;;) {
    (void)!pread(*(int*)at, &byte, 1, 0);
    (void)!stat("./a", &what);
  }
  return NULL;
}

// Threads are canceled wherever they are, also within the collector.
static void asynchronous_cancellation(void) {
  int f = make("a"), canceled = 0;
  for (int i = 0; i < 3000; ++i) {
    pthread_t thread;
    void* result = NULL;
    pthread_create(&thread, NULL, reads_until_canceled, &f);
    usleep(i % 50);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    canceled += result == PTHREAD_CANCELED;
  }
  for (int i = 0; i < 1000; ++i) (void)!lseek(f, i, SEEK_SET);
  printf("%d\nlseek 1000\n", canceled);
}

static void many_calls(void) {
  const int f = make("a");
  int bad = 0;
  for (int i = 0; i < 200000; ++i) bad += lseek(f, i, SEEK_SET) != i;
  printf("%d\nlseek 200000\n", bad);
}

__attribute__((constructor)) static void early(void) {
  struct stat what;
  stat("before main", &what);
}
__attribute__((destructor)) static void late(void) {
  struct stat what;
  stat("after main", &what);
}
static void at_exit(void) {
  struct stat what;
  stat("at exit", &what);
}

int main(int count, char** args) {
  const char* name = count > 1 ? args[1] : "";
  static const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {{"kill", calls_until_killed},
               {"processes", processes},
               {"forks", fork_chain},
               {"threads", threads},
               {"storm", handler_storm},
               {"jumps", jumps},
               {"cancel", cancellation},
               {"cancel_anywhere", asynchronous_cancellation},
               {"descriptors", few_descriptors},
               {"files", small_files},
               {"memory", little_memory},
               {"small_again", little_memory_again},
               {"filter", filter},
               {"filter_by_syscall", filter_by_syscall},
               {"only_read_and_write", only_read_and_write},
               {"without_clock", without_clock},
               {"addresses", addresses},
               {"no_descriptors", no_descriptors},
               {"shared_position", shared_position},
               {"unnamed_files", unnamed_files},
               {"zeros_in_lines", zeros_in_lines},
               {"renamed_folder", renamed_folder},
               {"many", many_calls}};
  atexit(at_exit);
  if (strcmp(name, "execs") == 0) exec_chain(args);
  if (strcmp(name, "starts") == 0) starts(args[2]);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    if (strcmp(name, cases[i].name) == 0) cases[i].run();
  return 0;
}
