// Calls of libraries above the file system: HDF5 and MPI-IO. They cause calls of the file system, so their
// bytes are never added to those of derive::io_calls().
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "derive/io/io_calls.h"

namespace stepscope::derive {

enum class IoLibrary : std::uint8_t { hdf5, mpi_io };
std::string_view name_of(IoLibrary library);

/// By a function's name.
std::optional<IoLibrary> library_of(std::string_view function);
IoKind library_kind(std::string_view function);

struct LibraryCall {
  trace::Row row;
  IoLibrary library;
  IoKind kind;
  std::int64_t bytes;  ///< in memory; of calls that only begin a transfer: that were asked for
  bool failed;
  std::int64_t io = 0, io_bytes = 0;  ///< length and bytes of the file system's calls in it, on its thread
};

/// Whether a call of the library is around the row, on its thread.
bool is_in_call_of(IoLibrary library, const trace::Trace& trace, const trace::Rank& rank, trace::Row row);

/// In row order. `calls`: those of the file system, in row order.
std::vector<LibraryCall> library_calls(const trace::Trace& trace, const trace::Rank& rank,
                                       const std::vector<IoCall>& calls);

}  // namespace stepscope::derive
