// `stepscope diff A B`: what changed from one recording to the other.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/list.h"
#include "cli/exit.h"
#include "cli/present.h"
#include "compare/answer.h"
#include "report/names.h"
#include "report/sheet.h"
#include "report/units.h"
#include "report/utf8.h"

namespace stepscope::cli {
namespace {

constexpr std::size_t kRowsOfText = 8;
constexpr int kKernelCells = 40;

/// The last name of a path; autograd functions lose the engine's prefix.
std::string last_name(const std::string& path) {
  constexpr std::string_view kArrow = " › ", kEngine = "autograd::engine::evaluate_function: ";
  const std::size_t arrow = path.rfind(kArrow);
  std::string name = arrow == std::string::npos ? path : path.substr(arrow + kArrow.size());
  return name.starts_with(kEngine) ? name.substr(kEngine.size()) : name;
}

/// A change as a line of the terminal shows it.
struct Line {
  std::string what;
  const compare::Row* row;
};

Line line_of(const compare::Row& row) {
  const std::string place = last_name(row.op);
  return {
      report::short_name(report::one_line(row.kernel), kKernelCells) + (place.empty() ? "" : " in " + place),
      &row};
}

/// The state in few words, to leave room for the names.
std::string in_brief(compare::State state) {
  return state == compare::State::other_way ? "other kernels" : std::string(name_of(state));
}

/// The largest changes beyond noise; `rest`: a sentence on those left out.
report::Table largest(const std::vector<compare::Row>& rows, std::size_t most, std::string& rest) {
  using report::Role;
  using report::Unit;
  static const report::Sheet<Line> kSheet{
      "What changed, per step",
      report::Shape::table,
      {{"what", &Line::what},
       {"a", +[](const Line& l) { return l.row->time.a; }, Unit::ns},
       {"b", +[](const Line& l) { return l.row->time.b; }, Unit::ns},
       {"change", +[](const Line& l) { return l.row->change(); }, Unit::ns, Role::change},
       {"state", +[](const Line& l) { return in_brief(l.row->time.state); }, Role::value}}};
  std::vector<Line> lines;
  double noise = 0;
  std::size_t changed = 0;
  for (const compare::Row& row : rows) {
    if (row.time.state == compare::State::within_noise)
      noise += row.change();
    else if (++changed <= most || most == 0)
      lines.push_back(line_of(row));
  }
  if (lines.size() < changed)
    rest = fmt::format("{} more row{}; --top 0 shows all. ", changed - lines.size(),
                       changed - lines.size() == 1 ? "" : "s");
  rest +=
      fmt::format("{} rows differ by no more than noise; together they change a step by {}{}.",
                  rows.size() - changed, noise > 0 ? "+" : "", report::format_value(noise, report::Unit::ns));
  return tabulate(kSheet, lines, false);
}

/// A report that fits one screen: the headline, the parts and the largest changes.
report::Report for_people(const compare::StepDifference& difference, const report::Params& params) {
  const auto most = params.has("top") ? static_cast<std::size_t>(params.integer("top")) : kRowsOfText;
  report::Report shown = compare::as_report(difference);
  if (!difference.known()) return shown;
  shown.tables.resize(2);
  leave_out_details(shown);
  std::string rest;
  shown.tables.push_back(largest(difference.rows, most, rest));
  shown.notes.insert(shown.notes.begin(), rest);
  return shown;
}

}  // namespace

int run_diff(const Call& call) {
  if (call.words.size() != 2)
    return misuse(call, fmt::format("diff needs two recordings, A and B, not {}; a directory counts as one",
                                    call.words.size()));
  const analyze::Analysis* asked = nullptr;
  if (call.params.has("what")) {
    auto found = compare::comparable_named(call.params.text("what"));
    if (!found) return misuse(call, found.error().message);
    asked = *found;
  }
  auto sides = open_sides(call, {call.words[0]}, {call.words[1]});
  if (!sides) return fail(sides.error());
  const trace::Trace &a = sides->a.front(), &b = sides->b.front();
  const auto threads = static_cast<unsigned>(call.params.integer("threads"));
  const bool snapshots = a.snapshots_alone() && b.snapshots_alone();
  if (asked == nullptr && snapshots) asked = &analyze::analysis_of(analyze::memory_peak_about);
  compare::Pair pair = compare::recordings_of(a, b, call.params);
  const bool no_step = !snapshots && (pair.a.step.empty() || pair.b.step.empty());
  const auto ended = [&](int printed) { return printed == kDone && no_step ? kFailed : printed; };
  if (asked != nullptr)
    return ended(print(call, compare::report_of(a, b, pair, *asked, call.params, threads)));
  const compare::StepDifference difference = compare::diff(a, b, pair);
  const std::string headline = compare::headline(difference);
  if (format_of(call) == "text") return ended(print(call, for_people(difference, call.params), headline));
  if (format_of(call) == "csv") return ended(print(call, compare::as_report(difference)));
  report::Page page = compare::page_of(a, b, pair, difference, threads);
  page.title = fmt::format("A {} · B {}", call.words[0], call.words[1]);
  return ended(print(call, page));
}

}  // namespace stepscope::cli
