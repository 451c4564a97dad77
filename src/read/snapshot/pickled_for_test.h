// For tests: pickles put together opcode by opcode, and what is read of them.
#pragma once

#include <string>
#include <string_view>

#include "read/snapshot/snapshot.h"

namespace stepscope::read::test {

inline std::string little(std::uint64_t number, std::size_t bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes; ++i) out += static_cast<char>(number >> 8 * i & 0xFF);
  return out;
}
inline std::string text(std::string_view text) { return "X" + little(text.size(), 4) + std::string(text); }
inline std::string integer(std::int64_t number) {
  return std::string("\x8a\x08") + little(static_cast<std::uint64_t>(number), 8);
}
/// Keys and values, as pickles.
inline std::string dict(std::initializer_list<std::pair<std::string_view, std::string>> pairs) {
  std::string out = "}(";
  for (const auto& [key, value] : pairs) out += text(key) + value;
  return out + "u";
}
inline std::string list(std::initializer_list<std::string> items) {
  std::string out = "](";
  for (const std::string& item : items) out += item;
  return out + "e";
}
inline std::string frame(std::string_view name, std::string_view file, int line) {
  return dict({{"name", text(name)}, {"filename", text(file)}, {"line", integer(line)}});
}
inline std::string event(std::string_view action, std::int64_t address, std::int64_t size) {
  return dict(
      {{"action", text(action)},
       {"addr", integer(address)},
       {"size", integer(size)},
       {"stream", integer(0)},
       {"frames", list({frame("step", "/home/a/train.py", 7), frame("main", "/home/a/train.py", 9)})}});
}
inline std::string block(std::int64_t address, std::int64_t size, std::string_view state) {
  return dict({{"address", integer(address)},
               {"size", integer(size)},
               {"requested_size", integer(size - 100)},
               {"state", text(state)},
               {"frames", "]"}});
}
inline std::string segment(std::int64_t address, std::int64_t size, const std::string& blocks) {
  return dict({{"device", integer(0)},
               {"address", integer(address)},
               {"total_size", integer(size)},
               {"stream", integer(0)},
               {"segment_type", text("large")},
               {"segment_pool_id", "K\1K\2\x86"},
               {"frames", "]"},
               {"blocks", blocks}});
}
inline std::string pickled(const std::string& value, char protocol = 4) {
  return std::string("\x80") + protocol + value + ".";
}
/// A pickle of a snapshot with this value at the key "extra".
inline std::string with_extra(const std::string& value) {
  return pickled(dict({{"segments", "]"}, {"extra", value}}));
}

inline Result<ParsedFile> parsed(std::string_view bytes) {
  const auto source = memory_bytes(bytes.data(), bytes.size());
  return parse_snapshot("file", *source, bytes.substr(0, 1 << 16));
}
/// The JSON of the key "extra"; the text of the error, if there is one.
inline std::string extra_of(std::string_view bytes) {
  const auto file = parsed(bytes);
  if (!file) return file.error().text();
  for (const auto& [key, value] : file->snapshot->metadata)
    if (key == "extra") return value;
  return "(none)";
}

}  // namespace stepscope::read::test
