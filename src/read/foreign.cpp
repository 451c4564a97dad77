#include "read/foreign.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "read/darshan/darshan_text.h"
#include "read/snapshot/memory_page.h"

namespace stepscope::read {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

void skip_space(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
}

/// A packet is field 1 with its length; what follows a line end in JSON begins a document.
bool is_perfetto(std::string_view head) {
  if (!head.starts_with('\n')) return false;
  skip_space(head);
  return !head.empty() && head.front() != '{' && head.front() != '[' && !head.starts_with("<!") &&
         !head.starts_with("<h");
}

/// Byte 8 begins the format's number, in the byte order of the machine that wrote it.
bool is_darshan_log(std::string_view head) {
  using namespace std::string_view_literals;
  const std::string_view number = head.substr(std::min<std::size_t>(head.size(), 8), 8);
  return number == "75d\0\0\0\0\0"sv || number == "\0\0\0\0\0d57"sv;
}

/// Whether a line that is an object is followed by another one: never so within a document.
bool is_json_lines(std::string_view head) {
  skip_space(head);
  if (!head.starts_with('{')) return false;
  const std::string_view line = head.substr(0, head.find('\n'));
  head.remove_prefix(line.size());
  skip_space(head);
  return line.substr(0, line.find_last_not_of(kSpace) + 1).ends_with('}') && head.starts_with('{') &&
         line.find("\"traceEvents\"") == std::string_view::npos;
}

/// iconv's name of the encoding, if it is none of single bytes; "" else. A document begins with at least one
/// ASCII character (RFC 4627, section 3).
std::string_view wide_encoding(std::string_view head) {
  using namespace std::string_view_literals;
  if (head.starts_with("\xff\xfe\0\0"sv) || head.starts_with("\0\0\xfe\xff"sv)) return "UTF-32";
  if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff")) return "UTF-16";
  const auto begins = [&](std::size_t zeros_before, std::size_t zeros_behind) {
    const auto at = [&](std::size_t i) { return i < head.size() ? head[i] : '\1'; };
    for (std::size_t i = 0; i < zeros_before; ++i)
      if (at(i) != '\0') return false;
    for (std::size_t i = 0; i < zeros_behind; ++i)
      if (at(zeros_before + 1 + i) != '\0') return false;
    return "{[ \t\r\n"sv.find(at(zeros_before)) != std::string_view::npos;
  };
  if (begins(3, 0)) return "UTF-32BE";
  if (begins(0, 3)) return "UTF-32LE";
  if (begins(1, 0)) return "UTF-16BE";
  if (begins(0, 1)) return "UTF-16LE";
  return {};
}

}  // namespace

bool is_dftracer(std::string_view head) {
  skip_space(head);
  if (head.starts_with('[')) head.remove_prefix(1);
  skip_space(head);
  const std::string_view line = head.substr(0, head.find('\n'));
  const auto has = [&](std::string_view key) { return line.find(key) != std::string_view::npos; };
  const bool metadata = line.starts_with("{\"name\":") && has("\"cat\":\"dftracer\"");  // without an id
  return (metadata || line.starts_with("{\"id\":")) && has("\"pid\":") && is_json_lines(head);
}

bool is_pfw(std::string_view path, std::string_view head) {
  if (is_dftracer(head)) return true;
  const bool named = path.ends_with(".pfw") || path.ends_with(".pfw.gz");
  if (!named || has(head, "\"traceEvents\"")) return false;
  return has(head, "\"ph\":") || !foreign_error(head, std::string(path));
}

std::optional<Error> foreign_error(std::string_view head, const std::string& path) {
  if (is_perfetto(head) && !is_memory_page(head) && !is_darshan(head))
    return Error{"is a Perfetto trace, which only Perfetto reads; give the .json files that it was made of",
                 path};
  if (head.starts_with("version https://git-lfs"))
    return Error{"is a Git LFS pointer, not the file itself; fetch the file: `git lfs pull`", path};
  if (is_darshan_log(head))
    return Error{"is a Darshan log; give the text that `darshan-dxt-parser FILE > calls.txt` writes", path};
  if (const std::string_view encoding = wide_encoding(head); !encoding.empty())
    return Error{fmt::format("is {} text; traces are UTF-8: `iconv -f {} -t UTF-8 FILE > NEW.json`",
                             encoding.substr(0, 6), encoding),
                 path};
  if (is_json_lines(head))
    return Error{
        "is JSON Lines, a document in each line; if they are events of a trace, make one list of them: "
        "`jq -s . FILE > NEW.json`",
        path};
  return std::nullopt;
}

}  // namespace stepscope::read
