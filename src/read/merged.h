// What `stepscope merge` wrote: one document that holds the events of several sources, section after section.
// Each section is read as if it were its source's own file.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_source.h"
#include "base/result.h"
#include "read/batch.h"

namespace stepscope::read {

/// How the document begins, what stands in front of a section, and what stands behind the last one.
inline constexpr std::string_view kMergedStart = "{\"stepscope.merge\":1,\n";
inline constexpr std::string_view kSectionStart = "\n{\"name\":\"stepscope.section\"";
inline constexpr std::string_view kSectionsEnd = "\n],\n\"stepscope.totals\"";

/// Bytes that no merged file holds: those that JSON allows nowhere.
inline bool is_control(char c) {
  return static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\r' && c != '\t';
}
/// The first in `text`, npos without one.
std::size_t find_control(std::string_view text);

/// A number that was given to something, and what it was called in its source.
struct Renamed {
  std::int64_t pid = 0, tid = 0;  ///< tid: of lanes only
  std::string was;
  std::string name;  ///< of processes: the one that merging gave
};

/// Ids that mean something only within their source. Ids of one space are compared with each other, those of
/// two never.
enum class IdSpace : std::uint8_t {
  link,    ///< correlation, External id, flows: recorders use the same numbers for all three
  index,   ///< Ev Idx
  python,  ///< Python id, Python parent id
  graph,   ///< of graphs and their nodes
};
inline constexpr std::size_t kIdSpaces = 4;
/// Of an arg by its key.
std::optional<IdSpace> id_space_of(std::string_view key);

/// What recorders write for no id; it stays what it is.
inline bool is_no_id(std::int64_t id) { return id == 0 || id == -1 || id == 0xFFFFFFFF; }

/// One source of a merged file.
struct MergedSource {
  std::string name;        ///< of its file
  std::int64_t rank = -1;  ///< -1: none
  bool foreign = false;    ///< no rank's recording: it is on the time line and in no answer
  std::vector<std::pair<std::string, std::string>> head;  ///< top-level keys as they stood in its file
  std::vector<Renamed> processes, threads;
  std::vector<std::int64_t> id_shifts;  ///< by IdSpace: what was added to ids
  std::string alignment;                ///< JSON object: how its clock was mapped
};

/// What merging knew of a source, from the end of the file.
struct MergedTotal {
  std::string name;
  std::int64_t events = -1;  ///< -1: not told
  trace::Reading damage;     ///< of the source's own file: its losses, and whether it was complete
};

struct MergedEnd {
  std::vector<std::optional<MergedTotal>> totals;  ///< by source
  std::vector<std::string> faults;  ///< sentences: sources that the head lost, text behind the end, no end
};

/// Of its JSON text.
MergedTotal total_of(std::string_view entry);
/// Adds losses of the file that this text was made from; `since` ends their reasons.
void add_damage(trace::Reading& reading, const trace::Reading& damage, const std::string& since);
/// Adds to what reading a section counted what was lost before and since it was merged.
void count_merged(trace::Reading& reading, const std::optional<MergedTotal>& total);

/// Whether a file that begins with `head` is a Perfetto trace, which merging writes too; then why it cannot
/// be read.
std::optional<Error> perfetto_error(std::string_view head, const std::string& path);

class MergedFile {
 public:
  /// Nothing when the file is not one.
  static Result<std::optional<MergedFile>> open(const std::string& path);

  const std::vector<MergedSource>& sources() const { return sources_; }
  std::int64_t base_ns() const { return base_ns_; }
  /// The text of source `index` as a document of its own. Indices must not decrease; asking again for one, or
  /// for an earlier one, opens the file again. What was returned before is used up then.
  Result<std::unique_ptr<ByteSource>> section(std::size_t index);
  /// Reads on to the end; to be called when no section is wanted any more. `cut_is_known`: that the file has
  /// no end need not be said.
  MergedEnd end(bool cut_is_known);

  struct Stream;

 private:
  /// Moves to where this source's section begins. False when it is not there.
  bool find_section(std::size_t index);

  std::string path_;
  std::vector<MergedSource> sources_;
  std::int64_t base_ns_ = 0;
  std::vector<std::string> head_faults_;
  std::shared_ptr<Stream> stream_;
  std::size_t next_ = 0;
};

/// Gives processes, threads and events the ids and names back that they had in their source, and times their
/// source's zero. Where clocks were aligned they stay so.
void restore_source(ParsedFile& file, const MergedSource& source, std::int64_t merged_base_ns);

}  // namespace stepscope::read
