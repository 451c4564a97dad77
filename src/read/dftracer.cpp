#include "read/dftracer.h"

#include <algorithm>

namespace stepscope::read {

bool is_dftracer(std::string_view head) {
  constexpr std::string_view kSpace = " \t\r\n", kFirstKey = "{\"id\":";
  const auto skip = [&](std::string_view what) {
    head.remove_prefix(std::min(head.find_first_not_of(what), head.size()));
  };
  skip(kSpace);
  if (head.starts_with('[')) head.remove_prefix(1);
  skip(kSpace);
  const std::string_view line = head.substr(0, head.find('\n'));
  const auto holds = [&](std::string_view key) { return line.find(key) != std::string_view::npos; };
  if (!line.starts_with(kFirstKey) || !holds("\"pid\":") || holds("\"traceEvents\"")) return false;
  head.remove_prefix(line.size());
  skip(kSpace);
  return line.substr(0, line.find_last_not_of(kSpace) + 1).ends_with('}') && head.starts_with('{');
}

}  // namespace stepscope::read
