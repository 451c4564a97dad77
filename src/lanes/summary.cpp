#include "lanes/summary.h"

#include <cmath>

#include "lanes/json.h"

namespace stepscope::lanes {
namespace {

constexpr std::size_t kMaxSteps = 50'000;

void put_clock(Json& json, const RunClock& clock) {
  json.key("clock").open('{').key("aligned").flag(clock.aligned);
  json.key("error_ns").number(std::llround(clock.error));
  json.key("own").open('[');
  for (const std::int64_t rank : clock.own) json.number(rank < 0 ? 0 : rank);
  json.close(']').close('}');
}

void put_ranks(Json& json, const Run& run) {
  json.key("ranks").open('[');
  for (std::size_t q = 0; q < run.trace.ranks.size(); ++q) {
    const ToRun& to_run = run.clock.of_rank[q];
    const trace::Rank& rank = run.trace.ranks[q];
    const Time begin = rank.first_start == trace::kNoTime ? 0 : rank.first_start;
    json.open('{').key("rank").number(number_of(rank)).key("begin").number(to_run(begin));
    json.key("rate").real(to_run.rate()).close('}');
  }
  json.close(']');
}

void put_steps(Json& json, const Run& run) {
  std::size_t left = kMaxSteps, more = 0;
  json.key("steps").open('[');
  for (std::size_t q = 0; q < run.trace.ranks.size(); ++q) {
    const trace::Rank& rank = run.trace.ranks[q];
    const ToRun& to_run = run.clock.of_rank[q];
    for (const trace::Step& step : rank.steps) {
      if (!step.counts()) continue;
      if (left == 0) {
        ++more;
        continue;
      }
      --left;
      json.open('{').key("rank").number(number_of(rank)).key("number").number(step.number);
      json.key("start").number(to_run(step.start)).key("end").number(to_run(step.end)).close('}');
    }
  }
  json.close(']').key("more_steps").number(more);
}

void put_lane(Json& json, const Run& run, LaneId id) {
  const Lane& lane = run.lanes.all[id];
  json.open('{').key("lane").number(id).key("key").text(lane.key);
  json.key("rank").number(number_of(run.rank_of(lane)));
  json.key("side").text(lane.device ? "device" : "host").key("role").text(name_of(lane.role));
  json.key("name").text(lane.name).key("title").text(lane.title);
  json.key("rows").number(lane.rows.size()).key("events").number(lane.events);
  json.key("hidden").number(lane.hidden).close('}');
}

void put_counter(Json& json, const Run& run, std::uint32_t id) {
  const Counter& counter = run.counters[id];
  json.open('{').key("counter").number(id).key("key").text(counter.key);
  json.key("rank").number(number_of(run.trace.ranks[counter.rank]));
  json.key("name").text(counter.name).key("unit").text(counter.unit);
  json.key("max").real(counter.max).close('}');
}

}  // namespace

std::string summary_json(const Run& run) {
  Json json;
  json.open('{').key("end").number(run.end).key("names").number(run.names.size());
  put_clock(json, run.clock);
  put_ranks(json, run);
  put_steps(json, run);
  json.key("lanes").open('[');
  for (LaneId id = 0; id < run.lanes.all.size(); ++id) put_lane(json, run, id);
  json.close(']').key("more_lanes").number(run.lanes.left_out).key("counters").open('[');
  for (std::uint32_t id = 0; id < run.counters.size(); ++id) put_counter(json, run, id);
  return json.close(']').close('}').take();
}

std::string names_json(const Run& run, std::uint32_t block) {
  Json json;
  json.open('[');
  const std::uint32_t begin = block * kNamesOfBlock, left = run.names.size() - begin;
  for (NameId id = begin; id < begin + std::min(left, kNamesOfBlock); ++id)
    json.text(shown(run.trace.text(run.names[id].text)));
  return json.close(']').take();
}

}  // namespace stepscope::lanes
