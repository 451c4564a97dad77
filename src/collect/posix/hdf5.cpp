// Calls of HDF5. Its identifiers are numbers of 64 bits; what they stand for is asked before the call, which
// clears the library's record of errors in any case.
#include "collect/posix/libraries.h"

namespace stepscope::collect::posix {
namespace {

using Id = std::int64_t;
using Status = int;

constexpr Id kAll = 0;           // H5S_ALL; H5S_BLOCK and H5S_PLIST follow
constexpr Id kLastConstant = 2;  // of a dataspace
constexpr int kFile = 1, kGroup = 2, kDatatype = 3, kDataspace = 4, kDataset = 5;
constexpr int kLastAttribute = 7;  // 6 before HDF5 1.12, which has maps there

/// The only question that prints nothing about a bad identifier; -1 then.
std::int64_t type_of(const Library& library, Id id) {
  return id <= 0 ? -1 : library.ask<int(Id)>(Question::H5Iget_type, id);
}

bool is_a(const Library& library, Id id, int type) { return type_of(library, id) == type; }

/// Files, groups, named datatypes, datasets and attributes are in a file.
bool is_in_a_file(const Library& library, Id id) {
  const std::int64_t type = type_of(library, id);
  return type == kFile || type == kGroup || (type >= kDataset && type <= kLastAttribute);
}

bool is_url(const char* name) { return std::strstr(name, "://") != nullptr; }

void name_path(LibraryCall& of, const char* name) {
  if (!is_url(name)) of.file = named(AT_FDCWD, name);
}

void name_file(LibraryCall& of, Id id) {
  char name[PATH_MAX];
  if (!is_in_a_file(of.library, id)) return;
  const std::int64_t length =
      of.library.ask<ssize_t(Id, char*, std::size_t)>(Question::H5Fget_name, id, name, sizeof name);
  if (length > 0 && length < static_cast<std::int64_t>(sizeof name)) name_path(of, name);
}

/// The path in its file of what an identifier stands for. HDF5 searches the file for the names of some.
void name_object(LibraryCall& of, Id id) {
  constexpr std::uint64_t kSlow = 1'000'000;
  static std::atomic<bool> is_slow{false};
  char name[1024];
  if (of.file.number == 0 || is_slow.load(std::memory_order_relaxed)) return;
  timespec begin{}, end{};
  ::clock_gettime(CLOCK_MONOTONIC, &begin);
  const std::int64_t length =
      of.library.ask<ssize_t(Id, char*, std::size_t)>(Question::H5Iget_name, id, name, sizeof name);
  ::clock_gettime(CLOCK_MONOTONIC, &end);
  const std::int64_t took = (end.tv_sec - begin.tv_sec) * 1'000'000'000 + end.tv_nsec - begin.tv_nsec;
  if (took > static_cast<std::int64_t>(kSlow)) is_slow.store(true, std::memory_order_relaxed);
  if (length > 0 && length < static_cast<std::int64_t>(sizeof name))
    of.object = named_text(name, static_cast<std::uint32_t>(length));
}

/// Elements of a selection; of all, if `space` says so.
std::uint64_t count_elements(const Library& library, Id space, Question whole, Id of) {
  const bool is_made = space == kAll;
  if (is_made) space = library.ask<Id(Id)>(whole, of);
  if (space <= kLastConstant || !is_a(library, space, kDataspace)) return 0;
  const std::int64_t count = library.ask<std::int64_t(Id)>(Question::H5Sget_select_npoints, space);
  if (is_made) library.ask<Status(Id)>(Question::H5Sclose, space);
  return count < 0 ? 0 : static_cast<std::uint64_t>(count);
}

std::uint64_t size_of(const Library& library, Id type) {
  if (!is_a(library, type, kDatatype)) return 0;
  const std::int64_t size = library.ask<std::size_t(Id)>(Question::H5Tget_size, type);
  return size < 0 ? 0 : static_cast<std::uint64_t>(size);
}

std::uint64_t dataset_bytes(const Library& library, Id dataset, Id type, Id in_memory, Id in_file) {
  const bool both = in_memory == kAll || in_memory == 1;  // H5S_BLOCK: as many as are chosen in the file
  return size_of(library, type) *
         count_elements(library, both ? in_file : in_memory, Question::H5Dget_space, dataset);
}

void say_status(LibraryCall& of, std::int64_t result) { of.call.result = result < 0 ? -1 : 0; }
void say_moved(LibraryCall& of, std::int64_t result) {
  of.call.result = result < 0 ? -1 : static_cast<std::int64_t>(of.call.size);
}
void say_opened(LibraryCall& of, std::int64_t result) {
  say_status(of, result);
  if (result >= 0) name_object(of, result);
}

template <LibraryFunction function, class... Args>
Id opening_file(const Target& target, const char* name, unsigned flags, Args... more) {
  return passed_on<Id>(
      function, target,
      [&](LibraryCall& of) {
        if (is_text(name)) name_path(of, name);
        of.call.detail = flags;
        of.call.is_long = true;
      },
      say_status, name, flags, more...);
}

template <LibraryFunction function, class... Args>
Status about_object(const Target& target, Id id, Args... more) {
  return passed_on<Status>(
      function, target,
      [&](LibraryCall& of) {
        name_file(of, id);
        if (function == LibraryFunction::H5Dclose && is_a(of.library, id, kDataset)) name_object(of, id);
      },
      say_status, id, more...);
}

template <LibraryFunction function, class... Args>
Id opening_dataset(const Target& target, Id where, const char* name, Args... more) {
  return passed_on<Id>(
      function, target, [&](LibraryCall& of) { name_file(of, where); }, say_opened, where, name, more...);
}

template <LibraryFunction function, class Bytes>
Status moving(const Target& target, Id dataset, Id type, Id in_memory, Id in_file, Id how, Bytes bytes) {
  return passed_on<Status>(
      function, target,
      [&](LibraryCall& of) {
        if (!is_a(of.library, dataset, kDataset)) return;
        name_file(of, dataset);
        name_object(of, dataset);
        if (of.file.number != 0) of.call.size = dataset_bytes(of.library, dataset, type, in_memory, in_file);
      },
      say_moved, dataset, type, in_memory, in_file, how, bytes);
}

/// The file and the name are those of the first dataset, the bytes those of all.
template <LibraryFunction function, class Bytes>
Status moving_several(const Target& target, std::size_t count, const Id* datasets, const Id* types,
                      const Id* in_memory, const Id* in_file, Id how, Bytes bytes) {
  return passed_on<Status>(
      function, target,
      [&](LibraryCall& of) {
        const bool all =
            datasets != nullptr && types != nullptr && in_memory != nullptr && in_file != nullptr;
        if (count == 0 || !all || !is_a(of.library, datasets[0], kDataset)) return;
        name_file(of, datasets[0]);
        name_object(of, datasets[0]);
        for (std::size_t i = 0; i < count && of.file.number != 0; ++i)
          if (is_a(of.library, datasets[i], kDataset))
            of.call.size += dataset_bytes(of.library, datasets[i], types[i], in_memory[i], in_file[i]);
      },
      say_moved, count, datasets, types, in_memory, in_file, how, bytes);
}

/// Of an attribute; the name is that of what it belongs to.
template <LibraryFunction function, class Bytes>
Status moving_attribute(const Target& target, Id attribute, Id type, Bytes bytes) {
  return passed_on<Status>(
      function, target,
      [&](LibraryCall& of) {
        name_file(of, attribute);
        name_object(of, attribute);
        if (of.file.number != 0)
          of.call.size =
              size_of(of.library, type) * count_elements(of.library, kAll, Question::H5Aget_space, attribute);
      },
      say_moved, attribute, type, bytes);
}

}  // namespace

void* hdf5_wrapper(LibraryFunction function, unsigned number) {
  using F = LibraryFunction;
  switch (function) {
    case F::H5Fcreate:
      return wrapper_of<F::H5Fcreate, &opening_file<F::H5Fcreate, Id, Id>>(number);
    case F::H5Fopen:
      return wrapper_of<F::H5Fopen, &opening_file<F::H5Fopen, Id>>(number);
    case F::H5Fflush:
      return wrapper_of<F::H5Fflush, &about_object<F::H5Fflush, int>>(number);
    case F::H5Fclose:
      return wrapper_of<F::H5Fclose, &about_object<F::H5Fclose>>(number);
    case F::H5Dcreate1:
      return wrapper_of<F::H5Dcreate1, &opening_dataset<F::H5Dcreate1, Id, Id, Id>>(number);
    case F::H5Dcreate2:
      return wrapper_of<F::H5Dcreate2, &opening_dataset<F::H5Dcreate2, Id, Id, Id, Id, Id>>(number);
    case F::H5Dopen1:
      return wrapper_of<F::H5Dopen1, &opening_dataset<F::H5Dopen1>>(number);
    case F::H5Dopen2:
      return wrapper_of<F::H5Dopen2, &opening_dataset<F::H5Dopen2, Id>>(number);
    case F::H5Dread:
      return wrapper_of<F::H5Dread, &moving<F::H5Dread, void*>>(number);
    case F::H5Dwrite:
      return wrapper_of<F::H5Dwrite, &moving<F::H5Dwrite, const void*>>(number);
    case F::H5Dread_multi:
      return wrapper_of<F::H5Dread_multi, &moving_several<F::H5Dread_multi, void**>>(number);
    case F::H5Dwrite_multi:
      return wrapper_of<F::H5Dwrite_multi, &moving_several<F::H5Dwrite_multi, const void**>>(number);
    case F::H5Dclose:
      return wrapper_of<F::H5Dclose, &about_object<F::H5Dclose>>(number);
    case F::H5Aread:
      return wrapper_of<F::H5Aread, &moving_attribute<F::H5Aread, void*>>(number);
    case F::H5Awrite:
      return wrapper_of<F::H5Awrite, &moving_attribute<F::H5Awrite, const void*>>(number);
    default:
      return nullptr;
  }
}

}  // namespace stepscope::collect::posix
