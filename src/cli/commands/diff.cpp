// `stepscope diff A B`: what changed from one recording to the other.
#include "compare/diff.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/exit.h"
#include "cli/present.h"
#include "compare/analysis_difference.h"
#include "compare/step_difference.h"
#include "report/names.h"
#include "report/suggest.h"
#include "report/units.h"
#include "report/utf8.h"

namespace stepscope::cli {
namespace {

constexpr std::size_t kRowsOfText = 8;
constexpr int kKernelCells = 40;

/// The last name of a path; of autograd's functions without the engine's own words.
std::string last_name(const std::string& path) {
  constexpr std::string_view kArrow = " › ", kEngine = "autograd::engine::evaluate_function: ";
  const std::size_t arrow = path.rfind(kArrow);
  std::string name = arrow == std::string::npos ? path : path.substr(arrow + kArrow.size());
  return name.starts_with(kEngine) ? name.substr(kEngine.size()) : name;
}

const report::Texts& texts(const report::Table& table, std::string_view column) {
  return std::get<report::Texts>(table.column(column)->values);
}
const report::Reals& reals(const report::Table& table, std::string_view column) {
  return std::get<report::Reals>(table.column(column)->values);
}

/// A state that leaves room for the names.
std::string in_brief(const std::string& state) {
  return state == compare::name_of(compare::State::other_way) ? "other kernels" : state;
}

/// The largest changes beyond noise; `rest`: a sentence on those left out.
report::Table largest(const report::Table& all, std::size_t most, std::string& rest) {
  report::Table out{all.title, all.shape, {}};
  report::Texts& what = out.texts("what");
  report::Reals& a = out.reals("a", report::Unit::ns);
  report::Reals& b = out.reals("b", report::Unit::ns);
  report::Reals& change = out.reals("change", report::Unit::ns, report::Role::change);
  report::Texts& state = out.texts("state", report::Role::value);
  double noise = 0;
  std::size_t changed = 0;
  for (std::size_t row = 0; row < all.rows(); ++row) {
    if (texts(all, "state")[row] == compare::name_of(compare::State::within_noise)) {
      noise += reals(all, "change")[row];
      continue;
    }
    if (++changed > most && most != 0) continue;
    const std::string place = last_name(texts(all, "op")[row]);
    what.push_back(report::short_name(report::one_line(texts(all, "kernel")[row]), kKernelCells) +
                   (place.empty() ? "" : " in " + place));
    a.push_back(reals(all, "a")[row]);
    b.push_back(reals(all, "b")[row]);
    change.push_back(reals(all, "change")[row]);
    state.push_back(in_brief(texts(all, "state")[row]));
  }
  if (what.size() < changed)
    rest = fmt::format("{} more rows changed; --top 0 shows all. ", changed - what.size());
  rest +=
      fmt::format("{} rows differ by no more than noise and change a step by {}{} together.",
                  all.rows() - changed, noise > 0 ? "+" : "", report::format_value(noise, report::Unit::ns));
  return out;
}

/// What fits one screen: the verdict, the parts and the largest changes.
report::Report for_people(const report::Report& all, const report::Params& params) {
  const auto most = params.has("top") ? static_cast<std::size_t>(params.integer("top")) : kRowsOfText;
  report::Report out{all.name, {}, all.notes, all.question};
  for (const report::Table& table : all.tables) {
    std::string rest;
    if (table.title == compare::kChanges)
      out.tables.push_back(largest(table, most, rest));
    else if (table.title == compare::kParts || table.title == report::kComparison)
      out.tables.push_back(table);
    else
      continue;
    if (!rest.empty()) out.notes.insert(out.notes.begin(), rest);
    std::erase_if(out.tables.back().columns,
                  [](const report::Column& column) { return column.role == report::Role::detail; });
  }
  return out;
}

Result<const analyze::Analysis*> named_analysis(std::string_view name) {
  std::vector<std::string> known;
  for (const analyze::Analysis* analysis : compare::comparable_analyses()) {
    if (analysis->name == name) return analysis;
    known.emplace_back(analysis->name);
  }
  return Error{fmt::format("--what {}: no analysis of that name can be compared.{} These can: {}", name,
                           report::did_you_mean(name, known), fmt::join(known, ", ")),
               ""};
}

int print_analysis(const Call& call, std::vector<report::Report> reports) {
  report::Report report{std::string(call.params.text("what")), {}, {}};
  if (!reports.empty()) report = std::move(reports.front());
  if (report.tables.empty())
    report.notes.emplace_back(
        "Nothing of it can be compared: no rows, or rows that only one recording can have (events, times, "
        "steps).");
  report.notes.emplace_back("Numbers are means over single steps, of at most a dozen of each side.");
  for (report::Table& table : report.tables)
    report::cut(table, static_cast<std::size_t>(call.params.integer("top")));
  return print(call, report);
}

}  // namespace

int run_diff(const Call& call) {
  if (call.words.size() != 2)
    return misuse(call, fmt::format("diff needs two recordings, A and B, not {}; a directory is one",
                                    call.words.size()));
  std::vector<const analyze::Analysis*> asked;
  if (call.params.has("what")) {
    auto found = named_analysis(call.params.text("what"));
    if (!found) return misuse(call, found.error().message);
    asked.push_back(*found);
  }
  auto sides = open_sides(call, {call.words[0]}, {call.words[1]});
  if (!sides) return fail(sides.error());
  const trace::Trace &a = sides->a.front(), &b = sides->b.front();
  const auto threads = static_cast<unsigned>(call.params.integer("threads"));
  compare::Pair pair = compare::recordings_of(a, b, call.params);
  const bool no_step = pair.a.step.empty() || pair.b.step.empty();
  const auto ended = [&](int printed) { return printed == kDone && no_step ? kFailed : printed; };
  if (!asked.empty())
    return ended(print_analysis(call, compare::analysis_differences(a, b, pair, asked, threads)));
  const report::Report report = compare::diff(a, b, pair);
  if (format_of(call) == "text") return ended(print(call, for_people(report, call.params)));
  if (format_of(call) == "csv") return ended(print(call, report));
  report::Page page{fmt::format("A {} · B {}", call.words[0], call.words[1]), {report}, {}};
  for (report::Report& of_analysis :
       compare::analysis_differences(a, b, pair, compare::comparable_analyses(), threads))
    page.reports.push_back(std::move(of_analysis));
  return ended(print(call, page));
}

}  // namespace stepscope::cli
