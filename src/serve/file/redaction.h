// What a report that is given to others leaves out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/page.h"
#include "trace/trace.h"

namespace stepscope::serve {

struct Redaction {
  bool paths = false, hosts = false, args = false;
  std::vector<std::string> host_names{};  ///< to be replaced, longest first
  std::vector<std::string> folders{};     ///< left out of paths, whatever letters they have; longest first

  bool changes_texts() const { return paths || hosts; }
  /// Paths keep their last part, a home folder becomes ~; the n-th host becomes "host<n>".
  std::string text(std::string_view text) const;
  /// The same for every text in a JSON document.
  std::string json(std::string_view document) const;
  /// The same for every text of a page.
  void redact(report::Page& page) const;
};

/// "paths,hosts,args" or some of these. An Error names a word that is none.
Result<Redaction> redaction_of(std::string_view words);

/// Names of hosts: of this machine, and those that files' names ("HOST_PID.TIME.pt.trace.json") and metadata
/// tell. Names that are no secret, such as localhost, are left out.
std::vector<std::string> host_names_of(const trace::Trace& trace);

/// The folders of the files that were read, each also as a shell's quotes have it.
std::vector<std::string> folders_of(const trace::Trace& trace, const std::vector<std::string>& paths);

}  // namespace stepscope::serve
