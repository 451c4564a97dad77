#include "read/open.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/byte_source.h"
#include "base/kept_pipes.h"
#include "base/parallel.h"
#include "derive/derive.h"
#include "read/execution_trace/execution_trace.h"
#include "read/execution_trace/link_execution_trace.h"
#include "read/files.h"
#include "read/memory_timeline/memory_timeline.h"
#include "read/not_recorded.h"
#include "read/pfw/pfw.h"
#include "read/rank_numbers.h"
#include "read/runs.h"
#include "read/snapshot/attach_snapshots.h"

namespace stepscope::read {
namespace {

void add_execution_trace(trace::Trace& trace, const std::string& path) {
  auto source = open_bytes(path);
  auto nodes = source ? parse_execution_trace(path, **source) : source.error();
  if (nodes)
    link_execution_trace(trace, std::move(*nodes));
  else
    trace.unread.push_back(nodes.error().text());
}

}  // namespace

Result<trace::Trace> open(std::span<const std::string> paths, const OpenOptions& options) {
  const KeepPipes keep;
  auto files = files_of(paths, kReadable);
  if (!files) return files.error();
  if (auto error = misnamed(*files)) return *std::move(error);
  const std::vector<std::string> execution_traces = take_execution_traces(*files);
  const unsigned threads = thread_count(options.threads);
  // Few files are read one after the other, each by all threads.
  const unsigned together = files->size() >= threads ? threads : 1;
  const std::int64_t total = bytes_of(*files);
  std::int64_t done = 0;
  trace::Trace trace;
  std::optional<Error> first_error;
  std::vector<std::string> unread;
  std::size_t left_out = 0;
  std::vector<std::optional<Result<Parsed>>> parsed(files->size());
  const auto parse = [&](std::size_t i) {
    KinetoOptions kineto;
    kineto.threads = together == 1 ? threads : 1;
    if (options.progress && together == 1)
      kineto.progress = [&](std::int64_t at) { options.progress(done + at, total); };
    parsed[i] = parse_file((*files)[i], kineto);
  };
  const auto take = [&](std::size_t i) {
    done += stored_size((*files)[i]);
    if (options.progress) options.progress(done, total);
    std::optional<Result<Parsed>> taken = std::exchange(parsed[i], std::nullopt);
    if (!taken->ok()) {
      if (!first_error) first_error = taken->error();
      unread.push_back(taken->error().text());
      return;
    }
    Parsed& of_path = **taken;
    unread.insert(unread.end(), of_path.unread.begin(), of_path.unread.end());
    left_out += of_path.left_out;
    for (ParsedFile& file : of_path.files) {
      seal(trace, std::move(file), threads);
      trace::Rank& rank = trace.ranks.back();
      if (rank.rank >= kMaxRanks) rank.rank = -1;
      if (const auto known = options.ranks.find(rank.path); known != options.ranks.end())
        rank.rank = known->second;
      if (rank.rank < 0 && (files->size() > 1 || of_path.files.size() > 1)) rank.rank = rank_of(trace, rank);
    }
  };
  parallel_in_order(files->size(), together, parse, take);
  const bool is_enough = options.companions_alone && !execution_traces.empty();
  if (trace.ranks.empty() && first_error && !is_enough) return *first_error;
  if (trace.ranks.empty() && !is_enough) return execution_trace_alone(execution_traces.front());
  trace.unread = std::move(unread);
  attach_snapshots(trace);
  attach_memory_timelines(trace);
  if (left_out > 0) trace.notes.push_back(note_left_out(left_out));
  leave_dftracer(trace);
  if (options.ranks.empty())
    if (auto error = choose_run(trace, options.run)) return *std::move(error);
  settle_ranks(trace);
  for (const std::string& path : execution_traces) add_execution_trace(trace, path);
  const unsigned each = trace.ranks.size() == 1 ? threads : 1;
  parallel_for(trace.ranks.size(), threads,
               [&](std::size_t i) { derive::fill(trace, trace.ranks[i], each); });
  note_gaps(trace);
  note_not_recorded(trace);
  return trace;
}

}  // namespace stepscope::read
