#include "analyze/analyses.h"

#include "analyze/list.h"

namespace stepscope::analyze {
namespace {

using report::ParamSpec;

constexpr ParamSpec kTbCompat = {"tb-compat", ParamSpec::Type::flag, "", "", "the TensorBoard plugin's own numbers, its defects included"};

constexpr ParamSpec kStepsParams[] = {kTbCompat};

constexpr ParamSpec kOperatorsParams[] = {
    {"group", ParamSpec::Type::choice, "name", "name|shape|stack", "one row per operator, per operator and input shape, or per operator and call stack"},
    {"convention", ParamSpec::Type::choice, "exact", "exact|torch|tracelens", "whose FLOPs: ours, torch's FlopCounterMode, or TraceLens's"},
    {"device-name", ParamSpec::Type::text, "", "", "the device whose peaks apply, e.g. H100, when the file does not say"},
    kTbCompat,
};

constexpr Analysis kAll[] = {
    {"operators", "what each operator costs, does, and how near the device's roof it is", R"(doc)", kOperatorsParams, operators},
    {"overview", "what was recorded, and the facts that decide what it can prove", R"(doc)", {}, overview},
    {"devices", "how busy each device was, and how full when busy", R"(doc)", {}, devices},
    {"idle", "why each device was idle, gap by gap", R"(doc)", {}, idle},
    {"steps", "where each step's time went, part by part", R"(Every nanosecond of a step has exactly one role; the parts add up to `total`.)", kStepsParams, steps},
};

}  // namespace

std::span<const Analysis> all() { return kAll; }

const Analysis* find(std::string_view name) {
  for (const Analysis& analysis : all())
    if (analysis.name == name) return &analysis;
  return nullptr;
}

report::Report run(const Analysis& analysis, const trace::Trace& trace, const report::Params& params) {
  report::Report report = analysis.run(trace, params);
  const auto top = static_cast<std::size_t>(params.integer("top"));
  const std::string_view sort = params.text("sort");
  for (report::Table& table : report.tables) {
    if (sort.empty()) report::cut(table, top);
    else if (!report::sort_and_cut(table, sort, top)) report::cut(table, top);
  }
  return report;
}

}  // namespace stepscope::analyze
