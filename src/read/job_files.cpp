#include "read/job_files.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/byte_source.h"
#include "base/text.h"
#include "read/blocks.h"
#include "read/execution_trace/execution_trace.h"
#include "read/merged/file.h"
#include "read/rank_numbers.h"
#include "record/recording.h"

namespace stepscope::read {
namespace {

constexpr std::size_t kJobHead = std::size_t{1} << 16;  // bytes

/// The world size that Kineto wrote at the beginning of its file, else 1.
std::int64_t world_size_in(std::string_view head) {
  constexpr std::string_view kInfo = "\"distributedInfo\"", kSize = "\"world_size\"";
  const std::size_t info = head.find(kInfo);
  const std::size_t end = std::min(head.find('}', info), head.size());
  const std::size_t size = std::min(head.substr(0, end).find(kSize, info), end);
  const std::size_t digits = std::min(head.find_first_of("0123456789", size), end);
  std::int64_t number = 1;
  std::from_chars(head.data() + digits, head.data() + end, number);
  return number;
}

/// "" if it cannot be read.
std::string head_of(const std::string& path) {
  auto source = open_bytes(path);
  return source ? peek(*source, kJobHead) : "";
}

}  // namespace

bool is_of_several(const std::string& path) {
  if (rank_in_name(path) >= 0) return true;
  const std::string head = head_of(path);
  if (head.starts_with(kMergedStart)) return false;  // holds all ranks itself
  return is_execution_trace(head) || record::is_recording(head) || world_size_in(head) > 1;
}

bool is_other_json(const std::string& path) {
  constexpr std::string_view kOfRecordings[] = {"\"traceEvents\"", "\"ph\"", "\"schemaVersion\"",
                                                "\"deviceProperties\"", "\"distributedInfo\""};
  const std::string head = head_of(path);
  const std::string_view text = trimmed(head);
  return (text.starts_with('{') || text.starts_with('[')) && !head.starts_with(kMergedStart) &&
         !is_execution_trace(head) &&
         std::ranges::none_of(kOfRecordings, [&](std::string_view word) { return has(head, word); });
}

}  // namespace stepscope::read
