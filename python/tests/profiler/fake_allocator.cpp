// An allocator of devices that do not exist: reports to PyTorch's profilers as c10's caching allocator for
// CUDA does, inside ops.
#include <ATen/record_function.h>
#include <c10/core/Allocator.h>

extern "C" {

/// `total` and `reserved`: bytes on the device after the change.
void fake_report(const char* op, std::uintptr_t address, std::int64_t bytes, std::size_t total,
                 std::size_t reserved, int type, int index) {
  at::RecordFunction range(at::RecordScope::FUNCTION);
  if (range.isActive()) range.before(op);
  c10::reportMemoryUsageToProfiler(
      reinterpret_cast<void*>(address), bytes, total, reserved,
      c10::Device(static_cast<c10::DeviceType>(type), static_cast<c10::DeviceIndex>(index)));
}
}
