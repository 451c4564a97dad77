// TraceLens's reports as rows of texts.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace stepscope::test {

using CsvRow = std::map<std::string, std::string>;

inline std::vector<std::string> fields_of(const std::string& text, std::size_t& at) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted && c == '"' && at + 1 < text.size() && text[at + 1] == '"') {
      fields.back().push_back('"');
      ++at;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c == '\n' && !quoted) {
      ++at;
      break;
    } else if (c != '\r' || quoted) {
      fields.back().push_back(c);
    }
  }
  return fields;
}

inline std::vector<CsvRow> rows_of(const std::filesystem::path& path) {
  std::stringstream buffer;
  buffer << std::ifstream(path).rdbuf();
  const std::string text = buffer.str();
  std::size_t at = 0;
  const auto heads = fields_of(text, at);
  std::vector<CsvRow> rows;
  while (at < text.size()) {
    const auto fields = fields_of(text, at);
    CsvRow row;
    for (std::size_t i = 0; i < heads.size() && i < fields.size(); ++i) row[heads[i]] = fields[i];
    rows.push_back(std::move(row));
  }
  return rows;
}

// Python's repr of nested lists of numbers and strings as JSON: only the quotes around strings change.
inline std::string json_of(const std::string& repr) {
  std::string out;
  char open = 0;
  for (const char c : repr) {
    if (open == 0 && (c == '\'' || c == '"')) {
      open = c;
      out.push_back('"');
    } else if (open != 0 && c == open) {
      open = 0;
      out.push_back('"');
    } else if (open == 0 && c == ')') {
      if (out.back() == ',') out.pop_back();  // a tuple of one element: (5,)
      out.push_back(']');
    } else {
      out.push_back(open == 0 && c == '(' ? '[' : c);
    }
  }
  return out;
}

}  // namespace stepscope::test
