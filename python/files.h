// Files and tables made of a whole trace. Invalid requests and files that cannot be written throw Refusal.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "python/objects.h"

namespace stepscope::python {

/// The chosen events. What is not given chooses all; `steps` are as in params.
std::shared_ptr<Table> events(const Trace& trace, std::optional<std::vector<std::int64_t>> ranks,
                              const std::optional<std::string>& steps,
                              const std::optional<std::vector<std::string>>& kinds, std::string name,
                              bool args);

/// The rows of a SELECT; nullptr lists the tables and their columns.
std::shared_ptr<Table> sql(const Trace& trace, const std::optional<std::string>& query);

/// `what`: "events", the name of an analysis, or "" for all that the format can hold. `format`: csv, json,
/// sqlite, pfw. Returns sentences: what the file cannot hold.
std::vector<std::string> export_to(const Trace& trace, const std::string& path, const std::string& format,
                                   const std::string& what);

/// The report, and whether nothing is wrong.
std::pair<Report, bool> validate(const Trace& trace, bool strict);

struct MergedFiles {
  std::int64_t events = 0, ranks = 0, others = 0;
  std::vector<std::string> notes;
};
MergedFiles merge(const std::vector<std::string>& paths, const std::string& output, bool align, bool all_runs,
                  std::int64_t run, std::int64_t threads);

}  // namespace stepscope::python
