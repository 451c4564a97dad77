#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "analyze/io/io.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::IoCall;
using derive::IoKind;
using report::add_to;
using timeline::Interval;
using timeline::IntervalSet;

/// A file that a process has open.
struct Stream {
  std::int64_t end = -1;  ///< of its last read or write; -1: none yet
};

class Files {
 public:
  Files(const trace::Trace& trace, const trace::Rank& rank) : trace_(trace), rank_(rank) {}

  /// In order of begin.
  void add(const IoCall& call) {
    if (call.file == trace::kEmptyString) return;
    const auto [found, is_new] = files_.try_emplace(call.file);
    Sum& sum = found->second;
    IoFile& file = sum.file;
    const std::int64_t length = rank_.events.duration(call.row);
    ++file.calls;
    file.failed += call.failed;
    add_to(file.time, length);
    file.opens += call.kind == IoKind::open && !call.failed;
    file.seeks += call.kind == IoKind::seek;
    Stream& stream = streams_[{rank_.tracks[rank_.events.track[call.row]].pid, call.file, call.descriptor}];
    if (call.kind == IoKind::open || call.kind == IoKind::close) stream.end = -1;
    if (call.failed || (call.kind != IoKind::read && call.kind != IoKind::write)) return;
    ++(call.kind == IoKind::read ? file.reads : file.writes);
    add_to(call.kind == IoKind::read ? file.read : file.written, call.bytes);
    file.small += call.bytes < kSmallBytes;
    file.stored += call.kind == IoKind::read && is_from_storage(length, call.bytes);
    if (call.offset < 0) return;
    if (stream.end >= 0) {
      ++file.placed;
      file.in_order += call.offset == stream.end;
    }
    if (__builtin_add_overflow(call.offset, call.bytes, &stream.end)) stream.end = -1;
    if (call.kind == IoKind::read && call.bytes > 0 && stream.end > 0) sum.read.push_back({call.offset, stream.end});
  }

  std::vector<IoFile> all() {
    std::vector<IoFile> out;
    for (auto& [name, sum] : files_) {
      sum.file.rank = rank_.rank;
      sum.file.file = trace_.text(name);
      if (!sum.read.empty()) sum.file.distinct = IntervalSet::of(std::move(sum.read)).length();
      out.push_back(std::move(sum.file));
    }
    std::sort(out.begin(), out.end(), [](const IoFile& a, const IoFile& b) {
      return std::tuple(-a.time, std::string_view(a.file)) < std::tuple(-b.time, std::string_view(b.file));
    });
    return out;
  }

 private:
  struct Sum {
    IoFile file{};
    Column<Interval> read;  ///< bytes of the file, not times
  };
  const trace::Trace& trace_;
  const trace::Rank& rank_;
  std::unordered_map<trace::StringId, Sum> files_;
  std::map<std::tuple<std::string_view, trace::StringId, std::int64_t>, Stream> streams_;  // by process
};

}  // namespace

void add_io_files(Io& of, const trace::Trace& trace, const trace::Rank& rank, const RankIo& io) {
  std::vector<std::uint32_t> by_start(io.calls.size());
  for (std::uint32_t i = 0; i < by_start.size(); ++i) by_start[i] = i;
  std::stable_sort(by_start.begin(), by_start.end(), [&](std::uint32_t a, std::uint32_t b) {
    return rank.events.start[io.calls[a].row] < rank.events.start[io.calls[b].row];
  });
  Files files(trace, rank);
  for (const std::uint32_t i : by_start) files.add(io.calls[i]);
  for (IoFile& file : files.all()) of.files.push_back(std::move(file));
}

}  // namespace stepscope::analyze
