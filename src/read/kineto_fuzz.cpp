// The whole engine over hostile text: read, seal, derive, every analysis; the invariants of a Trace must
// hold.
#include <cstdint>
#include <string_view>

#include "analyze/analyses.h"
#include "base/check.h"
#include "support/dump.h"
#include "support/open_text.h"

namespace stepscope {
namespace {

void check_rows(const trace::Trace& trace, const trace::Rank& rank) {
  const trace::EventTable& e = rank.events;
  for (const trace::Track& track : rank.tracks) {
    CHECK(track.begin <= track.end && track.end <= e.size());
    for (trace::Row row = track.begin; row + 1 < track.end; ++row) {
      CHECK(e.start[row] <= e.start[row + 1]);
      CHECK(e.start[row] < e.start[row + 1] || e.end[row] >= e.end[row + 1]);
    }
  }
  const auto row_or_none = [&](trace::Row row) { return row == trace::kNoRow || row < e.size(); };
  for (trace::Row row = 0; row < e.size(); ++row) {
    CHECK(e.start[row] <= e.end[row]);
    CHECK(e.name[row] < trace.strings.size() && e.category[row] < trace.strings.size());
    CHECK(e.track[row] < rank.tracks.size());
    CHECK(rank.tracks[e.track[row]].begin <= row && row < rank.tracks[e.track[row]].end);
    CHECK(e.schema[row] < trace.schemas.size());
    CHECK(e.args_at[row] + trace.schemas.fields(e.schema[row]).size() <= rank.values.size());
    CHECK(row_or_none(e.parent[row]) && row_or_none(e.launch[row]) && row_or_none(e.op[row]));
    CHECK(e.parent[row] == trace::kNoRow || e.parent[row] < row);
    CHECK(e.step[row] >= -1 && e.step[row] < static_cast<std::int32_t>(rank.steps.size()));
    test::dump_row(trace, rank, row);
  }
}

void check_flows(const trace::Trace& trace, const trace::Rank& rank) {
  for (trace::Row i = 0; i < rank.flows.size(); ++i) {
    CHECK(rank.flows.track[i] < rank.tracks.size());
    CHECK(rank.flows.category[i] < trace.strings.size());
  }
}

void check_report(const report::Report& report) {
  for (const report::Table& table : report.tables)
    for (const report::Column& column : table.columns) CHECK(column.size() == table.rows());
}

void check_trace(const trace::Trace& trace) {
  const trace::Rank& rank = trace.ranks.at(0);
  CHECK(rank.events.size() > 0 || rank.reading.unmatched_ends > 0);
  CHECK(rank.reading.first_losses.size() <= 16);
  CHECK(rank.reading.lost_bytes <= rank.reading.text_bytes);
  check_rows(trace, rank);
  check_flows(trace, rank);
  for (const analyze::Analysis& analysis : analyze::all()) check_report(analyze::run(analysis, trace, {}));
}

}  // namespace
}  // namespace stepscope

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepscope;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto whole = test::open_text(text, {1, {1 << 14, 1 << 20}});
  if (whole.ok()) check_trace(*whole);
  const unsigned threads = size % 4 == 0 ? 2 : 1;  // starting threads is most of the cost
  const auto pieces = test::open_text(text, {threads, {97, 1 << 20}});
  CHECK(pieces.ok() == whole.ok());
  if (whole.ok()) CHECK(test::dump(*pieces) == test::dump(*whole));
  return 0;
}
