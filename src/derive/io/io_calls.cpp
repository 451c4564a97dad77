#include "derive/io/io_calls.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "derive/io/library_calls.h"

namespace stepscope::derive {
namespace {

using trace::Row;

struct Function {
  std::string_view name;
  IoKind kind;
};

/// Without the affixes that libc gives to variants; sorted.
constexpr Function kFunctions[] = {
    {"access", IoKind::stat},
    {"chdir", IoKind::stat},
    {"chmod", IoKind::change},
    {"chown", IoKind::change},
    {"clearerr", IoKind::other},
    {"close", IoKind::close},
    {"close_range", IoKind::close},
    {"closedir", IoKind::list},
    {"closefrom", IoKind::close},
    {"copy_file_range", IoKind::read},
    {"creat", IoKind::open},
    {"euidaccess", IoKind::stat},
    {"faccessat", IoKind::stat},
    {"faccessat2", IoKind::stat},
    {"fallocate", IoKind::change},
    {"fchdir", IoKind::stat},
    {"fchmod", IoKind::change},
    {"fchmodat", IoKind::change},
    {"fchown", IoKind::change},
    {"fchownat", IoKind::change},
    {"fclose", IoKind::close},
    {"fdatasync", IoKind::sync},
    {"fdopen", IoKind::open},
    {"fdopendir", IoKind::list},
    {"fflush", IoKind::sync},
    {"fgetc", IoKind::read},
    {"fgetpos", IoKind::seek},
    {"fgets", IoKind::read},
    {"flock", IoKind::lock},
    {"fopen", IoKind::open},
    {"fprintf", IoKind::write},
    {"fputc", IoKind::write},
    {"fputs", IoKind::write},
    {"fread", IoKind::read},
    {"freopen", IoKind::open},
    {"fscanf", IoKind::read},
    {"fseek", IoKind::seek},
    {"fseeko", IoKind::seek},
    {"fsetpos", IoKind::seek},
    {"fstat", IoKind::stat},
    {"fstatat", IoKind::stat},
    {"fstatfs", IoKind::stat},
    {"fstatvfs", IoKind::stat},
    {"fsync", IoKind::sync},
    {"ftell", IoKind::seek},
    {"ftello", IoKind::seek},
    {"ftruncate", IoKind::change},
    {"futimens", IoKind::change},
    {"futimes", IoKind::change},
    {"futimesat", IoKind::change},
    {"fwrite", IoKind::write},
    {"fxstat", IoKind::stat},
    {"fxstatat", IoKind::stat},
    {"getdelim", IoKind::read},
    {"getdents", IoKind::list},
    {"getline", IoKind::read},
    {"lchown", IoKind::change},
    {"link", IoKind::change},
    {"linkat", IoKind::change},
    {"lockf", IoKind::lock},
    {"lseek", IoKind::seek},
    {"lstat", IoKind::stat},
    {"lutimes", IoKind::change},
    {"lxstat", IoKind::stat},
    {"mkdir", IoKind::change},
    {"mkdirat", IoKind::change},
    {"mkfifo", IoKind::change},
    {"mkfifoat", IoKind::change},
    {"mknod", IoKind::change},
    {"mknodat", IoKind::change},
    {"mkostemp", IoKind::open},
    {"mkostemps", IoKind::open},
    {"mkstemp", IoKind::open},
    {"mkstemps", IoKind::open},
    {"mmap", IoKind::map},
    {"msync", IoKind::sync},
    {"munmap", IoKind::map},
    {"newfstatat", IoKind::stat},
    {"open", IoKind::open},
    {"openat", IoKind::open},
    {"openat2", IoKind::open},
    {"opendir", IoKind::list},
    {"pclose", IoKind::close},
    {"posix_fallocate", IoKind::change},
    {"pread", IoKind::read},
    {"preadv", IoKind::read},
    {"preadv2", IoKind::read},
    {"printf", IoKind::write},
    {"puts", IoKind::write},
    {"pwrite", IoKind::write},
    {"pwritev", IoKind::write},
    {"pwritev2", IoKind::write},
    {"read", IoKind::read},
    {"readdir", IoKind::list},
    {"readlink", IoKind::stat},
    {"readlinkat", IoKind::stat},
    {"readv", IoKind::read},
    {"realpath", IoKind::stat},
    {"remove", IoKind::change},
    {"rename", IoKind::change},
    {"renameat", IoKind::change},
    {"renameat2", IoKind::change},
    {"rewind", IoKind::seek},
    {"rewinddir", IoKind::list},
    {"rmdir", IoKind::change},
    {"scandir", IoKind::list},
    {"sendfile", IoKind::read},
    {"splice", IoKind::read},
    {"stat", IoKind::stat},
    {"statfs", IoKind::stat},
    {"statvfs", IoKind::stat},
    {"statx", IoKind::stat},
    {"symlink", IoKind::change},
    {"symlinkat", IoKind::change},
    {"sync_file_range", IoKind::sync},
    {"syncfs", IoKind::sync},
    {"tmpfile", IoKind::open},
    {"truncate", IoKind::change},
    {"unlink", IoKind::change},
    {"unlinkat", IoKind::change},
    {"utime", IoKind::change},
    {"utimensat", IoKind::change},
    {"utimes", IoKind::change},
    {"vfprintf", IoKind::write},
    {"vfscanf", IoKind::read},
    {"vprintf", IoKind::write},
    {"write", IoKind::write},
    {"writev", IoKind::write},
    {"xmknod", IoKind::change},
    {"xstat", IoKind::stat},
};

constexpr std::string_view kStdio[] = {"clearerr", "fclose", "fdopen",   "fflush",   "fgetc",   "fgetpos",
                                       "fgets",    "fopen",  "fprintf",  "fputc",    "fputs",   "fread",
                                       "freopen",  "fscanf", "fseek",    "fseeko",   "fsetpos", "ftell",
                                       "ftello",   "fwrite", "getdelim", "getline",  "pclose",  "printf",
                                       "puts",     "rewind", "tmpfile",  "vfprintf", "vfscanf", "vprintf"};

/// From one descriptor to another, within the kernel.
constexpr std::string_view kCopies[] = {"copy_file_range", "sendfile", "splice"};

std::string_view without(std::string_view name, std::string_view ending) {
  return name.ends_with(ending) ? name.substr(0, name.size() - ending.size()) : name;
}

/// Requests that are submitted and answered later say in `opcode` what they ask for.
IoKind kind_of_request(std::string_view function, std::int64_t opcode) {
  if (function == "io_submit") {  // IOCB_CMD_…: PREAD, PWRITE, FSYNC, FDSYNC, …, PREADV, PWRITEV
    constexpr IoKind kKinds[] = {IoKind::read,  IoKind::write, IoKind::sync, IoKind::sync, IoKind::other,
                                 IoKind::other, IoKind::other, IoKind::read, IoKind::write};
    return opcode >= 0 && opcode < std::ssize(kKinds) ? kKinds[opcode] : IoKind::other;
  }
  switch (opcode) {  // IORING_OP_…
    case 1:          // READV
    case 4:          // READ_FIXED
    case 22:         // READ
      return IoKind::read;
    case 2:   // WRITEV
    case 5:   // WRITE_FIXED
    case 23:  // WRITE
      return IoKind::write;
    case 3:  // FSYNC
      return IoKind::sync;
    default:
      return IoKind::other;
  }
}

bool is_request(std::string_view function) {
  return function == "io_submit" || function.starts_with("io_uring_submit");
}

/// F_SETLKW and F_OFD_SETLKW of Linux.
bool waits_for_lock(std::int64_t command) { return command == 7 || command == 38; }

class Reader {
 public:
  Reader(const trace::Trace& trace, const trace::Rank& rank)
      : trace_(trace),
        rank_(rank),
        file_(trace, rank, "fname"),
        to_(trace, rank, "to"),
        offset_(trace, rank, "offset"),
        result_(trace, rank, "ret"),
        size_(trace, rank, "size"),
        descriptor_(trace, rank, "fd"),
        opcode_(trace, rank, "opcode"),
        command_(trace, rank, "cmd"),
        error_(trace, rank, "errno"),
        stdio_(trace.strings.find("STDIO")) {}

  IoCall operator()(Row row) {
    const trace::StringId name = rank_.events.name[row];
    if (name != last_name_) {
      last_name_ = name;
      const std::string_view function = trace_.text(name);
      last_kind_ = io_kind(function);
      is_request_ = is_request(function);
      is_copy_ = is_one_of(plain_name(function), kCopies);
      is_control_ = plain_name(function) == "fcntl";
    }
    IoCall call{row,
                last_kind_,
                file_.id(row),
                offset_.integer_or(row, -1),
                0,
                descriptor_.integer_or(row, -1),
                false,
                trace::kEmptyString};
    if (is_copy_) take_target(call);
    if (is_control_ && waits_for_lock(command_.integer_or(row, -1))) call.kind = IoKind::lock;
    const auto result = result_.integer(row);
    if (is_request_) {
      call.kind = kind_of_request(trace_.text(name), opcode_.integer_or(row, -1));
      call.bytes = std::max<std::int64_t>(0, size_.integer_or(row, 0));
    } else if (call.kind == IoKind::read || call.kind == IoKind::write) {
      call.bytes = std::max<std::int64_t>(0, result.value_or(0));
      // DFTracer's results of fread and fwrite are numbers of items.
      std::int64_t items = 1;
      if (rank_.events.category[row] == stdio_ && size_.has(row)) items = size_.integer_or(row, 1);
      if (__builtin_mul_overflow(call.bytes, items, &call.bytes)) call.bytes = 0;
    }
    call.failed = error_.has(row) || (result && *result < 0);
    return call;
  }

 private:
  /// A copy from something that is no file is a write.
  void take_target(IoCall& call) const {
    const trace::StringId to = to_.id(call.row);
    if (call.file != trace::kEmptyString || to == trace::kEmptyString) {
      call.to = to;
    } else {
      call.kind = IoKind::write;
      call.file = to;
    }
  }

  const trace::Trace& trace_;
  const trace::Rank& rank_;
  const trace::ArgReader file_, to_, offset_, result_, size_, descriptor_, opcode_, command_, error_;
  const trace::StringId stdio_;
  trace::StringId last_name_ = trace::kEmptyString;
  IoKind last_kind_ = IoKind::other;
  bool is_request_ = false, is_copy_ = false, is_control_ = false;
};

}  // namespace

std::string_view name_of(IoKind kind) {
  constexpr std::string_view kNames[kIoKinds] = {"read", "write",     "open",   "close", "seek", "sync",
                                                 "stat", "directory", "change", "map",   "lock", "other"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view plain_name(std::string_view function) {
  std::string_view name = function;
  while (name.starts_with('_')) name.remove_prefix(1);
  if (name.starts_with("isoc99_")) name.remove_prefix(7);
  for (const std::string_view ending : {"_chk", "_unlocked", "_2"}) name = without(name, ending);
  if (name == "preadv64v2") return "preadv2";
  if (name == "pwritev64v2") return "pwritev2";
  return without(name, "64");
}

bool is_stdio(std::string_view function) { return is_one_of(plain_name(function), kStdio); }

IoKind io_kind(std::string_view function) {
  if (library_of(function)) return library_kind(function);
  static_assert(std::ranges::is_sorted(kFunctions, {}, &Function::name));
  const std::string_view name = plain_name(function);
  const auto* found = std::ranges::lower_bound(kFunctions, name, {}, &Function::name);
  return found != std::end(kFunctions) && found->name == name ? found->kind : IoKind::other;
}

std::vector<IoCall> io_calls(const trace::Trace& trace, const trace::Rank& rank) {
  std::vector<IoCall> calls;
  Reader read(trace, rank);
  for (const Row row : rank.host_rows())
    if (rank.events.kind[row] == trace::Kind::io) calls.push_back(read(row));
  return calls;
}

}  // namespace stepscope::derive
