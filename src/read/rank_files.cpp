#include "read/rank_files.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/parallel.h"
#include "derive/derive.h"
#include "read/files.h"
#include "read/rank_numbers.h"

namespace stepscope::read {
namespace {

/// A derived trace of this file alone.
Result<trace::Trace> open_one(const std::string& path) {
  auto parsed = parse_file(path, KinetoOptions{});
  if (!parsed) return parsed.error();
  if (parsed->files.size() != 1)
    return Error{"holds several ranks, merged: give it alone, or the files that it was made of", path};
  trace::Trace one;
  one.one_of_several = true;
  seal(one, std::move(parsed->files.front()), 1);
  derive::fill(one, one.ranks.front());
  return one;
}

/// What stays of a rank when its events are let go.
trace::Rank head_of(const trace::Rank& rank) {
  constexpr std::size_t kLongest = 256;  // bytes of a key's JSON
  trace::Rank head;
  head.path = rank.path;
  head.rank = rank.rank;
  head.world_size = rank.world_size;
  head.backend = rank.backend;
  head.base_ns = rank.base_ns;
  head.devices = rank.devices;
  head.steps = rank.steps;
  head.first_start = rank.first_start;
  head.reading = rank.reading;
  for (const auto& [key, json] : rank.metadata)
    if (json.size() <= kLongest) head.metadata.emplace_back(key, json);
  return head;
}

/// Progress over files, told from any thread.
class Told {
 public:
  Told(const OpenOptions& options, const std::vector<std::string>& files)
      : options_(options), total_(bytes_of(files)) {}
  void read(const std::string& path) {
    if (!options_.progress) return;
    const std::lock_guard lock(mutex_);
    done_ += std::max<std::int64_t>(0, bytes_of({path}));
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
  const auto files = files_of(paths, kReadable);
  if (!files) return files.error();
  std::vector<std::optional<trace::Rank>> heads(files->size());
  std::vector<std::optional<Error>> errors(files->size());
  Told told(options, *files);
  parallel_for(files->size(), thread_count(options.threads), [&](std::size_t place) {
    auto one = open_one((*files)[place]);
    told.read((*files)[place]);
    if (!one) {
      errors[place] = one.error();
      return;
    }
    trace::Rank& rank = one->ranks.front();
    if (rank.rank >= kMostRanks) rank.rank = -1;
    if (rank.rank < 0) rank.rank = rank_of(*one, rank);
    visit(*one, place);
    heads[place] = head_of(rank);
  });
  RankFiles out;
  std::map<std::string, std::vector<std::size_t>> places;
  for (std::size_t place = files->size(); place-- > 0;)
    if (heads[place]) places[heads[place]->path].push_back(place);
  for (std::size_t place = 0; place < files->size(); ++place)
    if (heads[place])
      out.heads_.ranks.push_back(std::move(*heads[place]));
    else
      out.heads_.unread.push_back(errors[place]->text());
  if (out.heads_.ranks.empty()) return *errors.front();
  settle_ranks(out.heads_);
  note_gaps(out.heads_);
  for (const trace::Rank& rank : out.heads_.ranks) {
    std::vector<std::size_t>& of_path = places[rank.path];
    out.places_.push_back(of_path.back());
    of_path.pop_back();
  }
  return out;
}

Result<bool> RankFiles::visit(const OpenOptions& options, const Visit& visit) const {
  std::vector<std::string> files;
  for (const trace::Rank& rank : heads_.ranks) files.push_back(rank.path);
  std::vector<std::optional<Error>> errors(files.size());
  Told told(options, files);
  parallel_for(files.size(), thread_count(options.threads), [&](std::size_t place) {
    auto one = open_one(files[place]);
    told.read(files[place]);
    const trace::Rank& head = heads_.ranks[place];
    if (!one || one->ranks.front().reading.events != head.reading.events) {
      errors[place] =
          one ? Error{"has changed while it was read; ask again when nothing writes to it", files[place]}
              : one.error();
      return;
    }
    one->ranks.front().rank = head.rank;
    one->ranks.front().world_size = head.world_size;
    one->notes = heads_.notes;
    one->doubts = heads_.doubts;
    one->unread = heads_.unread;
    visit(*one, place);
  });
  for (const std::optional<Error>& error : errors)
    if (error) return *error;
  return true;
}

Extent extent_of(std::span<const std::string> paths) {
  constexpr std::int64_t kCompression = 12;
  const auto files = files_of(paths, kReadable);
  if (!files) return {};
  Extent extent{files->size(), 0};
  for (const std::string& path : *files) {
    const std::int64_t bytes = bytes_of({path});
    if (bytes < 0) return {};
    extent.text += bytes * (path.ends_with(".gz") ? kCompression : 1);
  }
  return extent;
}

}  // namespace stepscope::read
