#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analyze/io/file_groups.h"
#include "analyze/io/io.h"
#include "analyze/io/placed_reads.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::IoCall;
using derive::IoKind;
using report::add_to;

/// A file that a process has open.
struct Stream {
  std::int64_t end = -1;  ///< of its last read or write; -1: none yet
};

class Files {
 public:
  Files(const trace::Trace& trace, const trace::Rank& rank) : trace_(trace), rank_(rank) {}

  /// In order of begin.
  void add(const IoCall& call) {
    if (call.to != trace::kEmptyString) add_target(call);
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
    sum.read.add(call);
  }

  /// Its time is the source's.
  void add_target(const IoCall& copy) {
    IoFile& file = files_[copy.to].file;
    ++file.calls;
    ++file.writes;
    add_to(file.written, copy.bytes);
  }

  std::vector<IoFile> all() {
    std::vector<IoFile> out;
    for (auto& [name, sum] : files_) {
      sum.file.rank = rank_.rank;
      sum.file.file = trace_.text(name);
      if (!sum.read.empty()) sum.file.distinct = sum.read.distinct();
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
    PlacedReads read;
  };
  const trace::Trace& trace_;
  const trace::Rank& rank_;
  std::unordered_map<trace::StringId, Sum> files_;
  std::map<std::tuple<std::string_view, trace::StringId, std::int64_t>, Stream> streams_;  // by process
};

}  // namespace

std::string GroupName::pattern_of(std::string_view file) {
  const std::size_t slash = file.rfind('/');
  const std::string_view folder = slash == std::string_view::npos ? "" : file.substr(0, slash + 1);
  const std::string_view name = file.substr(folder.size());
  std::string group;
  for (const char c : folder)
    if (c < '0' || c > '9')
      group += c;
    else if (!group.ends_with('#'))
      group += '#';
  const std::size_t dot = name.rfind('.');
  return group + '*' + std::string(dot == std::string_view::npos || dot == 0 ? "" : name.substr(dot));
}

void GroupName::add(std::string_view file) {
  if (first_.empty()) {
    first_ = file;
    common_ = file.size();
    return;
  }
  several_ |= file != first_;
  const std::size_t most = std::min(common_, file.size());
  common_ = static_cast<std::size_t>(
      std::mismatch(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(most), first_.begin()).first -
      file.begin());
}

std::string GroupName::text() const {
  if (!several_) return first_;
  const std::size_t slash = first_.rfind('/', common_ == 0 ? 0 : common_ - 1);
  if (slash == std::string::npos) return pattern_of(first_);
  const auto depth = std::count(first_.begin(), first_.begin() + static_cast<std::ptrdiff_t>(slash), '/');
  const std::string pattern = pattern_of(first_);
  std::size_t rest = 0;
  for (auto left = depth; left >= 0; --left) rest = pattern.find('/', rest) + 1;
  return first_.substr(0, slash + 1) + pattern.substr(rest);
}

namespace {

void add_groups(Io& of, const trace::Trace& trace, const trace::Rank& rank, const RankIo& io) {
  FileGroups<IoGroup> groups;
  for (const IoCall& call : io.calls) {
    if (call.to != trace::kEmptyString) {  // its time is the source's
      IoGroup& target = groups.of(trace, call.to).sum;
      target.calls += call.file == trace::kEmptyString || &groups.of(trace, call.file).sum != &target;
      add_to(target.written, call.bytes);
    }
    if (call.file == trace::kEmptyString) continue;
    IoGroup& group = groups.of(trace, call.file).sum;
    ++group.calls;
    group.opens += call.kind == IoKind::open;
    group.metadata += derive::is_metadata(call.kind);
    add_to(group.time, rank.events.duration(call.row));
    if (call.kind == IoKind::read) add_to(group.read, call.bytes);
    if (call.kind == IoKind::write) add_to(group.written, call.bytes);
  }
  const auto first = std::ssize(of.groups);
  for (auto& [pattern, group] : groups.by_pattern()) {
    group.sum.rank = rank.rank;
    group.sum.files = group.files;
    group.sum.group = group.name.text();
    of.groups.push_back(std::move(group.sum));
  }
  std::stable_sort(of.groups.begin() + first, of.groups.end(),
                   [](const IoGroup& a, const IoGroup& b) { return a.time > b.time; });
}

}  // namespace

void add_io_files(Io& of, const trace::Trace& trace, const trace::Rank& rank, const RankIo& io) {
  std::vector<std::uint32_t> by_start(io.calls.size());
  for (std::uint32_t i = 0; i < by_start.size(); ++i) by_start[i] = i;
  std::stable_sort(by_start.begin(), by_start.end(), [&](std::uint32_t a, std::uint32_t b) {
    return rank.events.start[io.calls[a].row] < rank.events.start[io.calls[b].row];
  });
  Files files(trace, rank);
  for (const std::uint32_t i : by_start) files.add(io.calls[i]);
  IoOverlap& all = of.overlap.back();  // this rank's
  for (IoFile& file : files.all()) {
    if (file.distinct != report::kNoInt) {
      add_to(all.placed_read, file.read);
      add_to(all.distinct, file.distinct);
    }
    of.files.push_back(std::move(file));
  }
  add_groups(of, trace, rank, io);
}

}  // namespace stepscope::analyze
