#include "advise/analyses.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "advise/caveats.h"
#include "advise/verdict.h"
#include "analyze/list.h"
#include "analyze/texts.h"

namespace stepscope::advise {
namespace {

using report::ParamSpec;
using report::Report;

/// Findings only. Without findings, each rank's headline becomes a note; else each health row that stops
/// conclusions.
report::Verdict alone(report::Verdict verdict) {
  if (verdict.findings.empty())
    for (const report::RankVerdict& rank : verdict.ranks)
      verdict.notes.push_back((verdict.ranks.size() > 1 ? fmt::format("Rank {}: ", rank.rank) : "") +
                              rank.headline);
  else
    for (const report::Health& row : verdict.health)
      if (row.grade == report::HealthClass::A && row.id != report::HealthId::Q10)
        verdict.notes.push_back(caveat(row, verdict.several));
  verdict.ranks.clear();
  verdict.health.clear();
  return verdict;
}

Report printed(const report::Verdict& verdict) {
  return {"findings", {report::findings_table(verdict)}, verdict.notes};
}

report::Verdict judged(const analyze::Derived& derived, const report::Params& params) {
  const auto threads = static_cast<unsigned>(params.integer("threads"));
  return verdict(derived, gather(derived, threads), threads, params.flag("all"));
}

Report findings(const analyze::Derived& derived, const report::Params& params) {
  return printed(alone(judged(derived, params)));
}

/// The analysis "findings". Its form of another tool is the TensorBoard plugin's recommendations.
const analyze::Analysis& findings_analysis() {
  static const ParamSpec params[] = {
      {"all", ParamSpec::Type::flag, "", "", "also findings that save under 1 % of a step or 50 µs"},
      analyze::flag_of(analyze::Tool::tensorboard_plugin)};
  static constexpr analyze::About kAbout = {};
  static const analyze::Analysis kAnalysis = [] {
    analyze::Analysis analysis = {{params},
                                  &kAbout,
                                  analyze::Topic::change,
                                  "findings",
                                  "what to change, ranked by what it saves",
                                  texts::findings,
                                  findings,
                                  {}};
    for (const analyze::Form& form : analyze::analysis_of(analyze::overview_about).forms)
      if (form.tool == analyze::Tool::tensorboard_plugin) analysis.forms.push_back(form);
    return analysis;
  }();
  return kAnalysis;
}

/// Runs an analysis and adds notes on what the recording cannot prove.
template <const analyze::About* about>
Report with_caveats(const analyze::Derived& derived, const report::Params& params) {
  Report report = analyze::analysis_of(*about).run(derived, params);
  for (std::string& said : caveats(derived)) report.notes.push_back(std::move(said));
  return report;
}

}  // namespace

bool asks_findings(const analyze::Analysis& analysis, const report::Params& params) {
  return analysis.run == findings && !analyze::tool_asked(analysis, params);
}

Answer findings_of(report::Verdict verdict, const analyze::Analysis& analysis, const trace::Trace& trace,
                   const report::Params& params) {
  verdict = alone(std::move(verdict));
  Answer answer{printed(verdict), std::nullopt};
  analyze::finish(analysis, trace, params, answer.report);
  verdict.notes = answer.report.notes;
  std::vector<report::Finding> kept;  // as sorted and cut by --sort and --top
  for (const std::int64_t place : std::get<report::Ints>(answer.report.tables.front().columns.front().values))
    kept.push_back(std::move(verdict.findings[static_cast<std::size_t>(place - 1)]));
  verdict.findings = std::move(kept);
  answer.verdict = std::move(verdict);
  return answer;
}

Answer answer(const analyze::Analysis& analysis, const analyze::Derived& derived,
              const report::Params& params) {
  if (!asks_findings(analysis, params)) return {analyze::run(analysis, derived, params), std::nullopt};
  return findings_of(judged(derived, params), analysis, derived.trace(), params);
}

namespace {

/// The column that names the rank of a row; nullptr if rows have none.
const report::Column* rank_column(const report::Table& table) {
  const auto names_rank = [](const report::Column& c) {
    return (c.tag == report::Tag::rank || c.name == "rank") && !is_text(c);
  };
  const auto found = std::ranges::find_if(table.columns, names_rank);
  return found == table.columns.end() ? nullptr : &*found;
}

void keep_rows(report::Table& table, std::int64_t rank) {
  const report::Column* ranks = rank_column(table);
  if (ranks == nullptr) return;
  const report::Ints of = std::get<report::Ints>(ranks->values);
  for (report::Column& column : table.columns)
    std::visit(
        [&](auto& values) {
          std::size_t kept = 0;
          for (std::size_t row = 0; row < of.size(); ++row)
            if (of[row] == rank) std::swap(values[kept++], values[row]);
          values.resize(kept);
        },
        column.values);
}

}  // namespace

report::Params uncut(const report::Params& params) {
  report::Params whole;
  for (const auto& [name, value] : params.all())
    if (name != "top" && name != "sort") whole.set(name, value);
  return whole;
}

void keep_rank(report::Report& report, std::int64_t rank, const analyze::Analysis& analysis,
               const trace::Trace& trace, const report::Params& params) {
  for (report::Table& table : report.tables) keep_rows(table, rank);
  analyze::finish(analysis, trace, params, report);
}

void keep_rank(report::Verdict& verdict, std::int64_t rank) {
  const auto others = [&](const auto& of) { return of.rank >= 0 && of.rank != rank; };
  std::erase_if(verdict.ranks, others);
  std::erase_if(verdict.findings, others);
  std::erase_if(verdict.health, others);
}

Answer answer_of_rank(const analyze::Analysis& analysis, const analyze::Derived& derived,
                      const report::Params& params, std::int64_t rank) {
  if (asks_findings(analysis, params)) {
    report::Verdict verdict = judged(derived, params);
    keep_rank(verdict, rank);
    return findings_of(std::move(verdict), analysis, derived.trace(), params);
  }
  report::Report report = analyze::run(analysis, derived, uncut(params));
  keep_rank(report, rank, analysis, derived.trace(), params);
  return {std::move(report), std::nullopt};
}

std::span<const analyze::Analysis> all_analyses() {
  static const std::vector<analyze::Analysis> all = [] {
    std::vector<analyze::Analysis> out = {findings_analysis()};
    out.insert(out.end(), analyze::all().begin(), analyze::all().end());
    for (analyze::Analysis& analysis : out) {
      if (analysis.about == &analyze::ledger_about) analysis.run = with_caveats<&analyze::ledger_about>;
      if (analysis.about == &analyze::whatif_about) analysis.run = with_caveats<&analyze::whatif_about>;
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
