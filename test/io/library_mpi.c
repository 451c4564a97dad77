// Calls each function of MPI-IO that is recorded, in two ranks.
#include <mpi.h>
#include <string.h>

#include "library.h"

static int rank;
static MPI_File file;
static int values[64];

// An MPI function returns 0 or a code of an error.
#define MPI(name, code, ...) TOLD(name, -(code), .file = "a.bin", __VA_ARGS__)

static void show(const char* what, const MPI_Status* status) {
  int count = -1;
  MPI_Get_count(status, MPI_INT, &count);
  printf("%s %d: %d, first %d\n", what, rank, count, values[0]);
}

static void seek(int at) {
  const int code = MPI_File_seek(file, at, MPI_SEEK_SET);
  MPI(MPI_File_seek, code);
}

static void seek_shared(void) {
  const int code = MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  MPI(MPI_File_seek_shared, code);
}

#define PLAIN(name, count, ...) \
  do { \
    MPI_Status status; \
    const int code = COUNTED(name)(file, values, count, MPI_INT, &status); \
    show(#name, &status); \
    MPI(COUNTED(name), code, .size = 4 * (count), __VA_ARGS__); \
  } while (0)
#define AT(name, at, count, ...) \
  do { \
    MPI_Status status; \
    const int code = COUNTED(name)(file, at, values, count, MPI_INT, &status); \
    show(#name, &status); \
    MPI(COUNTED(name), code, .offset = 4 * (at), .size = 4 * (count), __VA_ARGS__); \
  } while (0)
#define LATER(name, ...) \
  do { \
    MPI_Request request; \
    MPI_Status status; \
    const int code = COUNTED(name)(file, values, 4, MPI_INT, &request); \
    MPI_Wait(&request, &status); \
    show(#name, &status); \
    MPI(COUNTED(name), code, .size = 16, .ret = 16, __VA_ARGS__); \
  } while (0)
#define LATER_AT(name, at) \
  do { \
    MPI_Request request; \
    MPI_Status status; \
    const int code = COUNTED(name)(file, at, values, 4, MPI_INT, &request); \
    MPI_Wait(&request, &status); \
    show(#name, &status); \
    MPI(COUNTED(name), code, .offset = 4 * (at), .size = 16, .ret = 16); \
  } while (0)
#define SPLIT(name, ...) \
  do { \
    MPI_Status status; \
    int code = COUNTED(name##_begin)(file, values, 4, MPI_INT); \
    MPI(COUNTED(name##_begin), code, .size = 16, .ret = 16, __VA_ARGS__); \
    code = name##_end(file, values, &status); \
    show(#name, &status); \
    MPI(name##_end, code); \
  } while (0)
#define SPLIT_AT(name, at) \
  do { \
    MPI_Status status; \
    int code = COUNTED(name##_begin)(file, at, values, 4, MPI_INT); \
    MPI(COUNTED(name##_begin), code, .offset = 4 * (at), .size = 16, .ret = 16); \
    code = name##_end(file, values, &status); \
    show(#name, &status); \
    MPI(name##_end, code); \
  } while (0)

#define COUNTED(name) name
#define PART(name) name
#include "library_mpi_calls.h"
#if MPI_VERSION >= 4
#undef COUNTED
#undef PART
#define COUNTED(name) name##_c
#define PART(name) name##_large
#include "library_mpi_calls.h"
#endif

int main(int count, char** words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  begin_expected(rank);
  int code = MPI_File_open(MPI_COMM_WORLD, "a.bin", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI(MPI_File_open, code, .flags = MPI_MODE_CREATE | MPI_MODE_RDWR);
  code = MPI_File_set_size(file, 256);
  MPI(MPI_File_set_size, code, .size = 256);
  code = MPI_File_preallocate(file, 256);
  MPI(MPI_File_preallocate, code, .size = 256);
  code = MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI(MPI_File_set_view, code);
  write_all();
  code = MPI_File_sync(file);
  MPI(MPI_File_sync, code);
  MPI_Barrier(MPI_COMM_WORLD);
  read_all();
  MPI_Barrier(MPI_COMM_WORLD);
  share();
#if MPI_VERSION >= 4
  MPI_Barrier(MPI_COMM_WORLD);
  write_all_large();
  MPI_Barrier(MPI_COMM_WORLD);
  read_all_large();
  MPI_Barrier(MPI_COMM_WORLD);
  share_large();
#endif
  code = MPI_File_close(&file);
  MPI(MPI_File_close, code);
  MPI_File none;
  code = MPI_File_open(MPI_COMM_SELF, "none/b.bin", MPI_MODE_RDONLY, MPI_INFO_NULL, &none);
  TOLD(MPI_File_open, code == 0 ? 0 : -1, .file = "none/b.bin", .flags = MPI_MODE_RDONLY);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    code = MPI_File_delete("a.bin", MPI_INFO_NULL);
    MPI(MPI_File_delete, code);
  }
  MPI_Finalize();
  return 0;
}
