#include "merge/strictness.h"

#include "base/parallel.h"
#include "merge/first_pass.h"
#include "read/files.h"
#include "read/foreign.h"

namespace stepscope::merge {
namespace {

bool is_of_lines(const std::string& file) {
  constexpr std::size_t kHead = std::size_t{1} << 16;
  auto bytes = open_bytes(file);
  return bytes && read::is_pfw(file, peek(*bytes, kHead));
}

}  // namespace

std::vector<trace::BreachedFile> breached(std::vector<std::string> files, unsigned threads) {
  read::take_execution_traces(files);
  std::vector<trace::BreachedFile> found;
  for (const std::string& file : files) {
    if (file == "-" || file.ends_with(".stepscope")) continue;
    Source source;
    source.path = file;
    source.lines = is_of_lines(file);
    Opener opener;
    if (survey_source(source, opener, thread_count(threads), {})) continue;
    // Each line is a document of its own: no comma is missing.
    if (source.lines) source.walked.breaches.of(trace::Breach::comma) = {};
    if (source.walked.breaches.any()) found.push_back({file, source.walked.breaches});
  }
  return found;
}

}  // namespace stepscope::merge
