// Two copies of a library in one process. LIBRARY=N: copy N, which ends the program if it gets another's
// identifiers. CALLER: code that is linked with one of them. Else: the program that loads them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

typedef long long Id;

Id H5Fopen(const char* name, unsigned flags, Id how);
Id H5Dopen2(Id file, const char* name, Id how);
int H5Dread(Id dataset, Id type, Id in_memory, Id in_file, Id how, void* to);
int H5Dclose(Id dataset);
int H5Fclose(Id file);
extern const Id H5T_INT;

#if defined(LIBRARY)

enum { kFile = 1, kType = 3, kDataset = 5, kSpace = 4 };  // also the types' numbers
static char opened[4096];
const Id H5T_INT = LIBRARY * 1000 + kType;

static int kind_of(Id id) {
  if (id / 1000 == LIBRARY) return (int)(id % 1000);
  fprintf(stderr, "copy %d got %lld\n", LIBRARY, id);
  abort();
}
static Id made(int kind) { return LIBRARY * 1000 + kind; }

Id H5Fopen(const char* name, unsigned flags, Id how) {
  FILE* file = fopen(name, "r");
  if (file == NULL || flags != 0 || how != 0) return -1;
  fclose(file);
  snprintf(opened, sizeof opened, "%s", name);
  return made(kFile);
}
Id H5Dopen2(Id file, const char* name, Id how) {
  return kind_of(file) == kFile && name != NULL && how == 0 ? made(kDataset) : -1;
}
int H5Dread(Id dataset, Id type, Id in_memory, Id in_file, Id how, void* to) {
  if (kind_of(dataset) != kDataset || kind_of(type) != kType || in_memory != 0 || in_file != 0 || how != 0)
    return -1;
  *(int*)to = LIBRARY;
  return 0;
}
int H5Dclose(Id dataset) { return kind_of(dataset) == kDataset ? 0 : -1; }
int H5Fclose(Id file) { return kind_of(file) == kFile ? 0 : -1; }
int H5Iget_type(Id id) { return kind_of(id); }
ssize_t H5Fget_name(Id id, char* to, size_t room) {
  return kind_of(id) ? snprintf(to, room, "%s", opened) : -1;
}
ssize_t H5Iget_name(Id id, char* to, size_t room) {
  return kind_of(id) ? snprintf(to, room, "/%d", LIBRARY) : -1;
}
Id H5Dget_space(Id dataset) { return kind_of(dataset) == kDataset ? made(kSpace) : -1; }
long long H5Sget_select_npoints(Id space) { return kind_of(space) == kSpace ? LIBRARY : -1; }
int H5Sclose(Id space) { return kind_of(space) == kSpace ? 0 : -1; }
size_t H5Tget_size(Id type) { return kind_of(type) == kType ? 4 : 0; }
int H5get_libversion(unsigned* a, unsigned* b, unsigned* c) {
  *a = *b = *c = LIBRARY;
  return 0;
}
int H5Fstart_swmr_write(Id file) { return kind_of(file) == kFile ? 0 : -1; }

#elif defined(CALLER)

// Of the copy that it is bound to: its number.
int use(const char* name) {
  int copy = 0;
  const Id file = H5Fopen(name, 0, 0), dataset = H5Dopen2(file, "x", 0);
  const int failed = H5Dread(dataset, H5T_INT, 0, 0, 0, &copy) | H5Dclose(dataset) | H5Fclose(file);
  return failed ? -1 : copy;
}

#else

// Words: "lazy:PATH" or "now:PATH" loads a library and uses it twice.
int main(int count, char** words) {
  for (int i = 1; i < count; ++i) {
    const char* path = strchr(words[i], ':') + 1;
    printf("H5Fopen is %s\n", dlsym(RTLD_DEFAULT, "H5Fopen") == NULL ? "nowhere" : "defined");
    void* library = dlopen(path, (words[i][0] == 'l' ? RTLD_LAZY : RTLD_NOW) | RTLD_LOCAL);
    if (library == NULL) {
      printf("%s\n", dlerror());
      return 1;
    }
    int (*use)(const char*) = (int (*)(const char*))dlsym(library, "use");
    printf("%d %d\n", use("data"), use("data"));
  }
  return 0;
}

#endif
