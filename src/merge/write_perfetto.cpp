#include <algorithm>
#include <map>

#include "base/parallel.h"
#include "merge/merge.h"
#include "merge/rewrite.h"
#include "read/json_members.h"
#include "read/kineto/kineto.h"
#include "write/perfetto.h"

namespace stepscope::merge {
namespace {

/// Writes a source's events as Chrome JSON, whatever its format.
struct PerfettoSection {
  Rewriter rewriter;
  std::string text;

  explicit PerfettoSection(const Source& source) : rewriter(source, 0) {}
  void take(const EventText& event, std::int64_t) { rewriter.append(event, text); }
  void lose(std::int64_t, std::int64_t, std::string_view) {}
};

/// Maps a source's tracks and times, as its Trace has them, to those of the merged file.
struct Meaning {
  std::map<std::pair<std::string, std::string>, LaneIds> lanes;  ///< by pid and tid
  bool rewritten = false;  ///< ids and times are already the merged file's
};

/// DFTracer's lines are rewritten first, which needs them in memory; all other files are read unchanged.
Result<trace::Trace> read_source(const Source& source, Opener& opener, unsigned threads, Meaning& meaning) {
  auto bytes = opener.open(source);
  if (!bytes) return bytes.error();
  std::string text;
  const auto first = [&]() -> Result<std::unique_ptr<ByteSource>> {
    if (*bytes) return std::move(*bytes);
    return source.lines ? memory_bytes(text.data(), text.size()) : opener.open(source);
  };
  if (source.lines) {
    text = "[{}";  // what follows begins with a comma
    walk<PerfettoSection>(
        **bytes, {1, false, true, {}}, [&](std::uint32_t) { return PerfettoSection(source); },
        [&](PerfettoSection&& block, std::uint32_t, std::int64_t) { text += block.text; }, [] {});
    text += ']';
    *bytes = memory_bytes(text.data(), text.size());
    meaning.rewritten = true;
  }
  read::KinetoOptions options;
  options.threads = threads;
  options.drawn = true;
  auto file = read::parse_kineto(source.path, first, options);
  if (!file) return file.error();
  trace::Trace trace;
  read::seal(trace, std::move(*file), threads);
  for (const auto& [lane, ids] : source.lanes) {
    const std::size_t between = lane.find(kBetween);
    meaning.lanes[{ident_of(lane.substr(0, between)), ident_of(lane.substr(between + 1))}] = ids;
  }
  return trace;
}

write::PerfettoLane lane_of(const Source& source, const Meaning& meaning, const trace::Track& track) {
  const auto found = meaning.lanes.find({track.pid, track.tid});
  const bool known = !meaning.rewritten && found != meaning.lanes.end();
  write::PerfettoLane lane;
  lane.pid = read::integer_of(known ? found->second.pid : track.pid, source.processes.front().pid);
  lane.tid = read::integer_of(known && !found->second.tid.empty() ? found->second.tid : track.tid, 0);
  for (const Process& process : source.processes)
    if (process.pid == lane.pid) lane.process = process.name, lane.sort = process.sort;
  return lane;
}

}  // namespace

std::optional<Error> write_perfetto(Merged& merged, const MergeOptions& options,
                                    const std::function<bool(std::string_view)>& put) {
  Opener opener;
  for (std::size_t i = 0; i < merged.sources.size(); ++i) {
    const Source& source = merged.sources[i];
    if (options.activity) options.activity("writing " + source.name);
    Meaning meaning;
    const auto trace = read_source(source, opener, thread_count(options.threads), meaning);
    if (!trace) return trace.error();
    write::PerfettoOptions perfetto;
    perfetto.sequence = static_cast<std::uint32_t>(i + 1);
    perfetto.lane = [&](const trace::Track& track) { return lane_of(source, meaning, track); };
    perfetto.time = [&](std::int64_t time) {
      return std::max<std::int64_t>(0, meaning.rewritten ? time : source.place(source.base_ns + time));
    };
    perfetto.id_shift = [&](std::string_view key) {
      const auto space = read::id_space_of(key);
      return space && !meaning.rewritten ? source.id_shift[static_cast<std::size_t>(*space)] : 0;
    };
    const write::PerfettoCount count = write::perfetto(*trace, trace->ranks.front(), perfetto, put);
    if (count.loose_flows > 0)
      merged.notes.push_back(source.name + ": " + std::to_string(count.loose_flows) +
                             " arrow ends lie where nothing runs and were left out.");
    if (count.not_numbers > 0)
      merged.notes.push_back(source.name + ": " + std::to_string(count.not_numbers) +
                             " counter values are not numbers and were left out.");
  }
  return std::nullopt;
}

}  // namespace stepscope::merge
