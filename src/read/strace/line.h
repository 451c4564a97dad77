// One line of strace's output, taken apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope::read {

struct StraceLine {
  enum class Kind : std::uint8_t { call, unfinished, resumed, ended, other };  ///< other: a signal
  Kind kind = Kind::other;
  std::int64_t thread = 0;  ///< 0: without -f
  std::int64_t ns = 0;      ///< since 1970
  std::string_view name;
  std::string_view
      args;  ///< between the brackets; of an unfinished or a resumed call: the part that is there
  std::int64_t result = 0;
  std::string_view error;     ///< "ENOENT"; "" after success
  std::int64_t duration = 0;  ///< ns
};

/// nullopt: the line is none of strace's, or has no time (-ttt) or no duration (-T).
std::optional<StraceLine> strace_line(std::string_view line);

/// The args between top-level commas.
std::vector<std::string_view> strace_args(std::string_view args);

/// "\"a\\nb\"" or "\"long\"..." → the text; nullopt if it is none.
std::optional<std::string> strace_path(std::string_view arg);

/// "3" and "3</a/file>" → 3; -1 for anything else. AT_FDCWD is -100.
std::int64_t strace_descriptor(std::string_view arg);
/// The path in "3</a/file>"; "" without one.
std::string_view strace_descriptor_path(std::string_view arg);
/// A whole number; `otherwise` for anything else.
std::int64_t strace_number(std::string_view arg, std::int64_t otherwise);

}  // namespace stepscope::read
