#include "read/rank_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "base/median.h"
#include "read/pfw/pfw.h"

namespace stepscope::read {
namespace {

constexpr std::size_t kNamed = 8;  // max ranks or files that a note lists

/// "1, 2, 5 to 9"
std::string listed(const std::vector<std::int64_t>& sorted) {
  std::string text;
  std::size_t named = 0;
  for (std::size_t i = 0; i < sorted.size();) {
    if (named++ == kNamed) return text + " and more";
    std::size_t last = i;
    while (last + 1 < sorted.size() && sorted[last + 1] == sorted[last] + 1) ++last;
    text += text.empty() ? "" : ", ";
    text += last > i + 1 ? fmt::format("{} to {}", sorted[i], sorted[last]) : fmt::format("{}", sorted[i]);
    i = last > i + 1 ? last + 1 : i + 1;
  }
  return text;
}

void doubt(trace::Trace& trace, std::string why) {
  trace.doubts.push_back(why);
  trace.notes.push_back(std::move(why));
}

/// Unix time of the first event, in ns.
double start_of(const trace::Rank& rank) {
  if (rank.first_start == trace::kNoTime) return std::numeric_limits<double>::infinity();
  return static_cast<double>(rank.base_ns) + static_cast<double>(rank.first_start);
}

/// Ranks of one job record at the same time: if starts lie a day apart, some file's base time is wrong.
void note_starts(trace::Trace& trace) {
  constexpr double kDay = 86'400e9;
  std::vector<double> starts;
  for (const trace::Rank& rank : trace.ranks) starts.push_back(start_of(rank));
  std::vector<double> sorted = starts;
  const double usual = median_of(sorted);
  std::vector<std::int64_t> apart, without;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const trace::Rank& rank = trace.ranks[i];
    if (std::abs(starts[i] - usual) > kDay) apart.push_back(rank.rank);
    if (rank.base_ns == 0) without.push_back(rank.rank);
  }
  if (apart.empty()) return;
  const bool some = !without.empty() && without.size() < trace.ranks.size();
  const bool one_base = std::ranges::all_of(
      trace.ranks, [&](const trace::Rank& rank) { return rank.base_ns == trace.ranks.front().base_ns; });
  const std::vector<std::int64_t>& named = some ? without : apart;
  doubt(trace,
        fmt::format(
            "Start times of the ranks cannot be compared: in the files they are more than a day apart. "
            "{} {} for {} {}.",
            one_base ? "The times of the events (ts) are" : "baseTimeNanoseconds is",
            some ? "absent" : "unlike the others'", named.size() == 1 ? "rank" : "ranks", listed(named)));
}

void note_missing(trace::Trace& trace) {
  std::int64_t size = -1;
  for (const trace::Rank& rank : trace.ranks) size = std::max(size, rank.world_size);
  if (size <= static_cast<std::int64_t>(trace.ranks.size()) || size > kMaxRanks) return;
  std::vector<std::int64_t> missing;
  auto have = trace.ranks.begin();
  for (std::int64_t number = 0; number < size; ++number) {
    while (have != trace.ranks.end() && have->rank < number) ++have;
    if (have == trace.ranks.end() || have->rank != number) missing.push_back(number);
  }
  doubt(trace, fmt::format(
                   "{} of the job's {} ranks {} not among these files: {}. Results for all ranks cover these "
                   "files only; a rank that holds the others up may be missing.",
                   missing.size(), size, missing.size() == 1 ? "is" : "are", listed(missing)));
}

void note_steps(trace::Trace& trace) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::int64_t>> windows;
  for (const trace::Rank& rank : trace.ranks)
    if (!rank.steps.empty() && rank.steps.front().row != trace::kNoRow)
      windows[{rank.steps.front().number, rank.steps.back().number}].push_back(rank.rank);
  if (windows.size() < 2) return;
  std::string text;
  std::size_t named = 0;
  for (const auto& [window, ranks] : windows) {
    if (named++ == kNamed) break;
    text += fmt::format("{}{} to {} ({} {})", text.empty() ? "" : "; ", window.first, window.second,
                        ranks.size() == 1 ? "rank" : "ranks", listed(ranks));
  }
  trace.notes.push_back(
      fmt::format("The ranks recorded different steps: {}. Compare them step by step (--step).", text));
}

bool is_a_whole_job(std::span<const trace::Rank> ranks) {
  const auto size = static_cast<std::int64_t>(ranks.size());
  for (std::int64_t i = 0; i < size; ++i)
    if (ranks[i].rank != i || ranks[i].world_size != size) return false;
  return size >= 2;
}

/// Leaves out the ranks from `from` on. `what` they are, for one and for several.
void leave_out(trace::Trace& trace, std::size_t from, std::string_view one, std::string_view several) {
  const std::size_t left = trace.ranks.size() - from;
  std::string names;
  for (std::size_t i = from; i < trace.ranks.size() && i < from + kNamed; ++i)
    names += (names.empty() ? "" : ", ") + trace.ranks[i].path;
  trace.ranks.resize(from);
  trace.notes.push_back(fmt::format("{} left out. Give {} alone to see {}: {}{}.",
                                    left == 1 ? fmt::format("A file is {} and is", one)
                                              : fmt::format("{} files are {} and are", left, several),
                                    left == 1 ? "it" : "each", left == 1 ? "it" : "them", names,
                                    left > kNamed ? " and others" : ""));
}

/// Leaves out files of other commands, such as those of a script that starts two programs. The command stays
/// of which a process trains, else the one with most events. All files are without a rank.
void leave_other_commands(trace::Trace& trace) {
  struct Of {
    bool trains = false;
    std::size_t events = 0;
  };
  std::map<std::string, Of> commands;
  for (const trace::Rank& rank : trace.ranks) {
    Of& of = commands[rank.command];
    of.trains = of.trains || rank.training.seen;
    of.events += rank.events.size();
  }
  if (commands.size() < 2 || commands.contains("")) return;
  const auto most = std::max_element(commands.begin(), commands.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.trains, a.second.events) < std::pair(b.second.trains, b.second.events);
  });
  const auto others =
      std::stable_partition(trace.ranks.begin(), trace.ranks.end(),
                            [&](const trace::Rank& rank) { return rank.command == most->first; });
  std::string names;
  std::size_t named = 0;
  for (const auto& [command, of] : commands)
    if (command != most->first && named++ < kNamed) names += (names.empty() ? "" : ", ") + command;
  const std::string what = fmt::format("of another program than {} ({}{})", most->first, names,
                                       commands.size() > kNamed + 1 ? " and others" : "");
  leave_out(trace, static_cast<std::size_t>(others - trace.ranks.begin()), what, what);
}

/// Leaves out all but the busiest of the processes of one command of which none trains: they share its work,
/// but are no ranks. All files are without a rank.
void leave_pool(trace::Trace& trace) {
  const auto is_of_training = [](const trace::Rank& rank) {
    return rank.training.seen || rank.command.empty();
  };
  if (trace.ranks.size() < 2 || std::any_of(trace.ranks.begin(), trace.ranks.end(), is_of_training)) return;
  const auto most = std::max_element(
      trace.ranks.begin(), trace.ranks.end(),
      [](const trace::Rank& a, const trace::Rank& b) { return a.events.size() < b.events.size(); });
  std::rotate(trace.ranks.begin(), most, most + 1);
  leave_out(trace, 1, "another process of the program, with fewer events,",
            "other processes of the program, with fewer events,");
}

/// Leaves out files without a rank beside those of a whole job, such as the process that spawned it, and
/// beside the only process that trains, or several of one command. The ranks are sorted.
void leave_other_processes(trace::Trace& trace) {
  const auto first = std::find_if(trace.ranks.begin(), trace.ranks.end(),
                                  [](const trace::Rank& rank) { return rank.rank >= 0; });
  const auto others = static_cast<std::size_t>(first - trace.ranks.begin());
  const auto trains = [](const trace::Rank& rank) { return rank.training.seen; };
  if (others > 0 && is_a_whole_job({first, trace.ranks.end()})) {
    const std::size_t size = trace.ranks.size() - others;
    std::rotate(trace.ranks.begin(), first, trace.ranks.end());
    leave_out(trace, size,
              fmt::format("no rank of this job of {}, such as the process that started it,", size),
              fmt::format("no ranks of this job of {}", size));
  } else if (others > 1 && first == trace.ranks.end()) {
    leave_other_commands(trace);
    leave_pool(trace);
    const auto training = std::count_if(trace.ranks.begin(), trace.ranks.end(), trains);
    if (training == std::ssize(trace.ranks) || training == 0) return;
    if (training > 1 && trace.ranks.front().command.empty()) return;
    std::stable_partition(trace.ranks.begin(), trace.ranks.end(), trains);
    leave_out(trace, static_cast<std::size_t>(training),
              "another process of the program, which does not train,",
              "other processes of the program, which do not train,");
  }
}

}  // namespace

std::int64_t rank_in_name(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  for (std::size_t at = name.find("rank"); at != std::string::npos; at = name.find("rank", at + 1)) {
    std::size_t p = at + 4;
    if (p < name.size() && (name[p] == '-' || name[p] == '_')) ++p;
    std::size_t end = p;
    while (end < name.size() && end - p < 9 && name[end] >= '0' && name[end] <= '9') ++end;
    if (end > p) return std::stoll(name.substr(p, end - p));
  }
  return -1;
}

std::int64_t rank_of(const trace::Trace& trace, const trace::Rank& rank) {
  const trace::ArgReader named(trace, rank, "Rank");
  for (const trace::Row row : rank.host_rows())
    if (const auto number = named.integer(row); number && *number >= 0 && *number < kMaxRanks) return *number;
  return rank_in_name(rank.path);
}

void settle_ranks(trace::Trace& trace) {
  std::vector<trace::Rank>& ranks = trace.ranks;
  std::stable_sort(ranks.begin(), ranks.end(), [](const trace::Rank& a, const trace::Rank& b) {
    return std::tie(a.rank, a.path) < std::tie(b.rank, b.path);
  });
  leave_other_processes(trace);
  const auto numbered =
      std::find_if(ranks.begin(), ranks.end(), [](const trace::Rank& rank) { return rank.rank >= 0; });
  if (ranks.size() < 2 || numbered == ranks.begin()) return;
  std::set<std::int64_t> taken;
  for (auto rank = numbered; rank != ranks.end(); ++rank) taken.insert(rank->rank);
  std::string names;
  std::int64_t next = 0;
  std::size_t named = 0;
  for (auto rank = ranks.begin(); rank != numbered; ++rank) {
    while (taken.contains(next)) ++next;
    rank->rank = next++;
    rank->world_size = -1;
    if (named++ < kNamed) names += fmt::format("{}{} {}", names.empty() ? "" : ", ", rank->rank, rank->path);
  }
  if (named > kNamed) names += fmt::format(" and {} more", named - kNamed);
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const trace::Rank& a, const trace::Rank& b) { return a.rank < b.rank; });
  if (std::ranges::all_of(ranks, is_of_dftracer)) {  // such files are of processes, ranks or not
    trace.notes.push_back(
        "These files do not say which rank each process is. They are numbered by path: " + names + ".");
    return;
  }
  doubt(trace,
        "These files do not look like the ranks of one job: some have no rank number. They are numbered by "
        "path: " +
            names + ".");
}

void note_gaps(trace::Trace& trace) {
  if (trace.ranks.size() < 2) return;
  if (trace.doubts.empty()) note_starts(trace);
  note_missing(trace);
  note_steps(trace);
}

}  // namespace stepscope::read
