// Unusual things that programs do with paths and descriptors: `unusual CASE`, in a folder that is empty. The
// last line of the output tells functions and how many of their calls are to be recorded.
#define _GNU_SOURCE
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

static int make(const char* name) {
  const int file = open(name, O_RDWR | O_CREAT, 0600);
  if (file < 0 || write(file, "0123456789", 10) != 10) exit(1);
  return file;
}

/// The child's first call closes what it inherited.
static void child_closes(void) {
  const int file = make("inherited");
  if (fork() == 0) {
    close(file);
    _exit(0);
  }
  wait(NULL);
  close(file);
  printf("close 2\n");
}

/// Relative paths of up to 4,095 bytes that are short without their dots.
static void long_paths(void) {
  static char path[4096];
  close(make("f"));
  int opened = 1;
  for (size_t size = 1001; size <= sizeof path; size += size < 4000 ? 200 : 2) {
    memset(path, 0, sizeof path);
    for (size_t at = 0; at + 2 < size; at += 2) memcpy(path + at, "./", 2);
    path[strlen(path)] = 'f';
    const int file = open(path, O_RDONLY);
    if (file < 0) exit(2);
    close(file);
    ++opened;
  }
  printf("open %d\n", opened);
}

/// Results that overwrite the path: what was asked is not known then.
static void overwritten_paths(void) {
  union {
    char path[4096];
    struct statfs system;
    struct statx more;
    struct stat file;
  } at;
  close(make("f"));
  char name[4000];
  if (getcwd(name, sizeof name - 2) == NULL) exit(1);
  strcat(name, "/f");
  strcpy(at.path, name);
  statfs(at.path, &at.system);
  strcpy(at.path, name);
  statx(AT_FDCWD, at.path, 0, STATX_ALL, &at.more);
  strcpy(at.path, name);
  lstat(at.path, &at.file);
  printf("statfs 0 statx 0 lstat 0\n");
}

/// endmntent() closes inside libc; the descriptor is a socket's then.
static void closed_inside(void) {
  close(make("table"));
  FILE* table = fopen("table", "r");
  int pair[2];
  endmntent(table);
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 || write(pair[0], "abc", 3) != 3) exit(1);
  printf("write 1\n");
}

/// realpath() looks at no byte behind the first component that is missing.
static void path_without_end(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE) != 0) exit(1);
  const char path[] = {'n', 'o', 't', 'h', 'e', 'r', 'e', '/', 'x'};
  char out[4096];
  char* at = memcpy(pages + page - sizeof path, path, sizeof path);
  printf("%d\n", realpath(at, out) == NULL);
  printf("realpath 0\n");
}

int main(int count, char** args) {
  const char* name = count > 1 ? args[1] : "";
  static const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {{"child_closes", child_closes},
               {"long_paths", long_paths},
               {"overwritten_paths", overwritten_paths},
               {"closed_inside", closed_inside},
               {"path_without_end", path_without_end}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    if (strcmp(name, cases[i].name) == 0) {
      cases[i].run();
      return 0;
    }
  return 3;
}
