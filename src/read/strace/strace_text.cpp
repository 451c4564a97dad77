#include "read/strace/strace_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "base/text.h"
#include "read/line_text.h"
#include "read/strace/line.h"

namespace stepscope::read {
namespace {

/// Where a call says which file it is about.
enum class About : std::uint8_t {
  none,        ///< no file, or one that is not followed
  path,        ///< the first arg is a path
  path_at,     ///< the first is a folder's descriptor, the second a path
  two_paths,   ///< the first and the second
  descriptor,  ///< the first is a descriptor
  mapped       ///< the fifth is a descriptor, the sixth an offset
};

struct Known {
  std::string_view name;
  About about;
  int size = -1, offset = -1;  ///< args
  bool moves = false;          ///< reads or writes at the descriptor's position
};
constexpr Known kCalls[] = {
    {"access", About::path},
    {"chdir", About::path},
    {"chmod", About::path},
    {"chown", About::path},
    {"close", About::descriptor},
    {"copy_file_range", About::descriptor, 4},
    {"creat", About::path},
    {"dup", About::descriptor},
    {"dup2", About::descriptor},
    {"dup3", About::descriptor},
    {"faccessat", About::path_at},
    {"faccessat2", About::path_at},
    {"fadvise64", About::descriptor, 2, 1},
    {"fallocate", About::descriptor, 3, 2},
    {"fchdir", About::descriptor},
    {"fchmod", About::descriptor},
    {"fchmodat", About::path_at},
    {"fchown", About::descriptor},
    {"fchownat", About::path_at},
    {"fcntl", About::descriptor},
    {"fdatasync", About::descriptor},
    {"flock", About::descriptor},
    {"fstat", About::descriptor},
    {"fsync", About::descriptor},
    {"ftruncate", About::descriptor, 1},
    {"getdents", About::descriptor},
    {"getdents64", About::descriptor},
    {"lchown", About::path},
    {"link", About::two_paths},
    {"lseek", About::descriptor},
    {"lstat", About::path},
    {"mkdir", About::path},
    {"mkdirat", About::path_at},
    {"mknod", About::path},
    {"mmap", About::mapped, 1, 5},
    {"newfstatat", About::path_at},
    {"open", About::path},
    {"openat", About::path_at},
    {"openat2", About::path_at},
    {"pread64", About::descriptor, 2, 3},
    {"preadv", About::descriptor, -1, 3},
    {"preadv2", About::descriptor, -1, 3},
    {"pwrite64", About::descriptor, 2, 3},
    {"pwritev", About::descriptor, -1, 3},
    {"pwritev2", About::descriptor, -1, 3},
    {"read", About::descriptor, 2, -1, true},
    {"readlink", About::path},
    {"readlinkat", About::path_at},
    {"readv", About::descriptor, -1, -1, true},
    {"rename", About::two_paths},
    {"rmdir", About::path},
    {"stat", About::path},
    {"statfs", About::path},
    {"statx", About::path_at},
    {"symlink", About::two_paths},
    {"sync_file_range", About::descriptor, 2, 1},
    {"syncfs", About::descriptor},
    {"truncate", About::path},
    {"unlink", About::path},
    {"unlinkat", About::path_at},
    {"utime", About::path},
    {"utimensat", About::path_at},
    {"utimes", About::path},
    {"write", About::descriptor, 2, -1, true},
    {"writev", About::descriptor, -1, -1, true},
};

const Known* known(std::string_view name) {
  static_assert(std::ranges::is_sorted(kCalls, {}, &Known::name));
  const auto* found = std::ranges::lower_bound(kCalls, name, {}, &Known::name);
  return found != std::end(kCalls) && found->name == name ? found : nullptr;
}

struct OpenFile {
  std::string path;
  std::int64_t position = 0;  ///< -1: not known
};
using Descriptors = std::map<std::int64_t, OpenFile>;

class StraceText : public LineText {
 public:
  using LineText::LineText;

 private:
  static constexpr std::size_t kMostOpen = std::size_t{1} << 20;  // unfinished calls, processes, files

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
    if (line.kind == Kind::unfinished && open_.size() < kMostOpen)
      open_[line.thread] = {std::string(line.name), std::string(line.args), line.ns};
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

  /// A thread's process: threads share their descriptors.
  std::int64_t process_of(std::int64_t thread) {
    const auto found = processes_.find(thread);
    return found == processes_.end() ? thread : found->second;
  }

  void started(const StraceLine& line, std::string_view args) {
    if (line.result <= 0 || processes_.size() >= kMostOpen) return;
    const std::int64_t parent = process_of(line.thread);
    const bool is_thread = args.find("CLONE_THREAD") != std::string_view::npos;
    processes_[line.result] = is_thread ? parent : line.result;
    const std::size_t size = files_[parent].size();
    if (is_thread || files_.contains(line.result) || size > kMostOpen - inherited_) return;
    inherited_ += size;
    files_[line.result] = files_[parent];
  }

  void call(const StraceLine& line, std::string_view all, std::int64_t begin) {
    if (line.name == "clone" || line.name == "clone3" || line.name == "fork" || line.name == "vfork")
      return started(line, all);
    const Known* of = known(line.name);
    if (of == nullptr) return;
    const std::vector<std::string_view> args = strace_args(all);
    const auto arg = [&](int at) {
      return at >= 0 && static_cast<std::size_t>(at) < args.size() ? args[static_cast<std::size_t>(at)] : "";
    };
    const std::int64_t process = process_of(line.thread);
    Descriptors& files = files_[process];
    std::string path, second;
    std::int64_t descriptor = -1;
    OpenFile* file = nullptr;
    if (of->about == About::path || of->about == About::two_paths) path = strace_path(arg(0)).value_or("");
    if (of->about == About::two_paths) second = strace_path(arg(1)).value_or("");
    if (of->about == About::path_at) path = below(files, arg(0), strace_path(arg(1)).value_or(""));
    if (of->about == About::descriptor || of->about == About::mapped) {
      const std::string_view given = arg(of->about == About::mapped ? 4 : 0);
      descriptor = strace_descriptor(given);
      if (descriptor < 0) return;
      file = found(files, descriptor, given);
      if (file == nullptr) {
        if (line.name.starts_with("dup") && line.result >= 0) files.erase(line.result);
        return;
      }
      path = file->path;
    }
    if (path.empty()) return;
    std::int64_t offset = strace_number(arg(of->offset), -1);
    if (of->moves && file->position >= 0) offset = file->position;
    write(line, process, begin, path, second, descriptor, offset, strace_number(arg(of->size), -1));
    follow(line, *of, files, args, path, descriptor, file);
  }

  /// A name below the folder of a descriptor.
  std::string below(Descriptors& files, std::string_view folder, std::string name) {
    const std::int64_t descriptor = strace_descriptor(folder);
    if (name.starts_with('/') || descriptor < 0) return name;
    const OpenFile* file = found(files, descriptor, folder);
    if (file == nullptr) return name;
    return name.empty() ? file->path : file->path + "/" + name;
  }

  OpenFile* found(Descriptors& files, std::int64_t descriptor, std::string_view given) {
    const auto at = files.find(descriptor);
    if (at != files.end()) return &at->second;
    const std::string_view path = strace_descriptor_path(given);
    if (path.empty() || files.size() >= kMostOpen) return nullptr;
    return &(files[descriptor] = {std::string(path), -1});
  }

  /// What the call changes about descriptors.
  void follow(const StraceLine& line, const Known& of, Descriptors& files,
              const std::vector<std::string_view>& args, const std::string& path, std::int64_t descriptor,
              OpenFile* file) {
    if (line.result < 0) return;
    const std::string_view name = line.name;
    if (name.starts_with("open") || name == "creat") {
      const bool appends =
          std::any_of(args.begin(), args.end(), [](std::string_view a) { return has(a, "O_APPEND"); });
      if (files.size() < kMostOpen) files[line.result] = {path, appends ? -1 : 0};
    } else if (name == "close") {
      files.erase(descriptor);
    } else if (name.starts_with("dup") ||
               (name == "fcntl" && args.size() > 1 && args[1].starts_with("F_DUPFD"))) {
      if (files.size() < kMostOpen) files[line.result] = {path, -1};
    } else if (name == "lseek") {
      file->position = line.result;
    } else if (of.moves && file->position >= 0) {
      file->position += line.result;
    }
  }

  void write(const StraceLine& line, std::int64_t process, std::int64_t begin, const std::string& path,
             const std::string& second, std::int64_t descriptor, std::int64_t offset, std::int64_t size) {
    const std::int64_t from = std::max<std::int64_t>(0, begin - base_);
    text_ += fmt::format(R"({}
{{"ph": "X", "cat": "posix_call", "name": "{}", "pid": {}, "tid": {}, "ts": {}.{:03}, "dur": {}.{:03}, "args": {{"fname": )",
                         first_ ? "" : ",", line.name, process, line.thread, from / 1000, from % 1000,
                         line.duration / 1000, line.duration % 1000);
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
  std::map<std::int64_t, Unfinished> open_;         // by thread
  std::map<std::int64_t, std::int64_t> processes_;  // by thread that was seen to start
  std::map<std::int64_t, Descriptors> files_;       // by process
  std::size_t inherited_ = 0;                       // descriptors of children, in all
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
