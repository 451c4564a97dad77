// Reads what `stepscope merge` wrote: one document that holds the events of several sources, one section
// each. Each section is read as if it were its source's own file.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/result.h"
#include "read/merged/source.h"

namespace stepscope::read {

/// The first bytes of the document, of a section, and of the list of totals after the last section.
inline constexpr std::string_view kMergedStart = "{\"stepscope.merge\":1,\n";
inline constexpr std::string_view kSectionStart = "\n{\"name\":\"stepscope.section\"";
inline constexpr std::string_view kSectionsEnd = "\n],\n\"stepscope.totals\"";

struct MergedEnd {
  std::vector<std::optional<MergedTotal>> totals;  ///< by source
  std::vector<std::string> faults;                 ///< sentences, e.g. that the file has no end
};

class MergedFile {
 public:
  /// Nothing if the file at `path` is not a merged file.
  static Result<std::optional<MergedFile>> open(const std::string& path);

  const std::vector<MergedSource>& sources() const { return sources_; }
  std::int64_t base_ns() const { return base_ns_; }
  /// The text of source `index` as a document of its own. Invalidates the previously returned one. An index
  /// not above the previous one opens the file again.
  Result<std::unique_ptr<ByteSource>> section(std::size_t index);
  /// Reads the rest of the file, after the last wanted section. `cut_is_known`: do not report a missing end.
  MergedEnd end(bool cut_is_known);

  struct Stream;

 private:
  /// Moves to the start of this source's section. False without one.
  bool find_section(std::size_t index);

  std::string path_;
  std::vector<MergedSource> sources_;
  std::int64_t base_ns_ = 0;
  std::vector<std::string> head_faults_;
  std::shared_ptr<Stream> stream_;
  std::size_t next_ = 0;
};

}  // namespace stepscope::read
