// Numbers for ranks, processes, threads and ids, so that no two sources share one.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "merge/source.h"
#include "read/json_members.h"

namespace stepscope::merge {
namespace {

constexpr std::int64_t kMaxTid = 0x7FFFFFFF, kLanesOfRank = 100, kSafeId = std::int64_t{1} << 53,
                       kNoId = 0xFFFFFFFF;
enum Order : std::int64_t { host = 0, other = 5, device = 10, foreign = 50 };

/// Numbers ranks as `read::open` does: by the files' contents, else by their names.
void number_ranks(std::vector<Source>& sources, std::vector<std::string>& notes) {
  std::vector<Source*> ranks;
  for (Source& source : sources)
    if (!source.foreign) ranks.push_back(&source);
  std::set<std::int64_t> numbers;
  for (const Source* source : ranks) numbers.insert(source->rank);
  if (ranks.size() < 2 || (numbers.size() == ranks.size() && *numbers.begin() >= 0)) return;
  std::stable_sort(ranks.begin(), ranks.end(), [](const Source* a, const Source* b) {
    return std::tie(a->path, a->section) < std::tie(b->path, b->section);
  });
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i]->rank = static_cast<std::int64_t>(i);
  notes.emplace_back("Some files have no rank number or share one; ranks are numbered by file name.");
}

/// A foreign source belongs to the rank that has a process of its pid, else to the one that it names.
void join_ranks(std::vector<Source>& sources) {
  std::map<std::string, std::set<std::int64_t>> by_pid;
  std::set<std::int64_t> ranks;
  for (const Source& source : sources) {
    if (source.foreign) continue;
    ranks.insert(source.rank);
    for (const Process& process : source.processes)
      if (process.was.size() > 3) by_pid[process.was].insert(source.rank);  // shorter pids are devices
  }
  for (Source& source : sources) {
    if (!source.foreign || source.section >= 0) continue;
    std::set<std::int64_t> found;
    for (const Process& process : source.processes)
      if (const auto it = by_pid.find(process.was); it != by_pid.end())
        found.insert(it->second.begin(), it->second.end());
    if (found.size() == 1)
      source.rank = *found.begin();
    else if (!ranks.contains(source.rank))
      source.rank = ranks.size() == 1 ? *ranks.begin() : -1;
  }
}

/// A lane's pid and tid in the original recording.
std::pair<std::string, std::string> meaning_of(const Source& source, const LaneText& lane) {
  const std::size_t between = lane.find(kBetween);
  std::string pid = ident_of(lane.substr(0, between)), tid = ident_of(lane.substr(between + 1));
  for (const read::Renamed& r : source.earlier.threads)
    if (std::to_string(r.pid) == pid && std::to_string(r.tid) == tid) {
      tid = r.was;
      break;
    }
  for (const read::Renamed& r : source.earlier.processes)
    if (std::to_string(r.pid) == pid) {
      pid = r.was;
      break;
    }
  return {std::move(pid), std::move(tid)};
}

/// Undoes what an earlier merge did to the names that the survey found.
void restore_names(Source& source) {
  if (source.section < 0) return;
  std::map<std::string, ProcessNames> processes;
  for (auto& [pid, names] : source.found.processes) {
    names.name = names.was;
    processes[meaning_of(source, pid + kBetween).first] = names;
  }
  source.found.processes = std::move(processes);
}

/// Lists the processes of a source in the order of their first events.
void list_processes(Source& source) {
  std::map<std::string, std::int64_t> first;
  for (const auto& [lane, at] : source.found.lanes) {
    const auto [found, added] = first.try_emplace(meaning_of(source, lane).first, at);
    if (!added) found->second = std::min(found->second, at);
  }
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [was, at] : first) order.emplace_back(at, was);
  std::sort(order.begin(), order.end());
  for (auto& [at, was] : order) source.processes.push_back({std::move(was), 0, "", "", 0});
}

/// "rank 3 · GPU 0", "rank 3 · CPU (pid 4711)"
void name_process(const Source& source, std::int64_t unranked, Process& process) {
  const auto found = source.found.processes.find(process.was);
  const ProcessNames names = found == source.found.processes.end() ? ProcessNames{} : found->second;
  process.given = names.name;
  const bool number = process.was.find_first_not_of("0123456789") == std::string::npos;
  const bool on_host = names.label.empty() || names.label == "CPU";
  const std::string pid = number ? fmt::format(" (pid {})", process.was) : "";
  const std::string_view plain = number ? names.name : process.was;
  process.name = source.rank >= 0 ? fmt::format("rank {} · ", source.rank) : source.name + " · ";
  if (source.dftracer)
    process.name += "DFTracer" + pid;
  else if (names.label.empty())
    process.name += plain.empty() ? "pid " + process.was : std::string(plain) + pid;
  else
    process.name += names.label + (on_host ? pid : "");
  const std::int64_t kind = source.foreign         ? Order::foreign
                            : !on_host             ? Order::device + read::integer_of(process.was, 0) % 32
                            : names.label == "CPU" ? Order::host
                                                   : Order::other;
  process.sort = (source.rank >= 0 ? source.rank : unranked) * kLanesOfRank + kind;
}

bool keeps_tid(const std::string& was) {
  const std::int64_t number = read::integer_of(was, -1);
  return number >= 0 && number <= kMaxTid && std::to_string(number) == was;
}

void number_lanes(Source& source) {
  std::map<std::string, std::int64_t> pids;
  for (const Process& process : source.processes) pids[process.was] = process.pid;
  std::map<std::string, std::set<std::string>> tids;  // by pid
  for (const auto& [lane, at] : source.found.lanes) {
    const auto [pid, tid] = meaning_of(source, lane);
    tids[pid].insert(tid);
  }
  std::map<std::pair<std::string, std::string>, std::int64_t> numbers;
  for (const auto& [pid, of_pid] : tids) {
    std::int64_t next = 1;
    for (const std::string& tid : of_pid) {
      if (keeps_tid(tid)) continue;
      while (of_pid.contains(std::to_string(next))) ++next;
      numbers[{pid, tid}] = next;
      source.threads.push_back({pids[pid], next++, tid});
    }
  }
  for (const auto& [lane, at] : source.found.lanes) {
    const auto [pid, tid] = meaning_of(source, lane);
    const auto number = numbers.find({pid, tid});
    const std::string plain = lane.back() == kBetween ? "" : tid;  // an absent tid stays absent
    source.lanes[lane] = {std::to_string(pids[pid]),
                          number != numbers.end() ? std::to_string(number->second) : plain};
  }
}

/// Gives each source its own range in each id space. The order of ids is kept, and single ids need no table.
void shift_ids(std::vector<Source>& sources, std::vector<std::string>& notes) {
  std::set<std::string> large;
  for (std::size_t s = 0; s < kSpaces; ++s) {
    std::int64_t next = 1;
    for (Source& source : sources) {
      const IdRange& range = source.found.ids[s];
      if (range.empty()) continue;
      if (range.high - range.low > kSafeId - next) {
        large.insert(source.name);
        source.ids_stay[s] = true;
        continue;
      }
      if (next <= kNoId && range.high - range.low + next >= kNoId) next = kNoId + 1;
      source.id_shift[s] = next - range.low;
      next += range.high - range.low + 1;
    }
  }
  for (const std::string& name : large)
    notes.push_back(name + ": its ids span more than 2^53 numbers; those in args were kept unchanged.");
}

}  // namespace

std::vector<std::string> settle_ids(std::vector<Source>& sources) {
  std::vector<std::string> notes;
  for (Source& source : sources) {
    restore_names(source);
    list_processes(source);
  }
  number_ranks(sources, notes);
  join_ranks(sources);
  std::int64_t last_rank = -1, pid = 1;
  for (const Source& source : sources) last_rank = std::max(last_rank, source.rank);
  for (Source& source : sources) {
    for (Process& process : source.processes) {
      process.pid = pid++;
      name_process(source, last_rank + 1 + (&source - sources.data()), process);
    }
    number_lanes(source);
  }
  shift_ids(sources, notes);
  return notes;
}

}  // namespace stepscope::merge
