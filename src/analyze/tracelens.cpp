// The tables of TraceLens under its own rules, one sheet at a time.
#include "analyze/tracelens.h"

#include "analyze/list.h"

namespace stepscope::analyze {
namespace {

struct Sheet {
  std::string_view name;
  lens::MakeSheet make;
};

constexpr Sheet kSheets[] = {
    {"gpu_timeline", lens::timeline_sheet},
    {"GEMM", lens::model_sheet},
    {"CONV_fwd", lens::model_sheet},
    {"CONV_bwd", lens::model_sheet},
    {"SDPA_fwd", lens::model_sheet},
    {"SDPA_bwd", lens::model_sheet},
    {"Normalization", lens::model_sheet},
    {"BinaryElementwise", lens::model_sheet},
    {"UnaryElementwise", lens::model_sheet},
    {"Reduce_fwd", lens::model_sheet},
    {"Reduce_bwd", lens::model_sheet},
    {"ops_summary", lens::launcher_sheet},
    {"ops_summary_by_category", lens::category_sheet},
    {"ops_unique_args", lens::unique_args_sheet},
    {"unified_perf_summary", lens::unified_sheet},
    {"kernel_summary", lens::kernel_sheet},
    {"short_kernels_summary", lens::short_kernels_sheet},
    {"short_kernel_histogram", lens::short_kernel_histogram},
    {"coll_analysis", lens::collective_sheet},
};

constexpr report::ParamSpec kParams[] = {
    {"sheet", report::ParamSpec::Type::choice, "gpu_timeline",
     "gpu_timeline|GEMM|CONV_fwd|CONV_bwd|SDPA_fwd|SDPA_bwd|Normalization|BinaryElementwise|UnaryElementwise|"
     "Reduce_fwd|"
     "Reduce_bwd|ops_summary|ops_summary_by_category|ops_unique_args|unified_perf_summary|kernel_summary|"
     "short_kernels_summary|short_kernel_histogram|coll_analysis",
     "which of its tables"},
};

}  // namespace

extern const About tracelens_about = {
    R"(One table of TraceLens (AMD-AGI/TraceLens, August 2026) under its own rules, for comparing numbers with its
reports. stepscope's own answers to the same questions are `operators`, `kernels`, `devices` and `overview`;
docs/roofline.md says where and why they differ.

Times are nanoseconds, rates per second, percentages shares of 1. Rules that matter when reading a sheet:

- Device events count only when an arrow (`ac2g`) leads from their launch to them, or a graph launch owns them.
  `kernel_summary`, `short_kernel_histogram` and `coll_analysis` take every kernel instead.
- `gpu_timeline`: one row a `type` of time. A fill is computation; exposed means not hidden behind computation (copies: nor behind
  communication); `share` is of `total_time`, first start to last end. Rows with `is_recompute` yes are a window of their
  own and do not add to the others.
- Model sheets (GEMM … Reduce_bwd): every op with a model at any depth, so that nested ops count the same work twice.
  `kernel_time` is the union of the device events below; rates are per call, then averaged. `*_bwd` rows name the forward
  op and are timed by the autograd node of the same sequence number.
- `ops_summary…`, `ops_unique_args`: a device event belongs to the innermost op above its launch. Direct time leaves
  collectives out, subtree time has everything below.
- `unified_perf_summary`: each linked event once, under the outermost op with a model or else the outermost op that
  launches it; what is left is a row `op->kernel (Synthetic Op)`.
- `kernel_summary`: sums of durations; `share_of_total_time` is of the linked events' window and can add up to more
  than 1.
- `coll_analysis`: collective kernels whose metadata is complete; the others are counted in a note.

`first_event` is the position of a row's first event in the file's event list. The second table of a sheet holds the
kernels of each row in launch order; its `duration_std` divides by n, all others by n - 1.)",
    kParams};

report::Report tracelens(const trace::Trace& trace, const report::Params& params) {
  report::Report report{"tracelens", {}, {}};
  const std::string_view wanted = params.text("sheet", "gpu_timeline");
  for (const Sheet& sheet : kSheets)
    if (sheet.name == wanted) sheet.make(trace, sheet.name, report);
  return report;
}

}  // namespace stepscope::analyze
