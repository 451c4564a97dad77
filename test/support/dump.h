// A Trace as text, which tests compare. Equal dumps mean equal traces, whatever ids the strings and schemas
// have.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace stepscope::test {

/// `key=value` of every arg of a row, in the order of the file.
inline std::string dump_args(const trace::Trace& trace, const trace::Rank& rank, trace::Row row) {
  std::string out;
  trace::for_each_arg(trace, rank, row, [&](const trace::ArgField& field, std::int64_t value) {
    if (!out.empty()) out += ',';
    out += trace.text(field.key);
    out += field.type == trace::ArgType::raw ? ":=" : "=";
    if (field.type == trace::ArgType::integer) out += std::to_string(value);
    if (field.type == trace::ArgType::real) out += fmt::format("{}", trace::as_real(value));
    if (field.type >= trace::ArgType::text) out += trace.text(static_cast<trace::StringId>(value));
  });
  return out;
}

/// "pid/tid kind name [start, end) {args}": the recorded part of a row.
inline std::string dump_row(const trace::Trace& trace, const trace::Rank& rank, trace::Row row) {
  const trace::EventTable& e = rank.events;
  const trace::Track& track = rank.tracks[e.track[row]];
  return fmt::format("{}/{} {} {} [{}, {}) {{{}}}", track.pid, track.tid, trace::name_of(e.kind[row]),
                     trace.name(rank, row), e.start[row], e.end[row], dump_args(trace, rank, row));
}

inline std::vector<std::string> dump_rows(const trace::Trace& trace, const trace::Rank& rank) {
  std::vector<std::string> rows;
  for (trace::Row row = 0; row < rank.events.size(); ++row) rows.push_back(dump_row(trace, rank, row));
  return rows;
}

inline std::vector<std::string> dump_rows(const trace::Trace& trace) {
  return dump_rows(trace, trace.ranks.at(0));
}

inline std::string dump_reading(const trace::Reading& r) {
  std::string out = fmt::format(
      "{} bytes, {} events, {} losses of {} bytes, {} clamped, {} unmatched, {} open, complete {}\n",
      r.text_bytes, r.events, r.losses, r.lost_bytes, r.clamped_times, r.unmatched_ends, r.open_begins,
      r.complete);
  for (const trace::Loss& loss : r.first_losses)
    out += fmt::format("loss at {} of {}: {}\n", loss.byte, loss.bytes, loss.reason);
  return out;
}

/// All columns, recorded and derived, and everything else.
inline std::string dump(const trace::Trace& trace) {
  std::string out;
  const auto print = [&out](const auto&... args) {
    (fmt::format_to(std::back_inserter(out), "{} ", args), ...);
  };
  for (const trace::Rank& rank : trace.ranks) {
    out += dump_reading(rank.reading);
    print(rank.rank, rank.world_size, rank.backend, rank.base_ns, rank.devices.size(), '\n');
    for (const auto& [key, json] : rank.metadata) print(key, json, '\n');
    for (const trace::Track& t : rank.tracks)
      print(static_cast<int>(t.side), t.pid, t.tid, t.device, t.stream, t.name, t.process, t.begin, t.end,
            '\n');
    const trace::EventTable& e = rank.events;
    for (trace::Row row = 0; row < e.size(); ++row) {
      out += dump_row(trace, rank, row);
      print(trace.text(e.category[row]), e.source[row], e.parent[row], e.depth[row], e.launch[row], e.op[row],
            e.step[row], static_cast<int>(e.work[row]), '\n');
    }
    const trace::FlowTable& f = rank.flows;
    for (trace::Row i = 0; i < f.size(); ++i)
      print(f.time[i], f.id[i], trace.text(f.category[i]), f.track[i], f.phase[i], '\n');
    for (const trace::Step& s : rank.steps)
      print(s.number, s.name, s.start, s.end, s.device_end, s.row, '\n');
  }
  return out;
}

}  // namespace stepscope::test
