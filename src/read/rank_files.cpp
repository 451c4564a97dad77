#include "read/rank_files.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <filesystem>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/parallel.h"
#include "derive/derive.h"
#include "read/execution_trace/execution_trace.h"
#include "read/files.h"
#include "read/not_recorded.h"
#include "read/pfw/pfw.h"
#include "read/rank_numbers.h"
#include "read/runs.h"

namespace stepscope::read {
namespace {

constexpr std::string_view kLeftOut =
    " is an execution trace, which is not used when ranks are read one by one. Open it with the recording "
    "of its rank alone.";

/// A derived trace of this rank alone.
trace::Trace trace_of(ParsedFile file) {
  trace::Trace one;
  one.one_of_several = true;
  seal(one, std::move(file), 1);
  derive::fill(one, one.ranks.front());
  return one;
}

/// The part of a rank that stays when its events are freed.
trace::Rank head_of(const trace::Rank& rank) {
  constexpr std::size_t kMax = 256;  // bytes of a key's JSON
  trace::Rank head;
  head.path = rank.path;
  head.rank = rank.rank;
  head.world_size = rank.world_size;
  head.backend = rank.backend;
  head.base_ns = rank.base_ns;
  head.devices = rank.devices;
  head.machine = rank.machine;
  head.training = rank.training;
  head.steps = rank.steps;
  head.step_border = rank.step_border;
  head.first_start = rank.first_start;
  head.last_end = rank.last_end;
  head.process = rank.process;
  head.command = rank.command;
  head.reading = rank.reading;
  head.reading.events = static_cast<std::int64_t>(rank.events.size());
  for (const auto& [key, json] : rank.metadata)
    if (json.size() <= kMax || key.starts_with(kNotRecorded)) head.metadata.emplace_back(key, json);
  return head;
}

/// The trace, with its rank numbered by its own file.
trace::Trace numbered(trace::Trace one) {
  trace::Rank& rank = one.ranks.front();
  if (rank.rank >= kMaxRanks) rank.rank = -1;
  if (rank.rank < 0) rank.rank = rank_of(one, rank);
  return one;
}

/// Reports progress over files, from any thread.
class Told {
 public:
  Told(const OpenOptions& options, const std::vector<std::string>& files)
      : options_(options), total_(bytes_of(files)) {}
  void read(const std::string& path) {
    if (!options_.progress) return;
    const std::lock_guard lock(mutex_);
    done_ += stored_size(path);
    options_.progress(done_, total_);
  }

 private:
  const OpenOptions& options_;
  const std::int64_t total_;
  std::mutex mutex_;
  std::int64_t done_ = 0;
};

}  // namespace

Result<RankFiles> RankFiles::survey(std::span<const std::string> paths, const OpenOptions& options,
                                    const Visit& visit) {
  RankFiles out;
  auto files = files_of(paths, kReadable);
  if (!files) return files.error();
  if (auto error = misnamed(*files)) return *std::move(error);
  const std::vector<std::string> execution_traces = take_execution_traces(*files);
  if (files->empty() && !execution_traces.empty()) return execution_trace_alone(execution_traces.front());
  struct OfFile {
    std::vector<std::pair<trace::Rank, Origin>> ranks;
    std::vector<std::string> unread;
    std::size_t left_out = 0;
    std::optional<Error> error;
  };
  std::vector<OfFile> read(files->size());
  std::atomic<std::size_t> next_place = 0;
  Told told(options, *files);
  parallel_for(files->size(), thread_count(options.threads), [&](std::size_t f) {
    OfFile& of = read[f];
    auto parsed = parse_file((*files)[f], KinetoOptions{});
    told.read((*files)[f]);
    if (!parsed) {
      of.error = parsed.error();
      of.unread = {of.error->text()};
      return;
    }
    of.unread = std::move(parsed->unread);
    of.left_out = parsed->left_out;
    for (std::size_t i = 0; i < parsed->files.size(); ++i) {
      const trace::Trace one = numbered(trace_of(std::move(parsed->files[i])));
      const std::size_t place = next_place++;
      visit(one, place);
      const trace::Rank& rank = one.ranks.front();
      of.ranks.emplace_back(head_of(rank), Origin{f, i, place, rank.reading.events});
    }
  });
  std::map<std::string, std::deque<Origin>> origins;
  std::size_t left_out = 0;
  for (OfFile& of : read) {
    for (auto& [head, origin] : of.ranks) {
      origins[head.path].push_back(origin);
      out.heads_.ranks.push_back(std::move(head));
    }
    std::move(of.unread.begin(), of.unread.end(), std::back_inserter(out.heads_.unread));
    left_out += of.left_out;
  }
  if (out.heads_.ranks.empty())
    for (const OfFile& of : read)
      if (of.error) return *of.error;
  if (left_out > 0) out.heads_.notes.push_back(note_left_out(left_out));
  for (const std::string& path : execution_traces) out.heads_.notes.push_back(path + std::string(kLeftOut));
  leave_dftracer(out.heads_);
  if (auto error = choose_run(out.heads_, options.run)) return *std::move(error);
  settle_ranks(out.heads_);
  note_gaps(out.heads_);
  note_not_recorded(out.heads_);
  for (const trace::Rank& rank : out.heads_.ranks) {
    std::deque<Origin>& of_path = origins[rank.path];
    out.origins_.push_back(of_path.front());
    of_path.pop_front();
  }
  out.files_ = std::move(*files);
  return out;
}

Result<bool> RankFiles::visit(const OpenOptions& options, const Visit& visit) const {
  std::vector<std::vector<std::size_t>> ranks(files_.size());  // by file, then by index in it
  for (std::size_t r = 0; r < origins_.size(); ++r) {
    std::vector<std::size_t>& of = ranks[origins_[r].file];
    if (of.size() <= origins_[r].index) of.resize(origins_[r].index + 1);
    of[origins_[r].index] = r;
  }
  std::vector<std::optional<Error>> errors(files_.size());
  Told told(options, files_);
  parallel_for(files_.size(), thread_count(options.threads), [&](std::size_t f) {
    if (ranks[f].empty()) return;
    auto parsed = parse_file(files_[f], KinetoOptions{});
    told.read(files_[f]);
    const auto changed = [&](std::size_t i) {
      return parsed->files[i].rank.reading.events != origins_[ranks[f][i]].listed;
    };
    if (!parsed) {
      errors[f] = parsed.error();
      return;
    }
    bool same = parsed->files.size() == ranks[f].size();
    for (std::size_t i = 0; same && i < ranks[f].size(); ++i) same = !changed(i);
    if (!same) {
      errors[f] = Error{"changed while it was read; run again when nothing writes to it", files_[f]};
      return;
    }
    for (std::size_t i = 0; i < ranks[f].size(); ++i) {
      trace::Trace one = trace_of(std::move(parsed->files[i]));
      const trace::Rank& head = heads_.ranks[ranks[f][i]];
      one.ranks.front().rank = head.rank;
      one.ranks.front().world_size = head.world_size;
      one.notes = heads_.notes;
      one.doubts = heads_.doubts;
      one.unread = heads_.unread;
      visit(one, ranks[f][i]);
    }
  });
  for (const std::optional<Error>& error : errors)
    if (error) return *error;
  return true;
}

Extent extent_of(std::span<const std::string> paths) {
  constexpr std::int64_t kCompression = 12;
  auto files = files_of(paths, kReadable);
  if (!files) return {};
  take_execution_traces(*files);
  Extent extent{files->size(), 0};
  for (const std::string& path : *files) {
    std::error_code absent;
    if (path != "-" && !std::filesystem::exists(path, absent)) continue;
    const std::int64_t bytes = bytes_of({path});
    if (bytes < 0) return {};
    extent.text += bytes * (path.ends_with(".gz") || path.ends_with(".zst") ? kCompression : 1);
  }
  return extent;
}

}  // namespace stepscope::read
