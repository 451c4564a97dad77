// gpu_timeline: what the linked device events cover, and what of it hides behind computation.
#include <algorithm>
#include <string>
#include <vector>

#include "analyze/question.h"
#include "analyze/tracelens.h"
#include "analyze/tracelens_launch.h"
#include "timeline/interval.h"

namespace stepscope::analyze::lens {
namespace {

using report::Role;
using report::Unit;
using timeline::Interval;
using timeline::IntervalSet;
using trace::Kind;
using trace::Row;

struct Columns {
  explicit Columns(const trace::Trace& trace)
      : rank(table, trace),
        type(table.texts("type")),
        recomputed(table.texts("is_recompute")),
        time(table.ints("time", Unit::ns)),
        share(table.reals("share", Unit::share, Role::share)) {}
  report::Table table{"Device timeline", report::Shape::table, {}};
  RankColumn rank;
  report::Texts &type, &recomputed;
  report::Ints& time;
  report::Reals& share;
};

/// The events outside (or inside) recomputation by what they do. A fill counts as computation.
struct Classes {
  IntervalSet computation, communication, copies, all;
};

Classes classes_of(const Lens& lens, bool recomputed) {
  Column<Interval> computation, communication, copies, all;
  Communication communication_kernel(lens.trace);
  for (const Row row : lens.tree.linked()) {
    if (lens.recomputed(row) != recomputed) continue;
    const Interval span{lens.e.start[row], lens.e.end[row]};
    all.push_back(span);
    if (lens.e.kind[row] == Kind::memcpy)
      copies.push_back(span);
    else if (communication_kernel.includes(lens.e.name[row]))
      communication.push_back(span);
    else
      computation.push_back(span);
  }
  return {IntervalSet::of(std::move(computation)), IntervalSet::of(std::move(communication)),
          IntervalSet::of(std::move(copies)), IntervalSet::of(std::move(all))};
}

void add_rows(const Lens& lens, bool recomputed, Columns& out) {
  const Classes c = classes_of(lens, recomputed);
  if (c.all.empty()) return;
  const std::int64_t total = c.all.parts().back().end - c.all.parts().front().begin;
  const auto add = [&](const char* type, std::int64_t time) {
    out.rank.add(lens.rank);
    out.type.emplace_back(type);
    out.recomputed.emplace_back(recomputed ? "yes" : "no");
    out.time.push_back(time);
    out.share.push_back(static_cast<double>(time) / static_cast<double>(total));
  };
  add("computation_time", c.computation.length());
  add("exposed_comm_time", subtract(c.communication, c.computation).length());
  add("exposed_memcpy_time", subtract(c.copies, unite(c.computation, c.communication)).length());
  add("busy_time", c.all.length());
  add("idle_time", total - c.all.length());
  add("total_time", total);
  add("total_comm_time", c.communication.length());
  add("total_memcpy_time", c.copies.length());
}

}  // namespace

std::int64_t linked_window(const Lens& lens) {
  bool any = false;
  Interval window;
  for (const Row row : lens.tree.linked()) {
    window.begin = any ? std::min(window.begin, lens.e.start[row]) : lens.e.start[row];
    window.end = any ? std::max(window.end, lens.e.end[row]) : lens.e.end[row];
    any = true;
  }
  return window.length();
}

void timeline_sheet(const trace::Trace& trace, std::string_view, report::Report& report) {
  Columns out(trace);
  for (const trace::Rank& rank : trace.ranks) {
    const Lens lens(trace, rank);
    add_rows(lens, false, out);
    if (lens.recompute.any()) add_rows(lens, true, out);
  }
  report.tables.push_back(std::move(out.table));
}

}  // namespace stepscope::analyze::lens
