#include "advise/analyses.h"

#include <fmt/format.h>

#include <vector>

#include "advise/caveats.h"
#include "advise/verdict.h"
#include "analyze/list.h"
#include "analyze/tb/tb.h"
#include "analyze/texts.h"

namespace stepscope::advise {
namespace {

using report::ParamSpec;
using report::Report;

constexpr ParamSpec kParams[] = {
    {"all", ParamSpec::Type::flag, "", "", "with findings that save under 1 % of a step or 50 µs"},
    analyze::kTbCompat,
};

constexpr analyze::About kAbout = {kParams};

Report findings(const analyze::Derived& derived, const report::Params& params) {
  if (params.flag("tb-compat")) return analyze::tb_recommendations(derived.trace(), params);
  const auto threads = static_cast<unsigned>(params.integer("threads"));
  return findings_of(verdict(derived, gather(derived, uncut(params), threads), threads, params.flag("all")));
}

/// An analysis that says what the recording cannot carry as well.
template <const char* name>
Report with_caveats(const analyze::Derived& derived, const report::Params& params) {
  Report report = analyze::find(name)->run(derived, params);
  for (std::string& said : caveats(derived)) report.notes.push_back(std::move(said));
  return report;
}
constexpr char kLedger[] = "ledger", kWhatif[] = "whatif";

}  // namespace

Report findings_of(Report verdict) {
  const report::Table& verdicts = verdict.tables[0];
  report::Table& found = verdict.tables[1];
  Report report{"findings", {}, std::move(verdict.notes)};
  const report::Ints& ranks = *ints_of(verdicts, "rank");
  for (std::size_t row = 0; found.rows() == 0 && row < verdicts.rows(); ++row)
    report.notes.push_back((verdicts.rows() > 1 ? fmt::format("Rank {}: ", ranks[row]) : "") +
                           (*texts_of(verdicts, "headline"))[row]);
  const report::Table& health = verdict.tables[2];
  for (std::size_t row = 0; found.rows() > 0 && row < health.rows(); ++row)
    if ((*texts_of(health, "class"))[row] == "A" && (*texts_of(health, "id"))[row] != "Q10")
      report.notes.push_back(caveat((*texts_of(health, "of_rank"))[row], (*texts_of(health, "what"))[row],
                                    (*texts_of(health, "suffers"))[row]));
  report.tables.push_back(std::move(found));
  return report;
}

std::span<const analyze::Analysis> all_analyses() {
  static const std::vector<analyze::Analysis> all = [] {
    std::vector<analyze::Analysis> out = {{kAbout, analyze::Topic::change, "findings",
                                           "what to change, ranked by what it saves", texts::findings,
                                           findings}};
    out.insert(out.end(), analyze::all().begin(), analyze::all().end());
    for (analyze::Analysis& analysis : out) {
      if (analysis.name == kLedger) analysis.run = with_caveats<kLedger>;
      if (analysis.name == kWhatif) analysis.run = with_caveats<kWhatif>;
    }
    return out;
  }();
  return all;
}

std::vector<const analyze::Analysis*> analyses_of(analyze::Topic topic) {
  std::vector<const analyze::Analysis*> found;
  for (const analyze::Analysis& analysis : all_analyses())
    if (analysis.topic == topic) found.push_back(&analysis);
  return found;
}

const analyze::Analysis* find_analysis(std::string_view name) {
  for (const analyze::Analysis& analysis : all_analyses())
    if (analysis.name == name) return &analysis;
  return nullptr;
}

}  // namespace stepscope::advise
