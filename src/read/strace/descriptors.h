// What the processes in strace's output have open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace stepscope::read {

/// What a call of open() makes. Descriptors share it after dup() and fork().
struct StraceFile {
  static constexpr std::int64_t kUnknown = -1;

  std::string path;
  std::int64_t position = kUnknown;
  bool appends = false;

  /// After a read or a write at the position.
  void moved_by(std::int64_t bytes) {
    constexpr std::int64_t kMost = std::int64_t{1} << 31;  // of one call: the kernel's limit is below
    if (position != kUnknown) position = bytes < 0 || bytes > kMost ? kUnknown : position + bytes;
  }
};

/// The table of a process.
class StraceDescriptors {
 public:
  /// Null: nothing that is followed.
  StraceFile* find(std::int64_t descriptor) const;
  void open(std::int64_t descriptor, StraceFile file, bool closes_at_exec);
  void close(std::int64_t descriptor) { slots_.erase(descriptor); }
  void close(std::int64_t first, std::int64_t last, bool at_exec_only);
  /// Makes `to` what `from` is.
  void duplicate(std::int64_t from, std::int64_t to, bool closes_at_exec);
  void set_close_at_exec(std::int64_t descriptor, bool closes);
  void exec();
  /// Adds those of a process that has forked this one, where it has none of its own.
  void inherit(const StraceDescriptors& from) { slots_.insert(from.slots_.begin(), from.slots_.end()); }
  std::size_t size() const { return slots_.size(); }

 private:
  struct Slot {
    std::shared_ptr<StraceFile> file;
    bool closes_at_exec = false;
  };
  std::map<std::int64_t, Slot> slots_;
};

/// Processes and their threads.
class StraceProcesses {
 public:
  /// A line of that thread was read. If nobody has been seen to start it, a fork that is under way did.
  void seen(std::int64_t thread);
  std::int64_t process_of(std::int64_t thread) const;
  StraceDescriptors& files_of(std::int64_t process) { return files_[process]; }

  /// The thread has called clone(), fork() or vfork(), which has not returned.
  void forks(std::int64_t thread, std::string_view args);
  /// It has returned `child`; 0 or less: it failed.
  void forked(std::int64_t thread, std::int64_t child, std::string_view args);
  void ended(std::int64_t thread);

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 20;  // threads; descriptors of children, in all

  struct Fork {
    bool is_thread = false;
    std::int64_t child = 0;  // 0: not seen yet
  };

  void start(std::int64_t parent, std::int64_t child, bool is_thread);

  std::map<std::int64_t, std::int64_t> processes_;   // by thread; 0: nobody was seen to start it
  std::map<std::int64_t, StraceDescriptors> files_;  // by process
  std::map<std::int64_t, Fork> forking_;             // by thread that waits for its fork
  std::size_t inherited_ = 0;                        // descriptors of children, in all
};

}  // namespace stepscope::read
