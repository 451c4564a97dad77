// The ranks of a job whose files are read one at a time, again for each question.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "python/objects.h"
#include "read/rank_files.h"

namespace stepscope::python {

struct RankFolder {
  read::RankFiles files;
  std::vector<std::string> paths;
  std::vector<std::string> inputs;  ///< as Trace::files
  unsigned threads;
  std::int64_t run;  ///< as in read::OpenOptions

  const trace::Trace& heads() const { return files.heads(); }  ///< without events
};

std::shared_ptr<RankFolder> open_by_rank(std::vector<std::string> paths, std::int64_t threads,
                                         std::int64_t run);
Report analyze(const RankFolder& folder, const std::string& name, const Given& given);
Page page(const RankFolder& folder, const Given& given, bool everything);
std::pair<std::string, bool> report_file(const RankFolder& folder, const Given& given,
                                         const std::string& max_size, const std::string& redact);

}  // namespace stepscope::python
