#include "collect/bus_errors.h"

#include <sys/mman.h>

#include <csignal>
#include <cstdint>
#include <functional>

namespace stepscope::collect {
namespace {

constexpr std::uintptr_t kPage = 4096;

struct sigaction before_us;
const std::atomic<Recorder*>* recordings = nullptr;

void on_bus_error(int signal, siginfo_t* info, void* context) {
  auto* at = static_cast<char*>(info->si_addr);
  for (const Recorder* one = recordings->load(std::memory_order_acquire); one != nullptr; one = one->before) {
    const auto* from = reinterpret_cast<const char*>(one->header);
    if (std::less<>{}(at, from) || !std::less<>{}(at, from + one->bytes)) continue;
    char* page = at - reinterpret_cast<std::uintptr_t>(at) % kPage;
    if (::mmap(page, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page)
      return;
  }
  if ((before_us.sa_flags & SA_SIGINFO) != 0) return before_us.sa_sigaction(signal, info, context);
  if (before_us.sa_handler != SIG_DFL && before_us.sa_handler != SIG_IGN) return before_us.sa_handler(signal);
  ::signal(signal, SIG_DFL);  // and the fault repeats
}

}  // namespace

void survive_bus_errors(const std::atomic<Recorder*>& newest) {
  recordings = &newest;
  struct sigaction ours{};
  ours.sa_sigaction = on_bus_error;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  ::sigemptyset(&ours.sa_mask);
  ::sigaction(SIGBUS, &ours, &before_us);
}

}  // namespace stepscope::collect
