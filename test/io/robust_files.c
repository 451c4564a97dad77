// Files without a name, and positions that others move.
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "robust.h"

extern char** environ;

// Each program that is started reads one byte between two reads of ours.
void shared_position(void) {
  static char* const take[] = {"sh", "-c", "dd bs=1 count=1 <&9 >/dev/null 2>&1", NULL};
  close(make("a"));
  dup2(open("a", O_RDONLY), 9);
  char bytes[3] = "";
  const int read_first = (int)read(9, bytes, 2);
  printf("%d %s\n", read_first, bytes);
  printf("%d\n", system(take[2]));
  printf("%d %s\n", (int)read(9, bytes, 2), bytes);
  printf("%d\n", pclose(popen(take[2], "r")));
  printf("%d %s\n", (int)read(9, bytes, 1), bytes);
  pid_t child;
  int status = 0;
  posix_spawnp(&child, "sh", NULL, NULL, take, environ);
  waitpid(child, &status, 0);
  printf("%d\n", status);
  printf("%d %s\n", (int)read(9, bytes, 2), bytes);
}

void unnamed_files(void) {
  const int f = make("a");
  char path[64], byte;
  snprintf(path, sizeof path, "/proc/self/fd/%d", f);
  const int again = open(path, O_RDONLY);
  printf("%d\n", (int)pread(again, &byte, 1, 3));
  const int unnamed = open(".", O_TMPFILE | O_RDWR, 0600);
  printf("%d\n", (int)pwrite(unnamed, "abc", 3, 0));
  printf("pwrite 2\n");
}

// A line with a zero in it has 6 bytes, the last one 3.
void zeros_in_lines(void) {
  FILE* f = fopen("lines", "w");
  fwrite("ab\0cd\nx\0y", 1, 9, f);
  fclose(f);
  f = fopen("lines", "r");
  char bytes[20];
  while (fgets(bytes, sizeof bytes, f) != NULL) printf("%ld\n", ftell(f));
  fclose(f);
}

// The folder that the program is in gets another name.
void renamed_folder(void) {
  mkdir("first", 0755);
  printf("%d\n", chdir("first"));
  close(make("a"));
  printf("%d\n", rename("../first", "../second"));
  close(make("b"));
}
