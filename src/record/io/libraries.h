// The calls of libraries above the file system that the I/O collector records. They cause calls of the file
// system, which are recorded, too. A function's number is part of the format: new ones go to the end of the
// list.
#pragma once

#include <cstdint>
#include <string_view>

#include "record/io/functions.h"

namespace stepscope::record {

enum class IoLibrary : std::uint8_t { hdf5, mpi_io };
inline constexpr int kIoLibraries = 2;

/// The category of its calls, as DFTracer names it.
constexpr std::string_view category_of(IoLibrary library) {
  return library == IoLibrary::hdf5 ? "HDF5" : "MPIIO";
}

// clang-format off
#define STEPSCOPE_LIBRARY_FUNCTIONS(X) \
  X(H5Fcreate, open, hdf5) X(H5Fopen, open, hdf5) X(H5Fflush, sync, hdf5) X(H5Fclose, close, hdf5) \
  X(H5Dcreate1, open, hdf5) X(H5Dcreate2, open, hdf5) X(H5Dopen1, open, hdf5) X(H5Dopen2, open, hdf5) \
  X(H5Dread, read, hdf5) X(H5Dwrite, write, hdf5) X(H5Dread_multi, read, hdf5) X(H5Dwrite_multi, write, hdf5) \
  X(H5Dclose, close, hdf5) X(H5Aread, read, hdf5) X(H5Awrite, write, hdf5) X(MPI_File_open, open, mpi_io) \
  X(MPI_File_close, close, mpi_io) X(MPI_File_delete, change, mpi_io) X(MPI_File_set_size, change, mpi_io) \
  X(MPI_File_preallocate, change, mpi_io) X(MPI_File_set_view, seek, mpi_io) X(MPI_File_seek, seek, mpi_io) \
  X(MPI_File_seek_shared, seek, mpi_io) X(MPI_File_sync, sync, mpi_io) X(MPI_File_read, read, mpi_io) \
  X(MPI_File_read_all, read, mpi_io) X(MPI_File_read_at, read, mpi_io) X(MPI_File_read_at_all, read, mpi_io) \
  X(MPI_File_read_shared, read, mpi_io) X(MPI_File_read_ordered, read, mpi_io) X(MPI_File_iread, read, mpi_io) \
  X(MPI_File_iread_all, read, mpi_io) X(MPI_File_iread_at, read, mpi_io) X(MPI_File_iread_at_all, read, mpi_io) \
  X(MPI_File_iread_shared, read, mpi_io) X(MPI_File_read_all_begin, read, mpi_io) \
  X(MPI_File_read_all_end, read, mpi_io) X(MPI_File_read_at_all_begin, read, mpi_io) \
  X(MPI_File_read_at_all_end, read, mpi_io) X(MPI_File_read_ordered_begin, read, mpi_io) \
  X(MPI_File_read_ordered_end, read, mpi_io) X(MPI_File_write, write, mpi_io) \
  X(MPI_File_write_all, write, mpi_io) X(MPI_File_write_at, write, mpi_io) \
  X(MPI_File_write_at_all, write, mpi_io) X(MPI_File_write_shared, write, mpi_io) \
  X(MPI_File_write_ordered, write, mpi_io) X(MPI_File_iwrite, write, mpi_io) \
  X(MPI_File_iwrite_all, write, mpi_io) X(MPI_File_iwrite_at, write, mpi_io) \
  X(MPI_File_iwrite_at_all, write, mpi_io) X(MPI_File_iwrite_shared, write, mpi_io) \
  X(MPI_File_write_all_begin, write, mpi_io) X(MPI_File_write_all_end, write, mpi_io) \
  X(MPI_File_write_at_all_begin, write, mpi_io) X(MPI_File_write_at_all_end, write, mpi_io) \
  X(MPI_File_write_ordered_begin, write, mpi_io) X(MPI_File_write_ordered_end, write, mpi_io) \
  X(MPI_File_read_c, read, mpi_io) X(MPI_File_read_all_c, read, mpi_io) X(MPI_File_read_at_c, read, mpi_io) \
  X(MPI_File_read_at_all_c, read, mpi_io) X(MPI_File_read_shared_c, read, mpi_io) \
  X(MPI_File_read_ordered_c, read, mpi_io) X(MPI_File_iread_c, read, mpi_io) \
  X(MPI_File_iread_all_c, read, mpi_io) X(MPI_File_iread_at_c, read, mpi_io) \
  X(MPI_File_iread_at_all_c, read, mpi_io) X(MPI_File_iread_shared_c, read, mpi_io) \
  X(MPI_File_read_all_begin_c, read, mpi_io) X(MPI_File_read_at_all_begin_c, read, mpi_io) \
  X(MPI_File_read_ordered_begin_c, read, mpi_io) X(MPI_File_write_c, write, mpi_io) \
  X(MPI_File_write_all_c, write, mpi_io) X(MPI_File_write_at_c, write, mpi_io) \
  X(MPI_File_write_at_all_c, write, mpi_io) X(MPI_File_write_shared_c, write, mpi_io) \
  X(MPI_File_write_ordered_c, write, mpi_io) X(MPI_File_iwrite_c, write, mpi_io) \
  X(MPI_File_iwrite_all_c, write, mpi_io) X(MPI_File_iwrite_at_c, write, mpi_io) \
  X(MPI_File_iwrite_at_all_c, write, mpi_io) X(MPI_File_iwrite_shared_c, write, mpi_io) \
  X(MPI_File_write_all_begin_c, write, mpi_io) X(MPI_File_write_at_all_begin_c, write, mpi_io) \
  X(MPI_File_write_ordered_begin_c, write, mpi_io)
// clang-format on

/// Follows those of IoFunction.
enum class LibraryFunction : std::uint16_t {
  before_first_ = 511,
#define STEPSCOPE_LIBRARY_ENUM(name, kind, library) name,
  STEPSCOPE_LIBRARY_FUNCTIONS(STEPSCOPE_LIBRARY_ENUM)
#undef STEPSCOPE_LIBRARY_ENUM
      end_
};
inline constexpr std::uint32_t kFirstLibraryFunction = 512;
inline constexpr std::uint32_t kLibraryFunctions =
    static_cast<std::uint32_t>(LibraryFunction::end_) - kFirstLibraryFunction;
static_assert(kIoFunctions <= kFirstLibraryFunction);

struct LibraryCallee {
  std::string_view name;
  IoKind kind;
  IoLibrary library;
};

/// By number from kFirstLibraryFunction on.
inline constexpr LibraryCallee kLibraryCallees[] = {
#define STEPSCOPE_LIBRARY_CALLEE(name, kind, library) {#name, IoKind::kind, IoLibrary::library},
    STEPSCOPE_LIBRARY_FUNCTIONS(STEPSCOPE_LIBRARY_CALLEE)
#undef STEPSCOPE_LIBRARY_CALLEE
};

}  // namespace stepscope::record
