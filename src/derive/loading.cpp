#include "derive/loading.h"

#include "derive/kernel_class.h"

namespace stepscope::derive {
namespace {

using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Row;

bool is_loader_frame(std::string_view name) {
  return name.find("dataloader.py(") != std::string_view::npos && name.ends_with(": __next__");
}

std::vector<Row> outermost(const trace::Trace& trace, const trace::Rank& rank, bool frames) {
  const EventTable& e = rank.events;
  enum : std::uint8_t { kUnasked, kYes, kNo };
  std::vector<std::uint8_t> loads(trace.strings.size(), kUnasked);
  std::vector<bool> loading(e.size());
  std::vector<Row> rows;
  for (Row row = 0; row < e.size(); ++row) {
    if (!is_host_range(e.kind[row])) continue;
    loading[row] = e.parent[row] != kNoRow && loading[e.parent[row]];
    if (loading[row] || e.kind[row] == Kind::runtime || (e.kind[row] == Kind::python) != frames) continue;
    std::uint8_t& known = loads[e.name[row]];
    if (known == kUnasked) {
      const std::string_view name = trace.text(e.name[row]);
      known = (frames ? is_loader_frame(name) : is_data_loading(name)) ? kYes : kNo;
    }
    if (known != kYes) continue;
    loading[row] = true;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

std::vector<Row> loading_rows(const trace::Trace& trace, const trace::Rank& rank) {
  std::vector<Row> marked = outermost(trace, rank, false);
  return marked.empty() ? outermost(trace, rank, true) : marked;
}

timeline::IntervalSet loading_time(const trace::Trace& trace, const trace::Rank& rank) {
  std::vector<timeline::Interval> spans;
  for (const Row row : loading_rows(trace, rank))
    spans.push_back({rank.events.start[row], rank.events.end[row]});
  return timeline::IntervalSet::of(std::move(spans));
}

}  // namespace stepscope::derive
