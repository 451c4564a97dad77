// The text of a trace file, the position of each event in it, and the same text with events in another order.
#pragma once

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"

namespace stepscope::test {

inline std::string bytes_of(const std::string& path) {
  std::string bytes;
  if (FILE* file = std::fopen(path.c_str(), "rb")) {
    std::string part(1 << 20, '\0');
    for (std::size_t n; (n = std::fread(part.data(), 1, part.size(), file)) != 0;) bytes.append(part, 0, n);
    std::fclose(file);
  }
  return bytes;
}

/// The text of stored bytes, gzip or not.
inline std::string text_of(const std::string& bytes) {
  const auto source = memory_bytes(bytes.data(), bytes.size());
  std::string text, part(1 << 20, '\0');
  for (std::size_t n; (n = source->read(part.data(), part.size())) != 0;) text.append(part, 0, n);
  return text;
}

struct Span {
  std::size_t begin, end;
};

/// The objects in the event list of a well-formed text, found only by counting brackets.
inline std::vector<Span> events_in(std::string_view text) {
  std::size_t at = text.find("\"traceEvents\"");
  at = text.find('[', at == std::string_view::npos ? 0 : at) + 1;
  std::vector<Span> events;
  int depth = 0;
  bool quoted = false;
  for (std::size_t begin = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c == '\\')
        ++at;
      else if (c == '"')
        quoted = false;
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '{' && depth == 0) begin = at;
    if (c == '{' || c == '[') ++depth;
    if (c == ']' && depth == 0) return events;
    if (c == '}' || c == ']') --depth;
    if (c == '}' && depth == 0) events.push_back({begin, at + 1});
  }
  return events;
}

/// `text` with its events in another order.
inline std::string shuffled(const std::string& text, std::vector<Span> events, std::mt19937_64& random) {
  std::string other = text.substr(0, events.front().begin);
  const std::size_t end = events.back().end;
  std::shuffle(events.begin(), events.end(), random);
  for (const Span& event : events)
    (other += &event == events.data() ? "" : ",\n").append(text, event.begin, event.end - event.begin);
  return other.append(text, end);
}

}  // namespace stepscope::test
