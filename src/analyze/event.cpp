// All that is known of one event.
#include <fmt/format.h>

#include "analyze/list.h"
#include "analyze/question.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using report::Role;
using report::Shape;
using trace::kNoRow;
using trace::Rank;
using trace::Row;

struct Columns {
  explicit Columns(const trace::Trace& trace)
      : rank(table, trace),
        part(table.texts("part")),
        name(table.texts("name")),
        value(table.texts("value", Role::value)),
        type(table.texts("type", Role::detail)) {}

  void add(const Rank& of, std::string_view where, std::string_view key, std::string text,
           std::string_view kind = {}) {
    rank.add(of);
    part.emplace_back(where);
    name.emplace_back(key);
    value.push_back(std::move(text));
    type.emplace_back(kind);
  }

  report::Table table{"Event", Shape::table, {}};
  RankColumn rank;
  report::Texts &part, &name, &value, &type;
};

/// "17 aten::mm": the id and the name of a row, "" for none.
std::string reference(const trace::Trace& trace, const Rank& rank, Row row) {
  return row == kNoRow ? "" : fmt::format("{} {}", rank.events.source[row], trace.name(rank, row));
}

void add_recorded(Columns& out, const trace::Trace& trace, const Rank& rank, Row row) {
  const trace::EventTable& e = rank.events;
  const trace::Track& track = rank.tracks[e.track[row]];
  const std::int64_t origin = origin_of(rank);
  const auto add = [&](std::string_view name, std::string value, std::string_view unit = {}) {
    out.add(rank, "event", name, std::move(value), unit);
  };
  add("id", std::to_string(e.source[row]));
  add("name", std::string(trace.name(rank, row)));
  add("category", std::string(trace.text(e.category[row])));
  add("kind", std::string(name_of(e.kind[row])));
  add("start", std::to_string(e.start[row] - origin), "ns");
  add("duration", std::to_string(e.duration(row)), "ns");
  add("end", std::to_string(e.end[row] - origin), "ns");
  add("start_in_file", std::to_string(e.start[row]), "ns");
  if (rank.base_ns != 0) add("unix_time", std::to_string(report::plus(rank.base_ns, e.start[row])), "ns");
  add("pid", track.pid);
  add("tid", track.tid);
  add("process", track.process);
  add("thread", track.name);
  if (track.side == trace::Track::Side::device) {
    add("device", std::to_string(track.device));
    add("stream", std::to_string(track.stream));
  }
}

std::string_view work_name(trace::Work work) {
  constexpr std::string_view kNames[] = {"", "compute", "communication", "copy", "fill"};
  return kNames[static_cast<std::size_t>(work)];
}

void add_derived(Columns& out, const trace::Trace& trace, const Rank& rank, Row row) {
  const trace::EventTable& e = rank.events;
  const auto add = [&](std::string_view name, std::string value) {
    if (!value.empty()) out.add(rank, "derived", name, std::move(value));
  };
  if (e.step[row] >= 0) add("step", rank.steps[static_cast<std::size_t>(e.step[row])].name);
  if (is_host_range(e.kind[row])) add("depth", std::to_string(e.depth[row]));
  add("parent", reference(trace, rank, e.parent[row]));
  add("op", reference(trace, rank, e.op[row]));
  add("launch", reference(trace, rank, e.launch[row]));
  add("work", std::string(work_name(e.work[row])));
  constexpr int kMaxListed = 1'000;
  int listed = 0;
  for (Row other = 0; e.kind[row] == trace::Kind::runtime && other < e.size(); ++other) {
    if (e.launch[other] != row || ++listed > kMaxListed) continue;
    add("launched", reference(trace, rank, other));
  }
  if (listed > kMaxListed) add("launched", fmt::format("and {} more", listed - kMaxListed));
}

void add_args(Columns& out, const trace::Trace& trace, const Rank& rank, Row row) {
  const auto fields = trace.schemas.fields(rank.events.schema[row]);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::int64_t value = rank.values[rank.events.args_at[row] + i];
    const std::string_view key = trace.text(fields[i].key);
    switch (fields[i].type) {
      case trace::ArgType::integer:
        out.add(rank, "arg", key, std::to_string(value), "integer");
        break;
      case trace::ArgType::real: {
        std::string text = fmt::format("{}", trace::as_real(value));
        if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
        out.add(rank, "arg", key, std::move(text), "real");
        break;
      }
      case trace::ArgType::text:
        out.add(rank, "arg", key, std::string(trace.text(static_cast<trace::StringId>(value))), "text");
        break;
      case trace::ArgType::raw:
        out.add(rank, "arg", key, std::string(trace.text(static_cast<trace::StringId>(value))), "json");
        break;
    }
  }
}

}  // namespace

constexpr report::ParamSpec kEventParams[] = {
    {"id", report::ParamSpec::Type::integer, "", "", "position in the file's list of events, from 0; needed"},
    {"rank", report::ParamSpec::Type::integer, "", "", "only in this rank"}};

constinit const About event_about = {kEventParams};

report::Report event(const trace::Trace& trace, const report::Params& params) {
  Columns out(trace);
  report::Report report{"event", {}, {}};
  const std::int64_t id = params.integer("id", -1), wanted_rank = params.integer("rank", -1);
  bool found = false;
  for (const Rank& rank : trace.ranks) {
    if (id < 0 || (params.has("rank") && rank.rank != wanted_rank)) continue;
    for (Row row = 0; row < rank.events.size(); ++row) {
      if (rank.events.source[row] != id) continue;
      found = true;
      add_recorded(out, trace, rank, row);
      add_derived(out, trace, rank, row);
      add_args(out, trace, rank, row);
    }
  }
  if (id < 0)
    report.notes.emplace_back("Give the event's id, its position in the file's list of events: --id N.");
  else if (!found)
    report.notes.push_back(
        fmt::format("No event has the id {}: it is past the end of the list, could not be read, or is "
                    "metadata or a flow arrow.",
                    id));
  report.tables.push_back(std::move(out.table));
  return report;
}

}  // namespace stepscope::analyze
