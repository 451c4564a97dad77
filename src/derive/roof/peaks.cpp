#include "derive/roof/peaks.h"

#include <algorithm>
#include <cmath>

namespace stepscope::derive {
namespace {

constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;
constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
constexpr double kMemoryTolerance = 0.05;
constexpr std::size_t kMaxDeviceName = 256;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_word(char c) { return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z'); }

// Position after the first occurrence of `part` at or after `from`; npos if there is none.
std::size_t find_past(std::string_view name, std::string_view part, std::size_t from, bool whole_word) {
  for (std::size_t at = from; at + part.size() <= name.size(); ++at) {
    const bool equal = std::equal(part.begin(), part.end(), name.begin() + static_cast<std::ptrdiff_t>(at),
                                  [](char a, char b) { return lower(a) == lower(b); });
    if (!equal) continue;
    const std::size_t end = at + part.size();
    if (whole_word && ((at > 0 && is_word(name[at - 1])) || (end < name.size() && is_word(name[end]))))
      continue;
    return end;
  }
  return std::string_view::npos;
}

bool contains(std::string_view name, std::string_view part, bool whole_word = false) {
  return find_past(name, part, 0, whole_word) != std::string_view::npos;
}

// True if all parts of `match` occur in their order.
bool matches(std::string_view name, std::string_view match) {
  std::size_t from = 0;
  bool first = true;
  while (true) {
    const std::size_t star = match.find('*');
    from = find_past(name, match.substr(0, star), from, first);
    if (from == std::string_view::npos) return false;
    if (star == std::string_view::npos) return true;
    match.remove_prefix(star + 1);
    first = false;
  }
}

// Words after a model's number that make it another device.
bool is_other_model(std::string_view name) {
  static constexpr std::string_view kSuffixes[] = {"Ti", "SUPER", "D", "Laptop", "Max-Q"};
  return std::ranges::any_of(kSuffixes, [&](std::string_view word) { return contains(name, word, true); });
}

// The longest match; a shorter one wins only when it alone has the recorded number of multiprocessors.
const PeakRow* by_name(std::string_view name, int multiprocessors) {
  if (is_other_model(name)) return nullptr;
  const PeakRow* longest = nullptr;
  const PeakRow* fitting = nullptr;
  const auto longer = [](const PeakRow& row, const PeakRow* than) {
    return than == nullptr || row.match.size() > than->match.size();
  };
  for (const PeakRow& row : peak_table()) {
    if (!matches(name, row.match)) continue;
    if (longer(row, longest)) longest = &row;
    if (row.multiprocessors == multiprocessors && longer(row, fitting)) fitting = &row;
  }
  return fitting != nullptr ? fitting : longest;
}

bool same_rates(const PeakRow& a, const PeakRow& b) {
  return a.fp64 == b.fp64 && a.fp32 == b.fp32 && a.mat32 == b.mat32 && a.fp16 == b.fp16 && a.bf16 == b.bf16 &&
         a.fp8 == b.fp8 && a.int8 == b.int8 && a.gb_per_s == b.gb_per_s;
}

// Rows with equal rates count as one device ("MI210 or MI250"); rows with different rates are no match.
const PeakRow* by_properties(Vendor vendor, int major, int minor, int multiprocessors, double memory) {
  const PeakRow* found = nullptr;
  if (vendor == Vendor::unknown || major < 1 || multiprocessors < 1 || memory < 1) return found;
  for (const PeakRow& row : peak_table()) {
    const bool fits = row.vendor == vendor && row.compute_major == major && row.compute_minor == minor &&
                      row.multiprocessors == multiprocessors &&
                      std::abs(memory / kGiB - row.gib) <= kMemoryTolerance * row.gib;
    if (!fits) continue;
    if (found != nullptr && !same_rates(*found, row)) return nullptr;
    if (found == nullptr) found = &row;
  }
  return found;
}

DevicePeaks peaks_from(const PeakRow& row) {
  DevicePeaks peaks;
  peaks.fp64 = row.fp64 * kTera;
  peaks.fp64_matrix = row.fp64_matrix * kTera;
  peaks.fp32 = row.fp32 * kTera;
  peaks.mat32 = row.mat32 * kTera;
  peaks.xf32 = row.xf32 * kTera;
  peaks.fp16 = row.fp16 * kTera;
  peaks.bf16 = row.bf16 * kTera;
  peaks.fp8 = row.fp8 * kTera;
  peaks.int8 = row.int8 * kTera;
  peaks.fp4 = row.fp4 * kTera;
  peaks.bandwidth = row.gb_per_s * kGiga;
  peaks.memory = row.gib * kGiB;
  peaks.multiprocessors = row.multiprocessors;
  peaks.vendor = row.vendor;
  peaks.compute_major = row.compute_major;
  peaks.compute_minor = row.compute_minor;
  peaks.certainty = row.certainty;
  return peaks;
}

// Scales to a part of a chip: MIG instances, compute partitions.
void scale(DevicePeaks& peaks, int multiprocessors, double memory) {
  const double share = static_cast<double>(multiprocessors) / peaks.multiprocessors;
  for (double* rate : {&peaks.fp64, &peaks.fp64_matrix, &peaks.fp32, &peaks.mat32, &peaks.xf32, &peaks.fp16,
                       &peaks.bf16, &peaks.fp8, &peaks.int8, &peaks.fp4})
    *rate *= share;
  const double memory_share = memory >= 1 ? std::min(1.0, memory / peaks.memory) : share;
  if (memory_share < 1 - kMemoryTolerance) peaks.bandwidth *= memory_share;
  if (memory >= 1) peaks.memory = memory;
  peaks.multiprocessors = multiprocessors;
}

}  // namespace

Vendor vendor_of(std::string_view device_name) {
  const std::string_view name = device_name.substr(0, kMaxDeviceName);
  for (const std::string_view word : {"NVIDIA", "Tesla", "GeForce", "Quadro"})
    if (contains(name, word, true)) return Vendor::nvidia;
  for (const std::string_view word : {"AMD", "Radeon", "Instinct"})
    if (contains(name, word, true)) return Vendor::amd;
  for (const std::string_view word : {"Intel", "Intel(R)", "Gaudi2", "Gaudi3", "HPU"})
    if (contains(name, word, true)) return Vendor::intel;
  return contains(name, "ARTEMIS", true) ? Vendor::other : Vendor::unknown;
}

std::optional<DevicePeaks> peaks_of(std::string_view device_name, int compute_major, int compute_minor,
                                    int multiprocessors, double total_global_mem) {
  std::string_view name = device_name.substr(0, kMaxDeviceName);
  const std::size_t past_mig = find_past(name, "MIG", 0, true);
  const bool is_mig = past_mig != std::string_view::npos;
  if (is_mig) name = name.substr(0, past_mig - 3);
  const PeakRow* row = by_name(name, multiprocessors);
  if (row == nullptr)
    row = by_properties(vendor_of(name), compute_major, compute_minor, multiprocessors, total_global_mem);
  if (row == nullptr) return std::nullopt;
  DevicePeaks peaks = peaks_from(*row);
  if (multiprocessors >= 1 && multiprocessors < peaks.multiprocessors) {
    scale(peaks, multiprocessors, total_global_mem);
  } else if (is_mig && multiprocessors < 1) {
    return std::nullopt;  // its share of the chip was not recorded
  }
  return peaks;
}

}  // namespace stepscope::derive
