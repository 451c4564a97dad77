#include "read/strace/strace_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "read/line_text.h"
#include "read/strace/descriptors.h"
#include "read/strace/line.h"

namespace stepscope::read {
namespace {

/// Where a call says what it is about: numbers of args, -1 for none.
struct Known {
  std::string_view name;
  int folder = -1, path = -1;                ///< the folder's descriptor, and the path from there
  int second_folder = -1, second_path = -1;  ///< the same of another
  int descriptor = -1;
  int size = -1, offset = -1;
  int target = -1;     ///< the descriptor that a copy writes to
  bool moves = false;  ///< reads or writes at the descriptor's position
};
constexpr Known of_path(std::string_view name, int path = 0) { return {.name = name, .path = path}; }
constexpr Known of_path_at(std::string_view name) { return {.name = name, .folder = 0, .path = 1}; }
constexpr Known of_paths(std::string_view name) { return {.name = name, .path = 0, .second_path = 1}; }
constexpr Known of_paths_at(std::string_view name) {
  return {.name = name, .folder = 0, .path = 1, .second_folder = 2, .second_path = 3};
}
constexpr Known of_file(std::string_view name, int size = -1, int offset = -1) {
  return {.name = name, .descriptor = 0, .size = size, .offset = offset};
}
constexpr Known of_stream(std::string_view name, int size = -1) {
  return {.name = name, .descriptor = 0, .size = size, .moves = true};
}
constexpr Known kCalls[] = {
    of_path("access"),
    of_path("chdir"),
    of_path("chmod"),
    of_path("chown"),
    of_file("close"),
    {.name = "copy_file_range", .descriptor = 0, .size = 4, .target = 2},
    of_path("creat"),
    of_file("dup"),
    of_file("dup2"),
    of_file("dup3"),
    of_path_at("faccessat"),
    of_path_at("faccessat2"),
    of_file("fadvise64", 2, 1),
    of_file("fallocate", 3, 2),
    of_file("fchdir"),
    of_file("fchmod"),
    of_path_at("fchmodat"),
    of_path_at("fchmodat2"),
    of_file("fchown"),
    of_path_at("fchownat"),
    of_file("fcntl"),
    of_file("fdatasync"),
    of_file("flock"),
    of_file("fstat"),
    of_file("fstatfs"),
    of_file("fsync"),
    of_file("ftruncate", 1),
    of_path_at("futimesat"),
    of_file("getdents"),
    of_file("getdents64"),
    of_path("lchown"),
    of_paths("link"),
    of_paths_at("linkat"),
    of_file("lseek"),
    of_path("lstat"),
    of_path("mkdir"),
    of_path_at("mkdirat"),
    of_path("mknod"),
    of_path_at("mknodat"),
    {.name = "mmap", .descriptor = 4, .size = 1, .offset = 5},
    of_path_at("newfstatat"),
    of_path("open"),
    of_path_at("openat"),
    of_path_at("openat2"),
    of_file("pread64", 2, 3),
    of_file("preadv", -1, 3),
    of_file("preadv2", -1, 3),
    of_file("pwrite64", 2, 3),
    of_file("pwritev", -1, 3),
    of_file("pwritev2", -1, 3),
    of_stream("read", 2),
    of_file("readahead", 2, 1),
    of_path("readlink"),
    of_path_at("readlinkat"),
    of_stream("readv"),
    of_paths("rename"),
    of_paths_at("renameat"),
    of_paths_at("renameat2"),
    of_path("rmdir"),
    {.name = "sendfile", .descriptor = 1, .size = 3, .target = 0},
    {.name = "splice", .descriptor = 0, .size = 4, .target = 2},
    of_path("stat"),
    of_path("statfs"),
    of_path_at("statx"),
    of_paths("symlink"),
    {.name = "symlinkat", .path = 0, .second_folder = 1, .second_path = 2},
    of_file("sync_file_range", 2, 1),
    of_file("syncfs"),
    of_path("truncate"),
    of_path("unlink"),
    of_path_at("unlinkat"),
    of_path("utime"),
    of_path_at("utimensat"),
    of_path("utimes"),
    of_stream("write", 2),
    of_stream("writev"),
};

const Known* known(std::string_view name) {
  static_assert(std::ranges::is_sorted(kCalls, {}, &Known::name));
  const auto* found = std::ranges::lower_bound(kCalls, name, {}, &Known::name);
  return found != std::end(kCalls) && found->name == name ? found : nullptr;
}

bool is_fork(std::string_view name) {
  return name == "clone" || name == "clone3" || name == "fork" || name == "vfork";
}

/// Of a call that makes a descriptor of something that is no file.
bool makes_other(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "accept",        "accept4",      "epoll_create",  "epoll_create1",  "eventfd",        "eventfd2",
      "fanotify_init", "inotify_init", "inotify_init1", "io_uring_setup", "memfd_create",   "perf_event_open",
      "pidfd_open",    "signalfd",     "signalfd4",     "socket",         "timerfd_create", "userfaultfd"};
  static_assert(std::ranges::is_sorted(kNames));
  return std::ranges::binary_search(kNames, name);
}

using Args = std::vector<std::string_view>;

bool is_said(const Args& args, std::string_view flag) {
  return std::ranges::any_of(args, [&](std::string_view arg) { return has(arg, flag); });
}

class StraceText : public LineText {
 public:
  using LineText::LineText;

 private:
  static constexpr std::size_t kMostOpen = std::size_t{1} << 20;  // unfinished calls

  void finish() override {
    if (!begun_) begin_document(0);
    text_ += "\n]}\n";
  }

  void fault(const char* why, std::int64_t bytes) { add_fault(read_, why, bytes); }

  void line(std::string_view text) override {
    const auto length = static_cast<std::int64_t>(text.size()) + 1;
    if (const auto of = strace_line(text))
      take(*of);
    else if (text.find_first_not_of(" \t\r") != std::string_view::npos && !text.starts_with("strace:"))
      fault("the line is no call with a time and a duration (strace -ttt -T)", length);
    read_ += length;
  }

  void take(const StraceLine& line) {
    using Kind = StraceLine::Kind;
    if (!begun_) begin_document(line.ns);
    processes_.seen(line.thread);
    if (line.kind == Kind::ended) processes_.ended(line.thread);
    if (line.kind == Kind::unfinished && open_.size() < kMostOpen) {
      open_[line.thread] = {std::string(line.name), std::string(line.args), line.ns};
      if (is_fork(line.name)) processes_.forks(line.thread, line.args);
    }
    if (line.kind == Kind::call) call(line, line.args, line.ns);
    if (line.kind != Kind::resumed) return;
    const auto found = open_.find(line.thread);
    if (found == open_.end()) return;
    if (found->second.name == line.name)
      call(line, found->second.args + std::string(line.args), found->second.ns);
    open_.erase(found);
  }

  void begin_document(std::int64_t ns) {
    begun_ = true;
    base_ = ns;
    text_ += fmt::format(
        R"({{"schemaVersion": 1, "stepscope.strace": 1, "baseTimeNanoseconds": {}, "traceEvents": [)", base_);
  }

  void call(const StraceLine& line, std::string_view all, std::int64_t begin) {
    if (is_fork(line.name)) return processes_.forked(line.thread, line.result, all);
    const std::int64_t process = processes_.process_of(line.thread);
    StraceDescriptors& files = processes_.files_of(process);
    const Args args = strace_args(all);
    const Known* of = known(line.name);
    if (of == nullptr) return unrecorded(line, args, files);
    const auto arg = [&](int at) {
      return at >= 0 && static_cast<std::size_t>(at) < args.size() ? args[static_cast<std::size_t>(at)] : "";
    };
    StraceFile* file = of->descriptor < 0 ? nullptr : found(files, arg(of->descriptor));
    std::string path = file != nullptr ? file->path : below(files, arg(of->folder), arg(of->path));
    if (path.empty()) return line.name.starts_with("dup") ? follow(line, args, files, {}) : void();
    std::int64_t offset = strace_number(arg(of->offset), -1);
    if (of->moves && !file->appends) offset = file->position;
    const StraceFile* target = of->target < 0 ? nullptr : found(files, arg(of->target));
    std::string second =
        target != nullptr ? target->path : below(files, arg(of->second_folder), arg(of->second_path));
    write({line, process, begin, path, std::move(second),
           of->descriptor < 0 ? -1 : strace_descriptor(arg(of->descriptor)), offset,
           strace_number(arg(of->size), -1)});
    if (of->moves && line.result >= 0) file->moved_by(line.result);
    follow(line, args, files, path);
  }

  /// A path from a folder's descriptor on.
  static std::string below(StraceDescriptors& files, std::string_view folder, std::string_view arg) {
    std::string name = strace_path(arg).value_or("");
    if (arg.empty() || name.starts_with('/') || folder.empty()) return name;
    const StraceFile* file = found(files, folder);
    const std::string from(file == nullptr ? strace_descriptor_path(folder) : file->path);  // AT_FDCWD</a>
    return from.empty() || name.empty() ? from + name : from + "/" + name;
  }

  /// strace -y says the path of a descriptor that was not seen to be opened.
  static StraceFile* found(StraceDescriptors& files, std::string_view given) {
    const std::int64_t descriptor = strace_descriptor(given);
    if (descriptor < 0) return nullptr;
    if (StraceFile* file = files.find(descriptor)) return file;
    const std::string_view path = strace_descriptor_path(given);
    if (path.empty()) return nullptr;
    files.open(descriptor, {.path = std::string(path)}, false);
    return files.find(descriptor);
  }

  /// What a call that is not recorded changes about descriptors.
  static void unrecorded(const StraceLine& line, const Args& args, StraceDescriptors& files) {
    if (line.result < 0) return;
    if (line.name == "execve" || line.name == "execveat") return files.exec();
    if (makes_other(line.name)) return files.close(line.result);
    if (line.name != "close_range" || args.size() < 3) return;
    constexpr std::int64_t kLast = std::int64_t{1} << 32;
    files.close(strace_number(args[0], kLast), strace_number(args[1], kLast),
                has(args[2], "CLOSE_RANGE_CLOEXEC"));
  }

  /// The same of a call that is.
  static void follow(const StraceLine& line, const Args& args, StraceDescriptors& files,
                     const std::string& path) {
    if (line.result < 0) return;
    const std::string_view name = line.name;
    const std::int64_t first = args.empty() ? -1 : strace_descriptor(args[0]);
    if (name.starts_with("open") || name == "creat") {
      files.open(line.result, {.path = path, .position = 0, .appends = is_said(args, "O_APPEND")},
                 is_said(args, "O_CLOEXEC"));
    } else if (name == "close") {
      files.close(first);
    } else if (name.starts_with("dup")) {
      files.duplicate(first, line.result, is_said(args, "O_CLOEXEC"));
    } else if (name == "fcntl" && args.size() > 1) {
      if (args[1].starts_with("F_DUPFD")) files.duplicate(first, line.result, args[1] == "F_DUPFD_CLOEXEC");
      if (args[1] == "F_SETFD" && args.size() > 2) files.set_close_at_exec(first, args[2] == "FD_CLOEXEC");
    } else if (StraceFile* file = name == "lseek" ? files.find(first) : nullptr) {
      file->position = line.result;
    }
  }

  struct Call {
    const StraceLine& line;
    std::int64_t process, begin;  ///< begin: ns since 1970
    std::string path, second;
    std::int64_t descriptor, offset, size;  ///< -1: none
  };

  void write(const Call& call) {
    const auto& [line, process, begin, path, second, descriptor, offset, size] = call;
    const std::int64_t from = begin - base_;  // negative after the clock was set back
    text_ +=
        fmt::format(R"({}
{{"ph": "X", "cat": "posix_call", "name": "{}", "pid": {}, "tid": {}, "ts": {}{}.{:03}, "dur": {}.{:03}, "args": {{"fname": )",
                    first_ ? "" : ",", line.name, process, line.thread, from < 0 ? "-" : "",
                    std::abs(from) / 1000, std::abs(from) % 1000, line.duration / 1000, line.duration % 1000);
    first_ = false;
    append_json(text_, path);
    if (!second.empty()) append_json(text_ += R"(, "to": )", second);
    if (descriptor >= 0) text_ += fmt::format(R"(, "fd": {})", descriptor);
    if (offset >= 0) text_ += fmt::format(R"(, "offset": {})", offset);
    if (size >= 0) text_ += fmt::format(R"(, "size": {})", size);
    text_ += fmt::format(R"(, "ret": {})", line.result);
    if (!line.error.empty()) append_json(text_ += R"(, "errno": )", line.error);
    text_ += "}}";
  }

  struct Unfinished {
    std::string name, args;
    std::int64_t ns = 0;
  };
  std::int64_t base_ = 0;
  bool begun_ = false, first_ = true;
  std::map<std::int64_t, Unfinished> open_;  // by thread
  StraceProcesses processes_;
};

}  // namespace

bool is_strace(std::string_view head) {
  for (int lines = 0; lines < 8 && !head.empty(); ++lines) {
    const std::string_view line = head.substr(0, head.find('\n'));
    if (const auto of = strace_line(line)) return of->kind != StraceLine::Kind::other;
    head.remove_prefix(std::min(head.size(), line.size() + 1));
  }
  return false;
}

std::unique_ptr<ByteSource> strace_text(std::unique_ptr<ByteSource> file) {
  return std::make_unique<StraceText>(std::move(file));
}

}  // namespace stepscope::read
