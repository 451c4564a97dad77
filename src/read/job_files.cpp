#include "read/job_files.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/byte_source.h"
#include "read/blocks.h"
#include "read/execution_trace/execution_trace.h"
#include "read/foreign.h"
#include "read/memory_timeline/memory_timeline.h"
#include "read/merged/file.h"
#include "read/rank_numbers.h"
#include "read/snapshot/snapshot.h"
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

/// A list or an object that names no member of a trace. A damaged file is not called that.
bool is_other_json(std::string_view head) {
  const std::size_t begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || (head[begin] != '{' && head[begin] != '[')) return false;
  constexpr std::string_view kMembers[] = {"\"traceEvents\"",     "\"ph\"",
                                           "\"schemaVersion\"",   "\"deviceProperties\"",
                                           "\"distributedInfo\"", "\"stepscope.merge\""};
  return !is_execution_trace(head) && !is_snapshot(head) && !is_memory_timeline(head) &&
         std::ranges::none_of(
             kMembers, [&](std::string_view member) { return head.find(member) != std::string_view::npos; });
}

}  // namespace

JobFile look_at(const std::string& path) {
  auto source = open_bytes(path);
  if (!source) return JobFile::alone;
  const std::string head = peek(*source, kJobHead);
  if (is_other_json(head)) return JobFile::other;
  if (head.starts_with(kMergedStart)) return JobFile::alone;  // holds all ranks itself
  const bool several = rank_in_name(path) >= 0 || is_execution_trace(head) || record::is_recording(head) ||
                       is_pfw(path, head) || world_size_in(head) > 1;
  return several ? JobFile::of_several : JobFile::alone;
}

}  // namespace stepscope::read
