#include "analyze/memory/kept_functions.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "derive/places/own_frames.h"
#include "report/statistics.h"

namespace stepscope::analyze {

using report::Role;
using report::Unit;
using trace::Row;

const report::Sheet<KeptFunction> kKeptFunctionSheet{
    "Never freed, by function",
    report::Shape::table,
    {report::rank_field<KeptFunction>(&KeptFunction::rank),
     {"device", +[](const KeptFunction& of) { return of.memory.name(); }},
     {"function", &KeptFunction::function},
     {"bytes", &KeptFunction::bytes, Unit::bytes},
     {"count", &KeptFunction::count, Unit::count},
     {"share", &KeptFunction::share, Unit::share, Role::share}}};

void add_kept_functions(std::vector<KeptFunction>& out, const trace::Trace& trace,
                        const ChosenRecords& memory) {
  const derive::MemoryRecords& records = memory.records;
  if (!records.addressed) return;
  const trace::EventTable& e = memory.rank.events;
  derive::OwnFrames is_own(trace, memory.rank);
  std::map<trace::StringId, KeptFunction> by_frame;
  std::int64_t all = 0;
  std::vector<trace::StringId> around;  // innermost first
  for (const std::uint32_t i : memory.chosen) {
    if (records.bytes[i] <= 0 || records.freed[i] != derive::MemoryRecords::kNever) continue;
    if (e.step[records.row[i]] < 0 && !memory.rank.steps.empty()) continue;
    report::add_to(all, records.bytes[i]);
    around.clear();
    for (Row row = records.range[i]; row != trace::kNoRow; row = e.parent[row])
      if (e.kind[row] == trace::Kind::python && is_own(e.name[row]) &&
          std::ranges::find(around, e.name[row]) == around.end())
        around.push_back(e.name[row]);
    for (std::size_t at = 0; at < around.size(); ++at) {
      KeptFunction& of = by_frame[around[at]];
      report::add_to(of.bytes, records.bytes[i]);
      ++of.count;
      of.depth = std::max(of.depth, static_cast<std::int64_t>(around.size() - 1 - at));
    }
  }
  std::vector<KeptFunction> rows;
  for (auto& [frame, of] : by_frame) {
    of.rank = memory.rank.rank;
    of.memory = records.device;
    of.function = trace.text(frame);
    of.share = report::ratio(of.bytes, all);
    rows.push_back(std::move(of));
  }
  std::ranges::sort(rows, [](const KeptFunction& a, const KeptFunction& b) {
    return std::tuple(-a.bytes, a.depth, std::string_view(a.function)) <
           std::tuple(-b.bytes, b.depth, std::string_view(b.function));
  });
  std::ranges::move(rows, std::back_inserter(out));
}

}  // namespace stepscope::analyze
