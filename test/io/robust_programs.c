// Starts a program by each function that does: what it gets is the same with the collector.
#define _GNU_SOURCE
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "robust.h"

enum { kFunctions = 10 };

static int started(int function, char* program) {
  char say[] = "echo $0 $# $1 ${GIVEN:-none}", first[] = "a", second[] = "b", sh[] = "sh", option[] = "-c",
       given[] = "GIVEN=1";
  char* words[] = {sh, option, say, first, second, NULL};
  char* environment[] = {given, NULL};
  const char* name = strrchr(program, '/') + 1;
  pid_t child = 0;
  if (function == 8)
    return posix_spawn(&child, program, NULL, NULL, words, environment) == 0 ? (int)child : -1;
  if (function == 9) return posix_spawnp(&child, name, NULL, NULL, words, environment) == 0 ? (int)child : -1;
  child = function % 2 == 0 ? fork() : vfork();
  if (child != 0) return (int)child;
  if (function == 0) execve(program, words, environment);
  if (function == 1) execv(program, words);
  if (function == 2) execvp(name, words);
  if (function == 3) execvpe(name, words, environment);
  if (function == 4) execl(program, sh, option, say, first, second, (char*)NULL);
  if (function == 5) execlp(name, sh, option, say, first, second, (char*)NULL);
  if (function == 6) execle(program, sh, option, say, first, second, (char*)NULL, environment);
  if (function == 7) execv("./missing", words);
  _exit(errno == ENOENT ? 7 : 8);
}

void starts(char* program) {
  for (int function = 0; function < kFunctions; ++function) {
    int status = -1;
    const pid_t child = started(function, program);
    const pid_t ended = waitpid(child, &status, 0);
    printf("%d %d %d\n", function, ended == child, status);
    fflush(stdout);
  }
  errno = 0;
  char* none[] = {NULL};
  char* volatile nowhere = (char*)8;
  const int failed = execve(nowhere, none, none);
  printf("%d %s\n", failed, strerror(errno));
}
