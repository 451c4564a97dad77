#include "read/job_files.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/byte_source.h"
#include "read/blocks.h"
#include "read/execution_trace/execution_trace.h"
#include "read/rank_numbers.h"
#include "record/recording.h"

namespace stepscope::read {
namespace {

constexpr std::size_t kJobHead = std::size_t{1} << 16;  // bytes

/// The world size that Kineto wrote at the beginning of its file, else 1.
std::int64_t world_size_in(std::string_view head) {
  constexpr std::string_view kInfo = "\"distributedInfo\"", kSize = "\"world_size\"";
  const std::size_t info = head.find(kInfo);
  const std::size_t size = info == head.npos ? info : head.find(kSize, info);
  if (size == head.npos || size > head.find('}', info)) return 1;
  const std::size_t digits = std::min(head.find_first_of("0123456789", size + kSize.size()), head.size());
  std::int64_t number = 1;
  std::from_chars(head.data() + digits, head.data() + head.size(), number);
  return number;
}

}  // namespace

bool is_of_several(const std::string& path) {
  if (rank_in_name(path) >= 0) return true;
  auto source = open_bytes(path);
  if (!source) return false;
  const std::string head = peek(*source, kJobHead);
  return is_execution_trace(head) || record::is_recording(head) || world_size_in(head) > 1;
}

}  // namespace stepscope::read
