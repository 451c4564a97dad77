// Programs that are limited, or that forbid themselves system calls.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "robust.h"

// With the given limit reached, the program gets the errors that it always got.
void few_descriptors(void) {
  const struct rlimit few = {64, 64};
  setrlimit(RLIMIT_NOFILE, &few);
  close(make("a"));
  int last = -1, count = 0;
  for (int f; (f = open("a", O_RDONLY)) >= 0; last = f) ++count;
  printf("%d %d %s\n", last, count, strerror(errno));
  for (int i = 0; i < 5000; ++i) (void)!lseek(last, i, SEEK_SET);
  printf("open %d\n", count + 2);
}

// The recording cannot be opened again, and ends.
void no_descriptors(void) {
  const int f = make("a");
  const struct rlimit none = {0, 0};
  setrlimit(RLIMIT_NOFILE, &none);
  int bad = 0;
  for (int i = 0; i < 20000; ++i) bad += lseek(f, i, SEEK_SET) != i;
  printf("%d %d\n", bad, open("a", O_RDONLY));
}

void small_files(void) {
  const struct rlimit small = {100000, 100000};
  setrlimit(RLIMIT_FSIZE, &small);
  const int f = make("a");
  int bad = 0;
  for (int i = 0; i < 20000; ++i) bad += lseek(f, i, SEEK_SET) != i;
  signal(SIGXFSZ, SIG_IGN);
  const int wrote = (int)pwrite(f, "x", 1, 100000);
  printf("%d %d %s\nopen 1\n", bad, wrote, strerror(errno));
}

void little_memory(void) {
  const struct rlimit small = {200 << 20, 200 << 20};
  setrlimit(RLIMIT_AS, &small);
  char* args[] = {"/proc/self/exe", "small_again", NULL};
  execv(args[0], args);
}

void little_memory_again(void) {
  const int f = make("a");
  void* most = malloc(100 << 20);
  printf("%d\n", most != NULL);
  for (int i = 0; i < 1000; ++i) (void)!lseek(f, i, SEEK_SET);
  printf("lseek 1000\n");
}

// Allows the calls that the program makes itself, and the system kills it for any other.
static void allow_own_calls(int by_syscall) {
  static const int own[] = {SYS_read,   SYS_write, SYS_close, SYS_clone,     SYS_wait4, SYS_set_robust_list,
                            SYS_gettid, SYS_rseq,  SYS_exit,  SYS_exit_group};
  enum { kOwn = sizeof own / sizeof *own };
  struct sock_filter steps[2 + 2 * kOwn] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0)};
  for (int i = 0; i < kOwn; ++i) {
    steps[1 + 2 * i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, own[i], 0, 1);
    steps[2 + 2 * i] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  steps[1 + 2 * kOwn] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  const struct sock_fprog all = {2 + 2 * kOwn, steps};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  const long failed = by_syscall ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &all)
                                 : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all);
  if (failed != 0) exit(6);
}

// Its child, too, does I/O within the filter.
static void within_a_filter(int by_syscall) {
  const int f = make("a");
  char byte;
  printf("%d\n", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL));  // asks whether there are filters
  for (int i = 0; i < 100; ++i) (void)!lseek(f, i % 5, SEEK_SET);
  printf("lseek 100\n");
  fflush(stdout);
  allow_own_calls(by_syscall);
  const pid_t child = fork();
  const int good = read(f, &byte, 1) == 1;
  if (child == 0) syscall(SYS_exit_group, good ? 7 : 8);
  int status = 0;
  waitpid(child, &status, 0);
  close(f);
  _exit(good && WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 0 : 9);
}
void filter(void) { within_a_filter(0); }
void filter_by_syscall(void) { within_a_filter(1); }

void only_read_and_write(void) {
  const int f = make("a");
  printf("pwrite 1\n");
  fflush(stdout);
  char byte;
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
  syscall(SYS_exit, read(f, &byte, 1) == 1 ? 0 : 9);
}

void without_clock(void) {
  const int f = make("a");
#ifdef __x86_64__
  char byte;
  prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
  for (int i = 0; i < 100; ++i) (void)!pread(f, &byte, 1, i);
  FILE* unnamed = tmpfile();
  printf("%d\n", unnamed != NULL);
  close_range(100, 200, 0);
  prctl(PR_SET_TSC, PR_TSC_ENABLE);
#endif
  close(f);
  printf("pwrite 1\n");
}
