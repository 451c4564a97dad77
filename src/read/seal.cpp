#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/sort_runs.h"
#include "read/absurd_durations.h"
#include "read/batch.h"
#include "read/halves.h"
#include "read/row_order.h"

namespace stepscope::read {
namespace {

using trace::EventTable;
using trace::Kind;
using trace::Row;
using trace::SchemaId;
using trace::StringId;
using trace::TrackId;

/// `v = {}` would keep the memory.
template <class T>
void free_all(T& v) {
  T().swap(v);
}

/// From one vocabulary's ids to the trace's.
struct Remap {
  std::vector<StringId> strings;
  std::vector<SchemaId> schemas;
  std::vector<std::vector<std::uint16_t>> text_fields;  // by old schema: fields whose value is a string id
  std::vector<TrackId> tracks;
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
  remap.text_fields.resize(words.schemas.size());
  for (SchemaId old = 1; old < words.schemas.size(); ++old) {
    const SchemaId parent = words.schemas.parent(old);
    const trace::ArgField last = words.schemas.fields(old).back();
    StringId& key = remap.strings[last.key];
    if (key == trace::kNoString) key = trace.strings.intern(words.strings[last.key]);
    remap.schemas[old] = trace.schemas.extend(remap.schemas[parent], {key, last.type});
    remap.text_fields[old] = remap.text_fields[parent];
    if (last.type >= trace::ArgType::text)
      remap.text_fields[old].push_back(static_cast<std::uint16_t>(words.schemas.fields(old).size() - 1));
  }
}

/// Numbers before texts, each in its own order, so that track ids do not depend on who read what first.
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

/// Of several names for one thing the longest is kept, whatever their order in the file.
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

void remap_batch(Batch& batch, const Remap& remap, std::uint32_t first_source) {
  EventTable& rows = batch.events;
  for (Row row = 0; row < rows.size(); ++row) {
    std::int64_t* values = batch.values.data() + rows.args_at[row];
    for (std::uint16_t field : remap.text_fields[rows.schema[row]])
      values[field] = remap.strings[static_cast<StringId>(values[field])];
    rows.name[row] = remap.strings[rows.name[row]];
    rows.category[row] = remap.strings[rows.category[row]];
    rows.track[row] = remap.tracks[rows.track[row]];
    rows.schema[row] = remap.schemas[rows.schema[row]];
    rows.source[row] += first_source;
  }
  for (HalfEvent& half : batch.halves) {
    std::int64_t* values = batch.values.data() + half.args_at;
    for (std::uint16_t field : remap.text_fields[half.schema])
      values[field] = remap.strings[static_cast<StringId>(values[field])];
    half.name = remap.strings[half.name];
    half.category = remap.strings[half.category];
    half.track = remap.tracks[half.track];
    half.schema = remap.schemas[half.schema];
    half.source += first_source;
  }
  for (Row i = 0; i < batch.flows.size(); ++i) {
    batch.flows.category[i] = remap.strings[batch.flows.category[i]];
    batch.flows.track[i] = remap.tracks[batch.flows.track[i]];
  }
}

template <class T>
void append_all(std::vector<Batch>& batches, Column<T>& out, Column<T> trace::FlowTable::* column) {
  std::size_t total = 0;
  for (const Batch& batch : batches) total += (batch.flows.*column).size();
  out.reserve(total);
  for (Batch& batch : batches)
    out.insert(out.end(), (batch.flows.*column).begin(), (batch.flows.*column).end());
}

/// Moves one column of all batches to its place in track order. `positions[b]` is where batch b's rows go.
template <class T>
void scatter(std::vector<Batch>& batches, const std::vector<Column<Row>>& positions, std::size_t total,
             Column<T> EventTable::* column, Column<T>& out) {
  out.resize(total);
  for (std::size_t b = 0; b < batches.size(); ++b) {
    Column<T>& from = batches[b].events.*column;
    for (std::size_t i = 0; i < from.size(); ++i) out[positions[b][i]] = from[i];
    free_all(from);
  }
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

void place_rows(std::vector<Batch>& batches, trace::Rank& rank, unsigned threads) {
  std::vector<Row> count(rank.tracks.size());
  std::size_t total = 0;
  for (const Batch& batch : batches) {
    for (TrackId track : batch.events.track) ++count[track];
    total += batch.events.size();
  }
  Row at = 0;
  for (std::size_t t = 0; t < rank.tracks.size(); ++t) {
    rank.tracks[t].begin = at;
    at += count[t];
    rank.tracks[t].end = at;
    count[t] = rank.tracks[t].begin;
  }
  std::vector<Column<Row>> positions(batches.size());
  for (std::size_t b = 0; b < batches.size(); ++b) {
    positions[b].reserve(batches[b].events.size());
    for (TrackId track : batches[b].events.track) positions[b].push_back(count[track]++);
  }
  EventTable& e = rank.events;
  const std::vector<std::function<void()>> columns = {
      [&] { scatter(batches, positions, total, &EventTable::start, e.start); },
      [&] { scatter(batches, positions, total, &EventTable::end, e.end); },
      [&] { scatter(batches, positions, total, &EventTable::name, e.name); },
      [&] { scatter(batches, positions, total, &EventTable::category, e.category); },
      [&] { scatter(batches, positions, total, &EventTable::kind, e.kind); },
      [&] { scatter(batches, positions, total, &EventTable::track, e.track); },
      [&] { scatter(batches, positions, total, &EventTable::schema, e.schema); },
      [&] { scatter(batches, positions, total, &EventTable::args_at, e.args_at); },
      [&] { scatter(batches, positions, total, &EventTable::source, e.source); },
  };
  parallel_for(columns.size(), threads, [&](std::size_t i) { columns[i](); });
}

/// Flow ends name streams by pid and tid too: they belong to the stream's track, not to a host thread of
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

}  // namespace

void seal(trace::Trace& trace, ParsedFile file, unsigned threads) {
  trace::Rank& rank = file.rank;
  std::vector<Batch>& batches = file.batches;
  const std::vector<Vocabulary>& words = file.words;
  std::vector<Remap> remaps(words.size());
  map_strings(trace, batches, words, remaps);
  for (std::size_t v = 0; v < words.size(); ++v) map_schemas(trace, words[v], remaps[v]);
  map_tracks(rank, words, remaps);
  name_tracks(rank, batches, words);

  std::vector<std::uint32_t> first_source(batches.size()), first_value(batches.size());
  std::size_t values = 0;
  for (std::size_t b = 0, listed = 0; b < batches.size(); ++b) {
    first_source[b] = static_cast<std::uint32_t>(listed);
    first_value[b] = static_cast<std::uint32_t>(values);
    listed += batches[b].listed;
    values += batches[b].values.size();
  }
  rank.values.resize(values);
  parallel_for(batches.size(), threads, [&](std::size_t b) {
    Batch& batch = batches[b];
    remap_batch(batch, remaps[batch.vocabulary], first_source[b]);
    std::copy(batch.values.begin(), batch.values.end(), rank.values.begin() + first_value[b]);
    free_all(batch.values);
    for (std::uint32_t& at : batch.events.args_at) at += first_value[b];
    for (HalfEvent& half : batch.halves) half.args_at += first_value[b];
  });
  pair_halves(trace, rank, batches);
  drop_absurd_durations(rank, batches, threads);

  append_all(batches, rank.flows.time, &trace::FlowTable::time);
  append_all(batches, rank.flows.id, &trace::FlowTable::id);
  append_all(batches, rank.flows.category, &trace::FlowTable::category);
  append_all(batches, rank.flows.track, &trace::FlowTable::track);
  append_all(batches, rank.flows.phase, &trace::FlowTable::phase);
  place_rows(batches, rank, threads);
  settle_flow_tracks(rank);
  const RowOrder row_order(trace, rank);
  parallel_for(rank.tracks.size(), threads,
               [&](std::size_t t) { sort_track(row_order, rank, rank.tracks[t]); });
  trace.ranks.push_back(std::move(rank));
}

}  // namespace stepscope::read
