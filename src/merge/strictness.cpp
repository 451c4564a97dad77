#include "merge/strictness.h"

#include "base/parallel.h"
#include "merge/first_pass.h"
#include "read/files.h"

namespace stepscope::merge {

std::vector<trace::BreachedFile> breached(std::vector<std::string> files, unsigned threads) {
  read::take_execution_traces(files);
  std::vector<trace::BreachedFile> found;
  for (const std::string& file : files) {
    if (file == "-" || file.ends_with(".stepscope")) continue;
    Source source;
    source.path = file;
    Opener opener;
    if (survey_source(source, opener, thread_count(threads), {})) continue;
    if (source.walked.breaches.any()) found.push_back({file, source.walked.breaches});
  }
  return found;
}

}  // namespace stepscope::merge
