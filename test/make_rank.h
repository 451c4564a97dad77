// For tests: traces from JSON text by the real reader, and the cells of answers.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "advise/analyses.h"
#include "read/open.h"

namespace stepscope::test {

/// Reads each of `texts` as a file, all together. The temporary files are removed before it returns.
inline trace::Trace open_jsons(const std::vector<std::string_view>& texts) {
  static int count = 0;
  std::vector<std::string> paths;
  for (const std::string_view json : texts) {
    paths.push_back((std::filesystem::temp_directory_path() /
                     ("stepscope_" + std::to_string(getpid()) + "_" + std::to_string(count++) + ".json"))
                        .string());
    std::ofstream(paths.back(), std::ios::binary) << json;
  }
  Result<trace::Trace> trace = read::open(paths);
  for (const std::string& path : paths) std::filesystem::remove(path);
  if (!trace.ok()) {
    ADD_FAILURE() << trace.error().text();
    return {};
  }
  return std::move(trace).value();
}

inline trace::Trace open_json(std::string_view json) { return open_jsons({json}); }

/// Reads a file with these events: the text between the brackets of "traceEvents".
inline trace::Trace open_events(std::string_view events) {
  return open_json("{\"schemaVersion\": 1, \"traceEvents\": [" + std::string(events) + "]}");
}

/// Ranks 0, 1, … of one job, each from its file's events. `order`: the order in which the files are named.
inline trace::Trace open_ranks(const std::vector<std::string>& events,
                               const std::vector<std::size_t>& order = {}) {
  static int count = 0;
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() /
      ("stepscope_ranks_" + std::to_string(getpid()) + "_" + std::to_string(count++));
  std::filesystem::create_directory(folder);
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const std::size_t rank = order.empty() ? i : order[i];
    paths.push_back((folder / ("rank" + std::to_string(rank) + ".json")).string());
    std::ofstream(paths.back(), std::ios::binary)
        << "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": " << rank
        << ", \"world_size\": " << events.size() << "}, \"traceEvents\": [" << events[rank] << "]}";
  }
  Result<trace::Trace> trace = read::open(paths);
  std::filesystem::remove_all(folder);
  if (!trace.ok()) {
    ADD_FAILURE() << trace.error().text();
    return {};
  }
  return std::move(trace).value();
}

inline report::Report answer(std::string_view analysis, const trace::Trace& trace,
                             const report::Params& params = {}) {
  const analyze::Analysis* found = advise::find_analysis(analysis);
  if (found == nullptr) {
    ADD_FAILURE() << "no analysis " << analysis;
    return {};
  }
  return analyze::run(*found, trace, params);
}

inline report::Params params(std::initializer_list<std::pair<std::string, std::string>> values) {
  report::Params out;
  for (const auto& [name, value] : values) out.set(name, value);
  return out;
}

/// One column as texts; "-" for missing values, reals with 6 significant digits.
inline std::vector<std::string> cells(const report::Table& table, std::string_view name) {
  const report::Column* column = table.column(name);
  if (column == nullptr) {
    ADD_FAILURE() << "no column " << name << " in " << table.title;
    return {};
  }
  std::vector<std::string> out;
  for (std::size_t row = 0; row < column->size(); ++row) {
    char text[32] = "-";
    if (column->missing(row)) {
    } else if (const auto* ints = std::get_if<report::Ints>(&column->values)) {
      std::snprintf(text, sizeof text, "%lld", static_cast<long long>((*ints)[row]));
    } else if (const auto* reals = std::get_if<report::Reals>(&column->values)) {
      std::snprintf(text, sizeof text, "%.6g", (*reals)[row]);
    } else {
      out.push_back(std::get<report::Texts>(column->values)[row]);
      continue;
    }
    out.emplace_back(text);
  }
  return out;
}

using Cells = std::vector<std::string>;

}  // namespace stepscope::test
