#include <cstddef>
#include <cstdint>

#include "record/events/execution_trace.h"
#include "record/events/function_averages.h"
#include "record/text/kineto_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepscope::record;
  const auto recording = Recording::open({reinterpret_cast<const char*>(data), size});
  if (!recording.ok()) return 0;
  write_kineto(*recording, [](std::string_view) { return true; });
  const Recording* const all[] = {&*recording};
  write_execution_trace(*recording, "", [](std::string_view) { return true; });
  function_averages(function_events(all), {}, {.by_shapes = true, .stack_depth = 2, .by_overload = true});
  return 0;
}
