// Addresses that are wrong, or on the edge.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "robust.h"

static void say(const char* what, long long result) {
  printf("%s %lld %s\n", what, result, strerror(errno));
  errno = 0;
}

// All but 3 of access fail before the kernel finds a path, which then is not in the recording.
void addresses(void) {
  struct stat found;
  close(make("a"));
  char* page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(page + 4096, 4096);
  memset(page, '/', 4096);
  const char* const wrong[] = {(char*)0x100000, (char*)1, (char*)0x7fff00000000,
                               (char*)-1,       NULL,     page + 4000};
  for (int i = 0; i < 6; ++i) {
    say("access", access(wrong[i], F_OK));
    say("access, wrong mode", access(wrong[i], 77));
    say("fstatat", fstatat(AT_FDCWD, wrong[i], &found, 0));
    say("open", open(wrong[i], O_RDONLY));
    say("rename", rename("none", wrong[i]));
    say("rename", rename(wrong[i], "none"));
    say("symlink", symlink("a", wrong[i]));
    say("truncate", truncate(wrong[i], -1));
    say("chdir", chdir(wrong[i]));
    if (wrong[i] != NULL) say("fopen", fopen(wrong[i], "r") != NULL);
  }
  char* last = page + 4096 - 4;
  say("access", access(strcpy(last, "./a"), F_OK));
  say("access", access(strcpy(last, "./b"), F_OK));
  say("access, wrong mode", access(last, 77));
  // The path is overwritten by the answer.
  char both[PATH_MAX] = "link", *volatile out = both;
  say("symlink", symlink("target", both));
  say("readlink", readlink(both, out, sizeof both));
  puts(both);
  say("rename", rename("./a", "./target"));
  say("realpath", realpath(both, out) != NULL);
  printf("access 3\n");
}
