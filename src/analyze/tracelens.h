// The tables of TraceLens (AMD-AGI/TraceLens, August 2026) from stepscope's columns, its defects included, so
// that numbers from its reports can be compared. Units are stepscope's; percentages are shares.
#pragma once

#include <span>
#include <string_view>

#include "analyze/tracelens_tree.h"
#include "derive/recompute.h"
#include "report/table.h"
#include "trace/trace.h"

namespace stepscope::analyze::lens {

/// One rank as TraceLens sees it.
struct Lens {
  Lens(const trace::Trace& whole, const trace::Rank& one)
      : trace(whole),
        rank(one),
        e(one.events),
        tree(whole, one),
        recompute(derive::recomputed_rows(whole, one)) {}
  std::string_view name(trace::Row row) const { return trace.text(e.name[row]); }
  bool recomputed(trace::Row row) const { return recompute.includes(e, row); }

  const trace::Trace& trace;
  const trace::Rank& rank;
  const trace::EventTable& e;
  const HostTree tree;
  const derive::Recomputation recompute;
};

/// Adds its tables (and notes) to the report, all ranks in one table.
using MakeSheet = void (*)(const trace::Trace& trace, std::string_view sheet, report::Report& report);

void timeline_sheet(const trace::Trace& trace, std::string_view sheet, report::Report& report);
void model_sheet(const trace::Trace& trace, std::string_view sheet, report::Report& report);
void launcher_sheet(const trace::Trace& trace, std::string_view sheet, report::Report& report);
void category_sheet(const trace::Trace& trace, std::string_view sheet, report::Report& report);
void unique_args_sheet(const trace::Trace& trace, std::string_view sheet, report::Report& report);
void unified_sheet(const trace::Trace& trace, std::string_view sheet, report::Report& report);
void kernel_sheet(const trace::Trace& trace, std::string_view sheet, report::Report& report);
void short_kernels_sheet(const trace::Trace& trace, std::string_view sheet, report::Report& report);
void short_kernel_histogram(const trace::Trace& trace, std::string_view sheet, report::Report& report);
void collective_sheet(const trace::Trace& trace, std::string_view sheet, report::Report& report);

/// Length in ns from the first start to the last end of the linked device events: the whole of most of its
/// percentages.
std::int64_t linked_window(const Lens& lens);

}  // namespace stepscope::analyze::lens
