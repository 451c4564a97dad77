// Threads, forks, vforks, programs started, inherited descriptors.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "conformance.h"

static int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void* in_a_thread(void* at) {
  long long r;
  const int f = *(const int*)at;
  char bytes[8];
  CALL(ssize_t, read, (int, void*, size_t), (f, bytes, 3), .file = "p", .fd = f, .offset = 3, .size = 3);
  CALL(int, rename, (const char*, const char*), ("./none", "d/../none"), .file = "none", .to = "none",
       .error = ENOENT);
  return NULL;
}

static void check_child_of_fork(int f) {
  long long r;
  char bytes[8];
  const pid_t child = fork();
  if (child == 0) {
    CALL(ssize_t, read, (int, void*, size_t), (f, bytes, 2), .file = "p", .fd = f, .offset = 6, .size = 2);
    CALL(int, close, (int), (f), .file = "p", .fd = f);
    CALL(int, open, (const char*, int, ...), ("q", O_WRONLY | O_CREAT, 0600), .file = "q", .fd = r);
    CALL(ssize_t, write, (int, const void*, size_t), ((int)r, "abcd", 4), .file = "q", .fd = f, .offset = 0,
         .size = 4);
    _exit(7);
  }
  line("%d", wait_for(child));
  // The child has moved the position that both share.
  CALL(ssize_t, read, (int, void*, size_t), (f, bytes, 2), .file = "p", .fd = f, .offset = 8, .size = 2);
}

// What the child of a vfork does with its descriptors is not its parent's affair.
static void check_child_of_vfork(int f) {
  long long r;
  char bytes[8];
  const pid_t child = vfork();
  if (child == 0) {
    close(f);
    dup2(1, 50);
    execl("/bin/sh", "sh", "-c", "exit 9", (char*)NULL);
    _exit(1);
  }
  line("%d", wait_for(child));
  CALL(ssize_t, read, (int, void*, size_t), (f, bytes, 2), .file = "p", .fd = f, .offset = 10, .size = 2);
  CALL(int, dup2, (int, int), (f, 50), .file = "p", .fd = f);
  const pid_t failed = vfork();
  if (failed == 0) {
    dup2(1, 50);
    _exit(3);
  }
  line("%d", wait_for(failed));
  CALL(ssize_t, read, (int, void*, size_t), (50, bytes, 2), .file = "p", .fd = 50, .offset = 12, .size = 2);
  CALL(int, close, (int), (50), .file = "p", .fd = 50);
}

static volatile sig_atomic_t handled;
static void on_alarm(int signal) {
  const int kept = errno;
  (void)signal;
  const int f = open("p", O_RDONLY);
  char byte;
  handled += read(f, &byte, 1) == 1;
  close(f);
  errno = kept;
}

static void check_signal_handler(void) {
  signal(SIGUSR1, on_alarm);
  raise(SIGUSR1);
  line("%d", (int)handled);
  // The number of the descriptor is the lowest that is free.
  const int f = dup(1);
  close(f);
  told("open", (struct expected){.file = "p", .fd = f, .offset = kNone, .size = kNone, .ret = f});
  told("read", (struct expected){.file = "p", .fd = f, .offset = 0, .size = 1, .ret = 1});
  told("close", (struct expected){.file = "p", .fd = f, .offset = kNone, .size = kNone});
}

void check_processes(void) {
  long long r;
  char bytes[8];
  CALL(int, open, (const char*, int, ...), ("p", O_RDWR | O_CREAT, 0644), .file = "p", .fd = r);
  const int f = (int)r;
  CALL(ssize_t, pwrite, (int, const void*, size_t, off_t), (f, "0123456789abcdef\n", 17, 0), .file = "p",
       .fd = f, .offset = 0, .size = 17);
  CALL(ssize_t, read, (int, void*, size_t), (f, bytes, 3), .file = "p", .fd = f, .offset = 0, .size = 3);
  int at = f;
  pthread_t thread;
  const int made = pthread_create(&thread, NULL, in_a_thread, &at);
  if (made == 0) pthread_join(thread, NULL);
  line("%d", made);
  check_child_of_fork(f);
  check_child_of_vfork(f);
  check_signal_handler();
  CALL(int, close, (int), (f), .file = "p", .fd = f);
}

void check_started_program(void) {
  long long r;
  CALL(int, open, (const char*, int, ...), ("p", O_RDONLY), .file = "p", .fd = r);
  const int f = (int)r;
  CALL(int, dup2, (int, int), (f, 9), .file = "p", .fd = f);
  const pid_t child = fork();
  if (child == 0) {  // the shell reads a byte at a time
    execl("/bin/sh", "sh", "-c", "read line <&9; echo $line", (char*)NULL);
    _exit(1);
  }
  line("%d", wait_for(child));
}
