#include "derive/io/library_calls.h"

#include <algorithm>

#include "derive/nearest_above.h"

namespace stepscope::derive {
namespace {

using trace::Kind;
using trace::kNoRow;
using trace::Row;

constexpr std::string_view kMpi = "MPI_File_";

bool begins_one_of(std::string_view name, std::initializer_list<std::string_view> texts) {
  return std::ranges::any_of(texts, [&](std::string_view text) { return name.starts_with(text); });
}

}  // namespace

std::string_view name_of(IoLibrary library) { return library == IoLibrary::hdf5 ? "HDF5" : "MPI-IO"; }

std::optional<IoLibrary> library_of(std::string_view function) {
  if (function.starts_with(kMpi)) return IoLibrary::mpi_io;
  if (function.starts_with("H5")) return IoLibrary::hdf5;
  return std::nullopt;
}

IoKind library_kind(std::string_view function) {
  const bool is_mpi = function.starts_with(kMpi);
  const std::string_view name = function.substr(is_mpi ? kMpi.size() : 3);  // behind "H5D"
  if (begins_one_of(name, {"read", "iread"})) return IoKind::read;
  if (begins_one_of(name, {"write", "iwrite"})) return IoKind::write;
  if (begins_one_of(name, {"open", "create"})) return IoKind::open;
  if (begins_one_of(name, {"close"})) return IoKind::close;
  if (begins_one_of(name, {"flush", "sync"})) return IoKind::sync;
  if (is_mpi && begins_one_of(name, {"seek", "set_view"})) return IoKind::seek;
  if (is_mpi && begins_one_of(name, {"delete", "set_size", "preallocate"})) return IoKind::change;
  return IoKind::other;
}

bool is_in_call_of(IoLibrary library, const trace::Trace& trace, const trace::Rank& rank, Row row) {
  const trace::EventTable& e = rank.events;
  for (Row at = e.parent[row]; at != kNoRow; at = e.parent[at])
    if (e.kind[at] == Kind::io_library && library_of(trace.name(rank, at)) == library) return true;
  return false;
}

std::vector<LibraryCall> library_calls(const trace::Trace& trace, const trace::Rank& rank,
                                       const std::vector<IoCall>& calls) {
  const trace::EventTable& e = rank.events;
  const trace::ArgReader result(trace, rank, "ret");
  std::vector<LibraryCall> all;
  for (const Row row : rank.host_rows()) {
    if (e.kind[row] != Kind::io_library) continue;
    const std::string_view function = trace.name(rank, row);
    const IoKind kind = library_kind(function);
    const std::int64_t returned = result.integer_or(row, 0);
    const bool moves = kind == IoKind::read || kind == IoKind::write;
    all.push_back({row, library_of(function).value_or(IoLibrary::hdf5), kind,
                   moves ? std::max<std::int64_t>(0, returned) : 0, returned < 0});
  }
  if (all.empty()) return all;
  NearestAbove around(rank, [&](Row row) { return e.kind[row] == Kind::io_library; });
  const auto add = [&](Row row, std::int64_t time, std::int64_t bytes) {
    if (row == kNoRow) return;
    const auto of = std::ranges::lower_bound(all, row, {}, &LibraryCall::row);
    if (__builtin_add_overflow(of->io, time, &of->io)) of->io = INT64_MAX;
    if (__builtin_add_overflow(of->io_bytes, bytes, &of->io_bytes)) of->io_bytes = INT64_MAX;
  };
  for (const IoCall& call : calls) {
    const Row at = e.parent[call.row];
    if (at != kNoRow && e.kind[at] == Kind::io) continue;  // the call around it counts
    add(around(at), e.duration(call.row), call.bytes);
  }
  for (std::size_t i = all.size(); i-- > 0;)  // those inside others come after them
    add(around(e.parent[all[i].row]), all[i].io, all[i].io_bytes);
  return all;
}

}  // namespace stepscope::derive
