#include "read/runs.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/median.h"

namespace stepscope::read {
namespace {

constexpr std::size_t kMostListed = 8;  // max files or runs that a note lists

/// WORKER of WORKER.TIME.pt.trace.json with its folder, as trace handlers name each cycle; "" for other
/// names.
std::string worker_in_name(const std::string& path) {
  std::string_view name = path;
  for (const std::string_view ending : {".gz", ".zst", ".pt.trace.json"})
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  if (path.find(".pt.trace.json", name.size()) != name.size() || digits < 2 || digits == name.size() ||
      name[digits - 1] != '.')
    return "";
  return std::string(name.substr(0, digits - 1));
}

/// A file, and the Unix times between which its threads recorded, in ns; both 0 when unknown.
struct File {
  std::size_t at;  // in the trace
  std::int64_t first = 0, last = 0;
};

File file_of(const trace::Rank& rank, std::size_t at) {
  if (rank.first_start == trace::kNoTime) return {at};
  return {at, rank.base_ns + rank.first_start, rank.base_ns + rank.last_end};
}

std::string time_of(std::int64_t unix_ns) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC",
                     fmt::gmtime(static_cast<std::time_t>(unix_ns / 1'000'000'000)));
}

class Runs {
 public:
  explicit Runs(trace::Trace& trace)
      : trace_(trace), leaves_(trace.ranks.size()), run_of_(trace.ranks.size()) {}

  std::optional<Error> choose(std::int64_t wanted) {
    gather();
    leave_repeats();
    tell_apart();
    assign();
    leave_clashes();
    const auto chosen = choice(wanted);
    if (!chosen)
      return Error{fmt::format("there is no run {}: these files hold {} run{}", wanted, begins_.size(),
                               begins_.size() == 1 ? "" : "s"),
                   ""};
    leave_others(*chosen);
    return std::nullopt;
  }

 private:
  using Process = std::tuple<std::int64_t, std::string>;

  /// By rank; without one, files are of one process if their names and process ids say so.
  void gather() {
    for (std::size_t i = 0; i < trace_.ranks.size(); ++i) {
      const trace::Rank& rank = trace_.ranks[i];
      const std::string worker = worker_in_name(rank.path);
      const std::string name = rank.rank >= 0   ? ""
                               : worker.empty() ? fmt::format("{}:{}", rank.path, i)
                                                : fmt::format("{}:{}", worker, rank.process);
      files_[{rank.rank, name}].push_back(file_of(rank, i));
    }
    for (auto& [process, files] : files_)
      std::sort(files.begin(), files.end(), [&](const File& a, const File& b) {
        return std::tie(a.first, path(a)) < std::tie(b.first, path(b));
      });
  }

  void leave_repeats() {
    std::vector<std::size_t> repeats;
    for (auto& [process, files] : files_) {
      std::vector<File> kept;
      for (const File& file : files) {
        const bool repeated = std::any_of(kept.begin(), kept.end(), [&](const File& other) {
          const trace::Rank &a = trace_.ranks[file.at], &b = trace_.ranks[other.at];
          return a.path != b.path && file.first == other.first && file.last == other.last &&
                 a.process == b.process && a.reading.events == b.reading.events;
        });
        if (repeated)
          repeats.push_back(file.at);
        else
          kept.push_back(file);
      }
      files = std::move(kept);
    }
    leave(repeats, "repeats another file and is left out", "repeat other files and are left out");
  }

  /// Finds when each run began, from the ranks that were recorded most often.
  void tell_apart() {
    std::size_t most = 1;
    for (const auto& [process, files] : files_) most = std::max(most, files.size());
    std::vector<std::vector<std::int64_t>> firsts(most), lasts(most);
    for (const auto& [process, files] : files_)
      for (std::size_t k = 0; files.size() == most && k < most; ++k) {
        firsts[k].push_back(files[k].first);
        lasts[k].push_back(files[k].last);
      }
    std::int64_t last_end = 0;
    for (std::size_t k = 0; k < most; ++k) {
      const std::int64_t begin = median_of(firsts[k]), end = median_of(lasts[k]);
      if (k == 0 || (begin >= last_end && end > begin)) begins_.push_back(begin);
      run_of_nth_.push_back(begins_.size() - 1);
      last_end = std::max(last_end, end);
    }
  }

  void assign() {
    for (const auto& [process, files] : files_)
      for (std::size_t k = 0; k < files.size(); ++k)
        run_of_[files[k].at] = files.size() == run_of_nth_.size() ? run_of_nth_[k] : nearest(files[k].first);
  }
  std::size_t nearest(std::int64_t first) const {
    const auto at = std::min_element(begins_.begin(), begins_.end(), [&](std::int64_t a, std::int64_t b) {
      return std::abs(a - first) < std::abs(b - first);
    });
    return static_cast<std::size_t>(at - begins_.begin());
  }

  /// Of a rank's files in one run, the one with most events stays.
  void leave_clashes() {
    for (auto& [process, files] : files_) {
      std::map<std::size_t, std::vector<std::size_t>> by_run;
      for (const File& file : files) by_run[run_of_[file.at]].push_back(file.at);
      for (auto& [run, at] : by_run) {
        if (at.size() < 2) continue;
        const auto most = std::max_element(at.begin(), at.end(), [&](std::size_t a, std::size_t b) {
          return trace_.ranks[a].reading.events < trace_.ranks[b].reading.events;
        });
        const std::string kept = trace_.ranks[*most].path;
        at.erase(most);
        const std::string what =
            fmt::format("of rank {}, as {} is, from the same time, and", std::get<0>(process), kept);
        leave(at, "is " + what + " is left out", "are " + what + " are left out");
      }
    }
  }

  std::optional<std::size_t> choice(std::int64_t wanted) const {
    if (wanted > std::ssize(begins_)) return std::nullopt;
    if (wanted > 0) return static_cast<std::size_t>(wanted - 1);
    const std::vector<std::size_t> sizes = ranks_of_runs();
    const auto newest = std::max_element(sizes.rbegin(), sizes.rend());
    return static_cast<std::size_t>(sizes.rend() - newest) - 1;
  }
  std::vector<std::size_t> ranks_of_runs() const {
    std::vector<std::size_t> sizes(begins_.size());
    for (std::size_t i = 0; i < leaves_.size(); ++i) sizes[run_of_[i]] += !leaves_[i];
    return sizes;
  }

  void leave_others(std::size_t chosen) {
    const std::vector<std::size_t> sizes = ranks_of_runs();
    if (begins_.size() > 1) {
      std::string others;
      std::size_t named = 0;
      for (std::size_t run = 0; run < begins_.size(); ++run)
        if (run != chosen && named++ < kMostListed)
          others += fmt::format("{}run {} of {} ({} file{})", others.empty() ? "" : ", ", run + 1,
                                time_of(begins_[run]), sizes[run], sizes[run] == 1 ? "" : "s");
      trace_.notes.push_back(
          fmt::format("These files are of {} runs, or of a schedule with as many cycles. Run {} of {} is "
                      "read ({} file{}); left "
                      "out: {}{}. --run N chooses another.",
                      begins_.size(), chosen + 1, time_of(begins_[chosen]), sizes[chosen],
                      sizes[chosen] == 1 ? "" : "s", others, named > kMostListed ? " and more" : ""));
    }
    std::vector<trace::Rank> kept;
    for (std::size_t i = 0; i < leaves_.size(); ++i)
      if (!leaves_[i] && run_of_[i] == chosen) kept.push_back(std::move(trace_.ranks[i]));
    trace_.ranks = std::move(kept);
  }

  void leave(const std::vector<std::size_t>& files, std::string_view one, std::string_view several) {
    if (files.empty()) return;
    std::string names;
    for (std::size_t i = 0; i < files.size(); ++i) {
      leaves_[files[i]] = true;
      if (i < kMostListed) names += (i == 0 ? "" : ", ") + trace_.ranks[files[i]].path;
    }
    trace_.notes.push_back(fmt::format("{}{} {}.", names, files.size() > kMostListed ? " and others" : "",
                                       files.size() == 1 ? one : several));
  }

  const std::string& path(const File& file) const { return trace_.ranks[file.at].path; }

  trace::Trace& trace_;
  std::map<Process, std::vector<File>> files_;  // in order of time
  std::vector<std::int64_t> begins_;            // by run, Unix ns
  std::vector<std::size_t> run_of_nth_;         // of a rank that was recorded most often
  std::vector<bool> leaves_;                    // by file
  std::vector<std::size_t> run_of_;             // by file
};

}  // namespace

std::optional<Error> choose_run(trace::Trace& trace, std::int64_t wanted) {
  return Runs(trace).choose(wanted);
}

}  // namespace stepscope::read
