#include "write/trace_rows.h"

#include "base/check.h"
#include "derive/flow_events.h"
#include "write/allocator_rows.h"
#include "write/sqlite.h"

namespace stepscope::write {
namespace {

using trace::Rank;
using trace::Row;
using trace::Trace;

/// Writes the id of another row, as shown to users.
void put_id(RowSink& sink, const Rank& rank, Row row) {
  put_if(sink, row != trace::kNoRow, row == trace::kNoRow ? 0 : rank.events.source[row]);
}

bool put_events(const Trace& trace, const Rank& rank, RowSink& sink) {
  for (Row row = 0; row < rank.events.size(); ++row) {
    put_event(trace, rank, row, sink);
    if (!sink.end_row()) return false;
  }
  return true;
}

bool put_args(const Trace& trace, const Rank& rank, RowSink& sink) {
  const trace::EventTable& e = rank.events;
  const std::int64_t name = rank_name(trace, rank);
  for (Row row = 0; row < e.size(); ++row) {
    bool goes_on = true;
    trace::for_each_arg(trace, rank, row, [&](const trace::ArgField& field, std::int64_t value) {
      if (!goes_on) return;
      sink.integer(name);
      sink.integer(e.source[row]);
      sink.text(trace.text(field.key));
      switch (field.type) {
        case trace::ArgType::integer:
          sink.integer(value);
          break;
        case trace::ArgType::real:
          sink.real(trace::as_real(value));
          break;
        default:
          sink.text(trace.text(static_cast<trace::StringId>(value)));
      }
      goes_on = sink.end_row();
    });
    if (!goes_on) return false;
  }
  return true;
}

bool put_tracks(const Trace& trace, const Rank& rank, RowSink& sink) {
  for (std::size_t i = 0; i < rank.tracks.size(); ++i) {
    const trace::Track& track = rank.tracks[i];
    sink.integer(rank_name(trace, rank));
    sink.integer(static_cast<std::int64_t>(i));
    sink.text(track.side == trace::Track::Side::host ? "host" : "device");
    sink.text(track.pid);
    sink.text(track.tid);
    put_if(sink, track.device >= 0, track.device);
    put_if(sink, track.stream >= 0, track.stream);
    put_text_or_nothing(sink, track.name);
    put_text_or_nothing(sink, track.process);
    sink.integer(track.end - track.begin);
    if (!sink.end_row()) return false;
  }
  return true;
}

bool put_rank(const Trace& trace, const Rank& rank, RowSink& sink) {
  sink.integer(rank_name(trace, rank));
  sink.text(rank.path);
  put_if(sink, rank.world_size >= 0, rank.world_size);
  put_text_or_nothing(sink, rank.backend);
  sink.integer(rank.base_ns);
  sink.text(rank.reading.format);
  sink.integer(static_cast<std::int64_t>(rank.events.size()));
  sink.integer(rank.reading.complete ? 1 : 0);
  return sink.end_row();
}

bool put_steps(const Trace& trace, const Rank& rank, RowSink& sink) {
  for (const trace::Step& step : rank.steps) {
    sink.integer(rank_name(trace, rank));
    put_if(sink, step.counts(), step.number);
    put_text_or_nothing(sink, step.name);
    sink.integer(step.start);
    sink.integer(step.end);
    put_if(sink, step.device_end != trace::kNoTime, step.device_end);
    if (!sink.end_row()) return false;
  }
  return true;
}

bool put_devices(const Trace& trace, const Rank& rank, RowSink& sink) {
  for (const trace::Device& device : rank.devices) {
    sink.integer(rank_name(trace, rank));
    sink.integer(device.id);
    put_text_or_nothing(sink, device.name);
    put_if(sink, device.total_memory > 0, device.total_memory);
    put_if(sink, device.sm_count > 0, device.sm_count);
    if (!sink.end_row()) return false;
  }
  return true;
}

bool put_flows(const Trace& trace, const Rank& rank, RowSink& sink) {
  const trace::FlowTable& flows = rank.flows;
  const derive::FlowEvents events = derive::flow_events(rank);
  for (Row row = 0; row < flows.size(); ++row) {
    sink.integer(rank_name(trace, rank));
    sink.integer(flows.id[row]);
    sink.text(std::string_view(&flows.phase[row], 1));
    put_text_or_nothing(sink, trace.text(flows.category[row]));
    sink.integer(flows.track[row]);
    sink.integer(flows.time[row]);
    put_id(sink, rank, events.from[row]);
    put_id(sink, rank, events.to[row]);
    if (!sink.end_row()) return false;
  }
  return true;
}

struct Source {
  std::string_view name;
  bool (*put)(const Trace&, const Rank&, RowSink&);
};
constexpr Source kSources[] = {{"event", put_events},
                               {"arg", put_args},
                               {"track", put_tracks},
                               {"rank", put_rank},
                               {"step", put_steps},
                               {"device", put_devices},
                               {"flow", put_flows},
                               {"allocator_event", put_allocator_events},
                               {"allocator_stack", put_allocator_stacks},
                               {"allocator_block", put_allocator_blocks}};

}  // namespace

void put_text_or_nothing(RowSink& sink, std::string_view text) {
  if (text.empty())
    sink.nothing();
  else
    sink.text(text);
}

void put_if(RowSink& sink, bool known, std::int64_t value) {
  if (known)
    sink.integer(value);
  else
    sink.nothing();
}

void put_event(const Trace& trace, const Rank& rank, Row row, RowSink& sink) {
  const trace::EventTable& e = rank.events;
  sink.integer(rank_name(trace, rank));
  sink.integer(e.source[row]);
  sink.text(trace.text(e.name[row]));
  put_text_or_nothing(sink, trace.text(e.category[row]));
  sink.text(name_of(e.kind[row]));
  sink.integer(e.track[row]);
  sink.integer(e.start[row]);
  sink.integer(e.end[row]);
  sink.integer(e.duration(row));
  put_id(sink, rank, e.parent[row]);
  sink.integer(e.depth[row]);
  put_id(sink, rank, e.launch[row]);
  put_id(sink, rank, e.op[row]);
  const std::int32_t step = e.step[row];
  put_if(sink, step >= 0, step >= 0 ? rank.steps[static_cast<std::size_t>(step)].number : 0);
}

void put_rows(std::string_view name, const Trace& trace, RowSink& sink) {
  for (const Source& source : kSources) {
    if (source.name != name) continue;
    for (const Rank& rank : trace.ranks)
      if (!source.put(trace, rank, sink)) return;
    return;
  }
  CHECK(false);
}

}  // namespace stepscope::write
