// vfork: its child runs in the memory of its parent, which waits, but has descriptors of its own. What it
// does before it executes a program is passed on unseen.
#include "collect/posix/process.h"
#include "collect/posix/wrap.h"

namespace stepscope::collect::posix {
namespace {

std::atomic<void*> next_vfork{nullptr};
constexpr std::uint32_t kDeepest = sizeof mine.vfork_returns / sizeof(void*);

}  // namespace

void find_next_vfork() { next_vfork.store(find_next("vfork"), std::memory_order_relaxed); }

/// Keeps where vfork returns to: the child overwrites the stack. Returns the next vfork.
extern "C" __attribute__((visibility("hidden"))) void* stepscope_io_before_vfork(void* returns_to) {
  mine.vfork_returns[mine.vforks++ % kDeepest] = returns_to;
  forks.fetch_add(1, std::memory_order_relaxed);
  if (next_vfork.load(std::memory_order_relaxed) == nullptr) find_next_vfork();
  return next_vfork.load(std::memory_order_relaxed);
}

/// `child`: as vfork returned it, first in the child and then in its parent.
extern "C" __attribute__((visibility("hidden"))) void* stepscope_io_after_vfork(int child) {
  void* returns_to = mine.vfork_returns[(mine.vforks - 1) % kDeepest];
  if (child == 0) {
    if (mine.inside == 0) mine.inside = kElsewhere;
  } else if (--mine.vforks == 0 && mine.inside == kElsewhere) {
    mine.inside = 0;
  }
  return returns_to;
}

#if defined(__x86_64__)
asm(R"(
  .pushsection .text
  .globl vfork
  .type vfork, @function
vfork:
  endbr64
  popq %rdi
  call stepscope_io_before_vfork
  call *%rax
  pushq %rax
  subq $8, %rsp
  movl %eax, %edi
  call stepscope_io_after_vfork
  movq %rax, %rdx
  addq $8, %rsp
  popq %rax
  pushq %rdx
  ret
  .size vfork, . - vfork
  .popsection
)");
#elif defined(__aarch64__)
asm(R"(
  .pushsection .text
  .globl vfork
  .type vfork, %function
vfork:
  mov x0, x30
  bl stepscope_io_before_vfork
  blr x0
  str x0, [sp, #-16]!
  bl stepscope_io_after_vfork
  mov x30, x0
  ldr x0, [sp], #16
  ret
  .size vfork, . - vfork
  .popsection
)");
#endif

}  // namespace stepscope::collect::posix
