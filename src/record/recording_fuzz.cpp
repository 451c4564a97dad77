#include <cstddef>
#include <cstdint>

#include "record/kineto_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto recording = stepscope::record::Recording::open({reinterpret_cast<const char*>(data), size});
  if (recording.ok()) stepscope::record::write_kineto(*recording, [](std::string_view) { return true; });
  return 0;
}
