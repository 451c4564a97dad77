// Functions that start programs without fork: as after fork, the position of a descriptor that the new
// program inherits is no longer ours alone.
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>

#include "collect/posix/process.h"
#include "collect/posix/starting.h"
#include "collect/posix/wrap.h"

namespace stepscope::collect::posix {
namespace {

void shares_positions() { forks.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

#define SPAWN(name, searched) \
  WRAP(int, name, pid_t* process, const char* path, const posix_spawn_file_actions_t* actions, \
       const posix_spawnattr_t* how, char* const* words, char* const* environment) { \
    static std::atomic<decltype(&wrap_##name)> known{nullptr}; \
    auto* next = next_once(known, #name); \
    if (next == nullptr) return ENOSYS; \
    shares_positions(); \
    about_to_start(path, searched); \
    return next(process, path, actions, how, words, environment); \
  }
SPAWN(posix_spawn, false)
SPAWN(posix_spawnp, true)

WRAP(int, system, const char* command) {
  static std::atomic<decltype(&wrap_system)> known{nullptr};
  auto* next = next_once(known, "system");
  if (next == nullptr) return no_such_function<int>();
  shares_positions();
  return next(command);
}

WRAP(FILE*, popen, const char* command, const char* mode) {
  static std::atomic<decltype(&wrap_popen)> known{nullptr};
  auto* next = next_once(known, "popen");
  if (next == nullptr) return no_such_function<FILE*>();
  shares_positions();
  return next(command, mode);
}

}  // namespace stepscope::collect::posix
