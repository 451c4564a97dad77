// Calls of libraries above the file system: HDF5 and MPI-IO. No symbol of theirs is defined here, so that no
// program takes us for them, and each caller keeps the copy that it was linked with: what is replaced is the
// address of the function in the caller's own table, after the dynamic linker has found it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "collect/posix/call.h"
#include "record/io/libraries.h"

namespace stepscope::collect::posix {

using record::IoLibrary;
using record::LibraryFunction;

/// What is asked of a library about its calls. Of each copy of it; null: it has no such function.
enum class Question : std::uint8_t {
  H5Iget_type,
  H5Fget_name,
  H5Iget_name,
  H5Sget_select_npoints,
  H5Tget_size,
  H5Dget_space,
  H5Aget_space,
  H5Sclose,
  PMPI_Type_size,
  PMPI_Get_count,
  PMPI_Get_count_c,
  PMPI_File_get_position,
  PMPI_File_get_byte_offset,
  count_
};

/// A copy of a library in this process. It stays loaded.
struct Library {
  IoLibrary which;
  std::uintptr_t begin, end;
  void* answers[static_cast<std::size_t>(Question::count_)];

  /// `ask<int(Hid)>(Question::H5Iget_type, id)`; -1: there is no such function.
  template <class Function, class... Args>
  std::int64_t ask(Question question, Args... args) const {
    void* function = answers[static_cast<std::size_t>(question)];
    return function == nullptr ? -1
                               : static_cast<std::int64_t>(reinterpret_cast<Function*>(function)(args...));
  }
};

/// What the callers of a wrapper would have called.
struct Target {
  void* function;
  void** late_slot;  ///< `function` looks for the real one and puts it here; null: it is the real one
  const Library* library;
};
inline constexpr unsigned kTargets = 8;  ///< of a function: one for each copy, and for each late slot

constexpr IoLibrary library_of(LibraryFunction function) {
  return record::kLibraryCallees[static_cast<std::uint32_t>(function) - record::kFirstLibraryFunction]
      .library;
}
/// The copy that a call of the target goes to; null: not known.
const Library* copy_of(const Target& target, IoLibrary which);
/// After a call through a late slot: the slot leads to the wrapper again.
void settle(const Target& target, LibraryFunction function);

extern Target targets[record::kLibraryFunctions][kTargets];

/// The wrapper of a function that leads to the target of that number.
void* hdf5_wrapper(LibraryFunction function, unsigned number);
void* mpi_wrapper(LibraryFunction function, unsigned number);

/// Replaces the slots of what was loaded since the last time.
void look_at_objects();
/// In a forked child: another thread of its parent may have been looking.
void stop_looking();

/// Outermost call of a library in this thread: what it calls in itself is not recorded. A jump out of it
/// leaves its mark, which the next call from further up the stack overwrites.
class Outermost {
 public:
  explicit Outermost(IoLibrary which)
      : place_(mine.library_calls[static_cast<int>(which)]),
        is_outermost_(place_ == 0 || place_ <= reinterpret_cast<std::uintptr_t>(this)) {
    if (is_outermost_) place_ = reinterpret_cast<std::uintptr_t>(this);
  }
  Outermost(const Outermost&) = delete;
  Outermost& operator=(const Outermost&) = delete;
  ~Outermost() {
    if (is_outermost_) place_ = 0;
  }
  explicit operator bool() const { return is_outermost_; }

 private:
  std::uintptr_t& place_;
  const bool is_outermost_;
};

template <LibraryFunction function, auto body>
struct Wrapper;
template <LibraryFunction function, class Result, class... Args, Result (*body)(const Target&, Args...)>
struct Wrapper<function, body> {
  template <unsigned number>
  static Result call(Args... args) {
    return once(targets[static_cast<std::uint32_t>(function) - record::kFirstLibraryFunction][number],
                args...);
  }
  /// Keeps the code from being in each wrapper.
  [[gnu::noinline]] static Result once(const Target& target, Args... args) { return body(target, args...); }
};
/// `body(target, args...)` is what the function does.
template <LibraryFunction function, auto body>
void* wrapper_of(unsigned number) {
  void* found = nullptr;
  [&]<unsigned... numbers>(std::integer_sequence<unsigned, numbers...>) {
    ((number == numbers ? found = reinterpret_cast<void*>(&Wrapper<function, body>::template call<numbers>)
                        : nullptr),
     ...);
  }(std::make_integer_sequence<unsigned, kTargets>());
  return found;
}

/// Our own questions: their calls of the file system are not recorded, and errno is kept.
template <class Ask>
void unseen(Ask ask) {
  const int kept = errno;
  const Inside inside;
  ask();
  errno = kept;
}

/// What a call is about.
struct LibraryCall {
  const Library& library;
  Call call;
  Named file{}, object{};
};

/// Calls the target. `before(of)`: finds the file; without one nothing is recorded. `after(of, result)`: says
/// what the call did.
template <class Result, class... Args, class Before, class After>
Result passed_on(LibraryFunction function, const Target& target, Before before, After after, Args... args) {
  auto* next = reinterpret_cast<Result (*)(Args...)>(target.function);
  const IoLibrary which = library_of(function);
  const Library* library = copy_of(target, which);
  const Outermost outermost(which);
  if (library == nullptr || !outermost || is_off()) {
    const Result result = next(args...);
    if (target.late_slot != nullptr) settle(target, function);
    return result;
  }
  LibraryCall of{*library, {.function = function}};
  unseen([&] { before(of); });
  of.call.begin = now();
  const Result result = next(args...);
  of.call.end = now();
  if (target.late_slot != nullptr) settle(target, function);
  if (of.file.number == 0) return result;
  unseen([&] { after(of, result); });
  tell(of.call, of.file, of.object);
  return result;
}

}  // namespace stepscope::collect::posix
