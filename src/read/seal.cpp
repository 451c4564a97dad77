#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/sort_runs.h"
#include "read/batch.h"
#include "read/kineto/absurd_durations.h"
#include "read/kineto/halves.h"
#include "read/row_order.h"
#include "read/snapshot/snapshot.h"

namespace stepscope::read {
namespace {

using trace::EventTable;
using trace::Kind;
using trace::Row;
using trace::SchemaId;
using trace::StringId;
using trace::TrackId;

struct Schema {
  SchemaId id = trace::kNoArgs;
  std::uint32_t words = 0;
  std::vector<std::uint32_t> texts;  // words whose values are ids of strings
};

/// Maps one vocabulary's ids to the trace's.
struct Remap {
  std::vector<StringId> strings;
  std::vector<Schema> schemas;
  std::vector<TrackId> tracks;
  std::size_t first_value = 0, first_half_value = 0;
};

void map_strings(trace::Trace& trace, const std::vector<Batch>& batches, const std::vector<Vocabulary>& words,
                 std::vector<Remap>& remaps) {
  for (std::size_t v = 0; v < words.size(); ++v) {
    remaps[v].strings.assign(words[v].strings.size(), trace::kNoString);
    remaps[v].strings[0] = trace::kEmptyString;
  }
  for (const Batch& batch : batches) {
    std::vector<StringId>& ids = remaps[batch.vocabulary].strings;
    for (StringId old : batch.first_uses)
      if (ids[old] == trace::kNoString) ids[old] = trace.strings.intern(words[batch.vocabulary].strings[old]);
  }
}

void map_schemas(trace::Trace& trace, const Vocabulary& words, Remap& remap) {
  remap.schemas.resize(words.schemas.size());
  for (SchemaId old = 1; old < words.schemas.size(); ++old) {
    const SchemaId parent = words.schemas.parent(old);
    const trace::ArgField last = words.schemas.fields(old).back();
    StringId& key = remap.strings[last.key];
    if (key == trace::kNoString) key = trace.strings.intern(words.strings[last.key]);
    Schema& schema = remap.schemas[old];
    schema = {trace.schemas.extend(remap.schemas[parent].id, {key, last.type, last.wide}),
              words.schemas.words(old), remap.schemas[parent].texts};
    if (last.type >= trace::ArgType::text) schema.texts.push_back(words.schemas.words(parent));
  }
}

/// Numbers before texts, each in order, so that track ids do not depend on which thread read what first.
using CanonicalTrack = std::tuple<bool, bool, std::int64_t, std::string, bool, std::int64_t, std::string>;

CanonicalTrack canonical(const Vocabulary& words, const TrackKey& key) {
  const auto number = [](const Ident& id) { return id.text ? 0 : id.value; };
  const auto text = [&](const Ident& id) {
    return id.text ? std::string(words.strings[static_cast<StringId>(id.value)]) : std::string();
  };
  return {key.device,   key.pid.text,    number(key.pid), text(key.pid),
          key.tid.text, number(key.tid), text(key.tid)};
}

/// The number in "stream 7" (old dialects), or -1.
std::int64_t number_at_end(const std::string& text) {
  const std::size_t from = text.find_last_not_of("0123456789") + 1;
  return from < text.size() && text.size() - from < 18 ? std::stoll(text.substr(from)) : -1;
}

trace::Track make_track(const CanonicalTrack& key) {
  const auto& [device, pid_text, pid_number, pid, tid_text, tid_number, tid] = key;
  trace::Track track;
  track.side = device ? trace::Track::Side::device : trace::Track::Side::host;
  track.pid = pid_text ? pid : std::to_string(pid_number);
  track.tid = tid_text ? tid : std::to_string(tid_number);
  if (device) {
    track.device = pid_text ? number_at_end(pid) : pid_number;
    if (track.device > kMaxDevice) track.device = -1;
    track.stream = tid_text ? number_at_end(tid) : tid_number;
  }
  return track;
}

void map_tracks(trace::Rank& rank, const std::vector<Vocabulary>& words, std::vector<Remap>& remaps) {
  std::map<CanonicalTrack, TrackId> ids;
  for (const Vocabulary& v : words)
    for (const TrackKey& key : v.tracks) ids.emplace(canonical(v, key), 0);
  for (auto& [key, id] : ids) {
    id = static_cast<TrackId>(rank.tracks.size());
    rank.tracks.push_back(make_track(key));
  }
  for (std::size_t v = 0; v < words.size(); ++v)
    for (const TrackKey& key : words[v].tracks) remaps[v].tracks.push_back(ids.at(canonical(words[v], key)));
}

/// Keeps the longest of several names for one thing, whatever their order in the file.
void keep_fuller(std::string& name, std::string_view other) {
  while (other.ends_with(' ')) other.remove_suffix(1);
  if (std::pair(other.size(), other) > std::pair(name.size(), std::string_view(name))) name = other;
}

void name_tracks(trace::Rank& rank, const std::vector<Batch>& batches, const std::vector<Vocabulary>& words) {
  std::map<std::pair<std::string, std::string>, std::string> threads;
  std::map<std::string, std::string> processes;
  for (const Batch& batch : batches) {
    const trace::StringPool& strings = words[batch.vocabulary].strings;
    const auto text = [&](const Ident& id) {
      return id.text ? std::string(strings[static_cast<StringId>(id.value)]) : std::to_string(id.value);
    };
    for (const NameEvent& event : batch.names) {
      const std::string_view what = strings[event.what];
      if (what == "thread_name")
        keep_fuller(threads[{text(event.pid), text(event.tid)}], strings[event.name]);
      if (what == "process_name") keep_fuller(processes[text(event.pid)], strings[event.name]);
    }
  }
  for (trace::Track& track : rank.tracks) {
    if (const auto found = threads.find({track.pid, track.tid}); found != threads.end())
      track.name = found->second;
    if (const auto found = processes.find(track.pid); found != processes.end()) track.process = found->second;
  }
}

/// Maps the string ids in an event's args to the trace's.
void settle_args(trace::Values& values, std::size_t args_at, const Schema& schema, const Remap& remap) {
  for (const std::uint32_t word : schema.texts) {
    const auto old = static_cast<StringId>(values.get(args_at + word, false));
    values.set(args_at + word, false, remap.strings[old]);
  }
}

void settle_halves(Batch& batch, const Remap& remap, std::uint32_t first_source, trace::Values& values) {
  for (HalfEvent& half : batch.halves) {
    const Schema& schema = remap.schemas[half.schema];
    half.name = remap.strings[half.name];
    half.category = remap.strings[half.category];
    half.track = remap.tracks[half.track];
    half.schema = schema.id;
    half.source += first_source;
    half.args_at += static_cast<std::uint32_t>(remap.first_half_value);
    settle_args(values, half.args_at, schema, remap);
  }
}

/// A lane of a batch's rows, in the trace's ids.
struct SettledLane {
  StringId category;
  TrackId track;
  std::uint32_t place;  ///< index of the track in the batch
  Kind kind;
};

std::vector<SettledLane> settle_lanes(const Batch& batch, const Vocabulary& words, const Remap& remap) {
  std::vector<SettledLane> lanes;
  for (const RowLane& of_batch : batch.lanes) {
    const Lane& lane = words.lanes[of_batch.lane];
    lanes.push_back({remap.strings[lane.category], remap.tracks[lane.track], of_batch.track, lane.kind});
  }
  return lanes;
}

/// `next`: by track of the batch, where its next row goes.
void place_rows(const Batch& batch, const std::vector<SettledLane>& lanes, const Remap& remap,
                std::uint32_t first_source, std::vector<Row>& next, trace::Rank& rank) {
  EventTable& e = rank.events;
  std::size_t args_at = remap.first_value + batch.first_value;
  for (const ParsedRow& row : batch.rows) {
    const SettledLane& lane = lanes[row.lane];
    const Schema& schema = remap.schemas[row.schema];
    const Row at = next[lane.place]++;
    e.start[at] = row.start;
    e.end[at] = row.end;
    e.name[at] = remap.strings[row.name];
    e.category[at] = lane.category;
    e.kind[at] = lane.kind;
    e.track[at] = lane.track;
    e.schema[at] = schema.id;
    e.args_at[at] = static_cast<std::uint32_t>(args_at);
    e.source[at] = first_source + row.source;
    settle_args(rank.values, args_at, schema, remap);
    args_at += schema.words;
  }
}

void place_pair(EventTable& e, Row at, const PairedHalf& pair) {
  e.start[at] = pair.begin.time;
  e.end[at] = pair.end;
  e.name[at] = pair.begin.name;
  e.category[at] = pair.begin.category;
  e.kind[at] = Kind::annotation;
  e.track[at] = pair.begin.track;
  e.schema[at] = pair.begin.schema;
  e.args_at[at] = pair.begin.args_at;
  e.source[at] = pair.begin.source;
}

void place_flows(const Batch& batch, const Vocabulary& words, const Remap& remap, Row at,
                 trace::FlowTable& flows) {
  for (const ParsedFlow& flow : batch.flows) {
    const Lane& lane = words.lanes[flow.lane];
    flows.time[at] = flow.time;
    flows.id[at] = flow.id;
    flows.category[at] = remap.strings[lane.category];
    flows.track[at] = remap.tracks[lane.track];
    flows.phase[at] = lane.flow;
    ++at;
  }
}

void resize(EventTable& e, std::size_t rows) {
  e.start.resize(rows), e.end.resize(rows), e.name.resize(rows), e.category.resize(rows), e.kind.resize(rows);
  e.track.resize(rows), e.schema.resize(rows), e.args_at.resize(rows), e.source.resize(rows);
}

void resize(trace::FlowTable& flows, std::size_t rows) {
  flows.time.resize(rows), flows.id.resize(rows), flows.category.resize(rows), flows.track.resize(rows),
      flows.phase.resize(rows);
}

template <class T>
void permute(Column<T>& column, Row begin, const Column<Row>& order) {
  Column<T> sorted(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = column[order[i]];
  std::copy(sorted.begin(), sorted.end(), column.begin() + begin);
}

void sort_track(const RowOrder& row_order, trace::Rank& rank, const trace::Track& track) {
  const auto before = [&row_order](Row a, Row b) { return row_order(a, b); };
  Column<Row> order(track.end - track.begin);
  std::iota(order.begin(), order.end(), track.begin);
  if (std::is_sorted(order.begin(), order.end(), before)) return;
  sort_runs(order, before);
  EventTable& e = rank.events;
  permute(e.start, track.begin, order), permute(e.end, track.begin, order),
      permute(e.name, track.begin, order);
  permute(e.category, track.begin, order), permute(e.kind, track.begin, order),
      permute(e.schema, track.begin, order);
  permute(e.args_at, track.begin, order), permute(e.source, track.begin, order);
}

/// Gives every track its rows: first those of the batches, in order, then the paired ones. Returns where rows
/// begin: per batch by its tracks, and in the last element, by the trace's tracks, for the paired rows.
std::vector<std::vector<Row>> allot_rows(trace::Rank& rank, const std::vector<Batch>& batches,
                                         const std::vector<Remap>& remaps,
                                         const std::vector<PairedHalf>& paired) {
  std::vector<Row> next(rank.tracks.size());
  const auto for_each_part = [&](auto use) {
    for (std::size_t b = 0; b < batches.size(); ++b)
      for (const TrackRows& part : batches[b].tracks)
        use(b, remaps[batches[b].vocabulary].tracks[part.track], part.rows);
  };
  for_each_part([&](std::size_t, TrackId track, Row rows) { next[track] += rows; });
  for (const PairedHalf& pair : paired) ++next[pair.begin.track];
  Row at = 0;
  for (TrackId t = 0; t < rank.tracks.size(); ++t) {
    rank.tracks[t].begin = at;
    at += std::exchange(next[t], at);
    rank.tracks[t].end = at;
  }
  resize(rank.events, at);
  std::vector<std::vector<Row>> begins(batches.size());
  for_each_part([&](std::size_t b, TrackId track, Row rows) {
    begins[b].push_back(next[track]);
    next[track] += rows;
  });
  begins.push_back(std::move(next));
  return begins;
}

/// Flow ends name streams by pid and tid too: they belong to the stream's track, not to a host thread with
/// equal numbers.
void settle_flow_tracks(trace::Rank& rank) {
  std::map<std::pair<std::string, std::string>, TrackId> with_rows;
  for (TrackId t = 0; t < rank.tracks.size(); ++t)
    if (rank.tracks[t].begin != rank.tracks[t].end)
      with_rows.emplace(std::pair(rank.tracks[t].pid, rank.tracks[t].tid), t);
  std::vector<TrackId> to(rank.tracks.size());
  for (TrackId t = 0; t < rank.tracks.size(); ++t) {
    const auto found = with_rows.find({rank.tracks[t].pid, rank.tracks[t].tid});
    to[t] = found != with_rows.end() && rank.tracks[t].begin == rank.tracks[t].end ? found->second : t;
  }
  for (TrackId& track : rank.flows.track) track = to[track];
}

void find_times(trace::Rank& rank) {
  const trace::EventTable& e = rank.events;
  std::optional<std::int64_t> on_host, anywhere;
  for (const trace::Track& track : rank.tracks) {
    if (track.begin == track.end) continue;
    if (rank.first_start == trace::kNoTime || e.start[track.begin] < rank.first_start)
      rank.first_start = e.start[track.begin];
    const std::int64_t end = *std::max_element(e.end.begin() + track.begin, e.end.begin() + track.end);
    anywhere = std::max(anywhere.value_or(end), end);
    if (track.side == trace::Track::Side::host) on_host = std::max(on_host.value_or(end), end);
  }
  rank.last_end = on_host.value_or(anywhere.value_or(trace::kNoTime));
  if (!rank.tracks.empty()) rank.process = rank.tracks.front().pid;
}

}  // namespace

void seal(trace::Trace& trace, ParsedFile file, unsigned threads) {
  trace::Rank& rank = file.rank;
  std::vector<Batch>& batches = file.batches;
  std::vector<Vocabulary>& words = file.words;
  std::vector<Remap> remaps(words.size());
  map_strings(trace, batches, words, remaps);
  for (std::size_t v = 0; v < words.size(); ++v) map_schemas(trace, words[v], remaps[v]);
  map_tracks(rank, words, remaps);
  name_tracks(rank, batches, words);

  for (std::size_t v = 0; v < words.size(); ++v) {
    remaps[v].first_value = rank.values.take(std::move(words[v].values));
    remaps[v].first_half_value = rank.values.take(std::move(words[v].half_values));
  }

  std::vector<std::uint32_t> first_source(batches.size()), first_flow(batches.size());
  std::uint32_t sources = 0, flows = 0;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    first_source[b] = std::exchange(sources, sources + batches[b].listed);
    first_flow[b] = std::exchange(flows, flows + static_cast<std::uint32_t>(batches[b].flows.size()));
    settle_halves(batches[b], remaps[batches[b].vocabulary], first_source[b], rank.values);
  }
  const std::vector<PairedHalf> paired = pair_halves(trace, rank, batches);
  std::vector<std::vector<Row>> next = allot_rows(rank, batches, remaps, paired);
  resize(rank.flows, flows);
  parallel_for(batches.size(), threads, [&](std::size_t b) {
    const Vocabulary& of = words[batches[b].vocabulary];
    const Remap& remap = remaps[batches[b].vocabulary];
    place_flows(batches[b], of, remap, first_flow[b], rank.flows);
    place_rows(batches[b], settle_lanes(batches[b], of, remap), remap, first_source[b], next[b], rank);
    batches[b] = {};
  });
  for (const PairedHalf& pair : paired) place_pair(rank.events, next.back()[pair.begin.track]++, pair);
  end_open_ranges(rank);
  drop_absurd_durations(rank);
  settle_flow_tracks(rank);
  const RowOrder row_order(trace, rank);
  parallel_for(rank.tracks.size(), threads,
               [&](std::size_t t) { sort_track(row_order, rank, rank.tracks[t]); });
  find_times(rank);
  if (file.snapshot) {
    renumber(*file.snapshot, words[0].strings, trace.strings);
    rank.snapshot = std::move(file.snapshot);
  }
  rank.memory_timeline = std::move(file.memory_timeline);
  trace.ranks.push_back(std::move(rank));
}

}  // namespace stepscope::read
