#include "record/device/words.h"

#include <cxxabi.h>

#include <array>
#include <cstdlib>
#include <memory>

namespace stepscope::record {
namespace {

constexpr std::array<std::string_view, 11> kCopies = {"<unknown>", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                                      "AtoD",      "DtoA", "DtoD", "HtoH", "PtoP"};
constexpr std::array<std::string_view, 8> kMemories = {
    "Unknown", "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"};
constexpr std::array<std::string_view, 5> kWaits = {"Unknown Sync", "Event Sync", "Stream Wait Event",
                                                    "Stream Sync", "Context Sync"};
constexpr std::array<std::string_view, 8> kCupti = {"Unknown",
                                                    "Buffer Flush",
                                                    "Instrumentation",
                                                    "Resource",
                                                    "Runtime Triggered Module Loading",
                                                    "Lazy Function Loading",
                                                    "Command Buffer Full",
                                                    "Activity Buffer Request"};

template <std::size_t N>
std::string_view name_of(const std::array<std::string_view, N>& names, std::uint32_t number) {
  return names[number < N ? number : 0];
}

}  // namespace

std::string copy_name(const Memcpy& copy) {
  std::string name = "Memcpy ";
  name += copy.value == 1 ? "PtoP" : name_of(kCopies, copy.kind);
  name += " (";
  name += name_of(kMemories, copy.from);
  name += " -> ";
  name += name_of(kMemories, copy.to);
  name += ')';
  return name;
}

std::string fill_name(const Memset& fill) {
  return "Memset (" + std::string(name_of(kMemories, fill.memory_kind)) + ")";
}

std::string_view wait_name(std::uint32_t kind) { return name_of(kWaits, kind); }

std::string_view overhead_name(std::uint32_t kind) {
  if (kind == 1) return "Driver Compiler";
  return name_of(kCupti, (kind & 0xFFFF) == 0 ? kind >> 16 : 0);
}

std::string demangled(std::string_view name) {
  const std::string mangled(name);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      mangled.starts_with("_Z") ? abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status) : nullptr,
      std::free);
  return text == nullptr ? mangled : text.get();
}

}  // namespace stepscope::record
