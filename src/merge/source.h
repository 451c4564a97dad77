// A source of a merge: one recording, its kind, its new ids and its clock.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "derive/ranks/clock_ends.h"
#include "merge/survey.h"
#include "read/merged/file.h"

namespace stepscope::merge {

/// Where a source's clock is on the common time line.
struct Placement {
  enum class Method : std::uint8_t {
    wall_clock,   ///< as recorded
    collectives,  ///< fitted to the ends of collectives
    joined,       ///< the map of the rank in the same process, or of the rank that it names
    start,        ///< relative times: its first event is put at the start of the rank's recording
    merged,       ///< mapped by an earlier merge
  };
  Method method = Method::wall_clock;
  derive::ClockMap map;     ///< maps Unix ns
  double uncertainty = -1;  ///< ns, -1: not known
  double drift_left = 0;    ///< ns per ns: fitted but not removed, as it is within the fit's error
  std::string carried;      ///< JSON of an earlier merge's alignment

  std::int64_t operator()(std::int64_t unix_ns) const { return map(unix_ns); }
};
std::string_view name_of(Placement::Method method);

struct Process {
  std::string was;        ///< its pid in the source
  std::int64_t pid = 0;   ///< in the merged file
  std::string name;       ///< in the merged file
  std::string given;      ///< its name in the source, "" without one
  std::int64_t sort = 0;  ///< position among all processes
};

struct Thread {
  std::int64_t pid = 0, tid = 0;  ///< in the merged file
  std::string was;
};

/// New texts of a pid and a tid; an empty text keeps the old one.
struct LaneIds {
  std::string pid, tid;
};

struct Source {
  std::string path;
  std::string name;                 ///< the name shown to people
  std::ptrdiff_t section = -1;      ///< index in a merged file; -1: a file of its own
  read::MergedSource earlier;       ///< for a section: what the earlier merge changed
  std::int64_t merged_base_ns = 0;  ///< for a section: the zero of its times
  bool dftracer = false;            ///< DFTracer's, or a section made of one
  bool lines = false;               ///< one event per line
  bool foreign = false;             ///< no rank's recording
  bool guess = true;                ///< its blocks can be cut by guess
  std::int64_t rank = -1;           ///< -1: unknown; for a foreign source, the rank that it belongs to
  std::int64_t base_ns = 0;         ///< to be added to its times for Unix ns
  read::TopLevel head;
  Survey found;
  Walked walked;
  Placement place;
  std::vector<Process> processes;  ///< in the order of their first events
  std::vector<Thread> threads;     ///< threads that got another number
  std::unordered_map<LaneText, LaneIds> lanes;
  std::array<std::int64_t, kSpaces> id_shift{};
  std::array<bool, kSpaces> ids_stay{};  ///< its range of ids is too large to be shifted

  bool relative() const;
};

/// Opens sources one after the other; sections of one merged file share one pass over it.
class Opener {
 public:
  Result<std::unique_ptr<ByteSource>> open(const Source& source);
  /// The end of the merged file whose section was opened last.
  read::MergedEnd end_of_merged(bool cut_is_known) { return merged_->end(cut_is_known); }

 private:
  std::string path_;
  std::optional<read::MergedFile> merged_;
};

/// The sources in these files. An Error when one cannot be opened, or nothing can be merged.
Result<std::vector<Source>> sources_of(const std::vector<std::string>& files);

/// Fills in what a source's survey found: its head, its rank, whether it is a rank's recording.
void settle_kind(Source& source);

/// Numbers ranks as `read::open` does, joins foreign sources to ranks, numbers processes and ids.
/// Returns sentences about what was settled by rule rather than by the files.
std::vector<std::string> settle_ids(std::vector<Source>& sources);

}  // namespace stepscope::merge
