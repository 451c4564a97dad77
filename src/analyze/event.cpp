// Everything known about one event.
#include <fmt/format.h>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "analyze/question.h"
#include "derive/captured_ops.h"
#include "report/sheet.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using report::Role;
using trace::kNoRow;
using trace::Rank;
using trace::Row;

/// One fact about the event. Views refer to literals or to texts of the trace.
struct EventFact {
  std::int64_t rank;
  std::string_view part, name;
  std::string value;
  std::string_view type;  ///< type of an arg, unit of a time
};
using Facts = std::vector<EventFact>;

/// "17 aten::mm": id and name of a row, "" for kNoRow.
std::string reference(const trace::Trace& trace, const Rank& rank, Row row) {
  return row == kNoRow ? "" : fmt::format("{} {}", rank.events.source[row], trace.name(rank, row));
}

void add_recorded(Facts& out, const trace::Trace& trace, const Rank& rank, Row row) {
  const trace::EventTable& e = rank.events;
  const trace::Track& track = rank.tracks[e.track[row]];
  const std::int64_t origin = origin_of(rank);
  const auto add = [&](std::string_view name, std::string value, std::string_view unit = {}) {
    out.push_back({rank.rank, "event", name, std::move(value), unit});
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

void add_derived(Facts& out, const trace::Trace& trace, const Rank& rank, Row row) {
  const trace::EventTable& e = rank.events;
  const auto add = [&](std::string_view name, std::string value) {
    if (!value.empty()) out.push_back({rank.rank, "derived", name, std::move(value), ""});
  };
  if (e.step[row] >= 0) add("step", rank.steps[static_cast<std::size_t>(e.step[row])].name);
  if (is_host_range(e.kind[row])) add("depth", std::to_string(e.depth[row]));
  add("parent", reference(trace, rank, e.parent[row]));
  add("op", reference(trace, rank, e.op[row]));
  if (is_device_work(e.kind[row]))
    add("captured by", reference(trace, rank, derive::CapturedOps(trace, rank).of(row)));
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

void add_args(Facts& out, const trace::Trace& trace, const Rank& rank, Row row) {
  trace::for_each_arg(trace, rank, row, [&](const trace::ArgField& field, std::int64_t value) {
    const auto add = [&](std::string text, std::string_view type) {
      out.push_back({rank.rank, "arg", trace.text(field.key), std::move(text), type});
    };
    switch (field.type) {
      case trace::ArgType::integer:
        add(std::to_string(value), "integer");
        break;
      case trace::ArgType::real: {
        std::string text = fmt::format("{}", trace::as_real(value));
        if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
        add(std::move(text), "real");
        break;
      }
      case trace::ArgType::text:
        add(std::string(trace.text(static_cast<trace::StringId>(value))), "text");
        break;
      case trace::ArgType::raw:
        add(std::string(trace.text(static_cast<trace::StringId>(value))), "json");
        break;
    }
  });
}

const report::Sheet<EventFact> kEventSheet{"Event",
                                           report::Shape::table,
                                           {report::rank_field<EventFact>(&EventFact::rank),
                                            {"part", &EventFact::part},
                                            {"name", &EventFact::name},
                                            {"value", &EventFact::value, Role::value},
                                            {"type", &EventFact::type, Role::detail}}};

}  // namespace

constexpr report::ParamSpec kEventParams[] = {
    {"id", report::ParamSpec::Type::integer, "", "",
     "position in the file's list of events, from 0; required"},
    {"rank", report::ParamSpec::Type::integer, "", "", "only in this rank"}};

constinit const About event_about = {kEventParams};

report::Report event(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  Facts facts;
  std::vector<std::string> notes;
  const std::int64_t id = params.integer("id", -1), wanted_rank = params.integer("rank", -1);
  for (const Rank& rank : trace.ranks) {
    if (id < 0 || (params.has("rank") && rank.rank != wanted_rank)) continue;
    for (Row row = 0; row < rank.events.size(); ++row) {
      if (rank.events.source[row] != id) continue;
      add_recorded(facts, trace, rank, row);
      add_derived(facts, trace, rank, row);
      add_args(facts, trace, rank, row);
    }
  }
  if (id < 0)
    notes.emplace_back("Give the event's id, its position in the file's list of events: --id N.");
  else if (facts.empty())
    notes.push_back(
        fmt::format("No event has the id {}: it is past the end of the list, could not be read, or is "
                    "metadata or a flow arrow.",
                    id));
  return {"event", {tabulate(kEventSheet, facts, trace.several())}, std::move(notes)};
}

}  // namespace stepscope::analyze
