// `stepscope whatif TRACE --scale ...`: the analysis of that name, as sentences for people.
#include <fmt/format.h>

#include <algorithm>

#include "advise/analyses.h"
#include "analyze/replay/scale.h"
#include "cli/exit.h"
#include "cli/present.h"
#include "cli/terminal.h"
#include "report/page.h"
#include "report/text/layout.h"
#include "report/utf8.h"

namespace stepscope::cli {
namespace {

using report::field;
using report::Table;

std::string owner(const Table& table, std::size_t row) {
  const std::string rank = field(table, "rank", row);
  return rank.empty() ? "" : fmt::format("rank {}, ", rank);
}

std::string check_line(const Table& checks, std::size_t row) {
  const std::string error = field(checks, "error", row);
  if (error.empty()) return "";
  return fmt::format("{}step {}; replayed without changes {}, {} off.\n", owner(checks, row),
                     field(checks, "recorded", row), field(checks, "identity", row), error);
}

constexpr std::string_view kNotFound = "nothing of that kind in the recording";

/// "saves 3 ms (2 %)", or what the change costs.
std::string saves(const Table& changes, std::size_t row) {
  std::string saving = field(changes, "saving", row), share = field(changes, "share", row);
  const bool costs = saving.starts_with('-');
  if (costs) saving.erase(0, 1);
  if (costs && share.starts_with('-')) share.erase(0, 1);
  return fmt::format("{} {} ({})", costs ? "costs" : "saves", saving, share);
}

/// What the change makes of a step, "" when its replay was refused.
std::string effect(const Table& changes, std::size_t row, const std::string& now) {
  if (field(changes, "found", row) != "yes") return std::string(kNotFound);
  if (field(changes, "step", row).empty()) return "";
  return fmt::format("{} → {}, {}", now, field(changes, "step", row), saves(changes, row));
}

/// Whether any rank has what the change speaks of; of any change when it is empty.
bool finds(const Table& changes, const std::string& change = "") {
  for (std::size_t row = 0; row < changes.rows(); ++row)
    if (field(changes, "found", row) == "yes" && (change.empty() || field(changes, "change", row) == change))
      return true;
  return false;
}

/// The names of changes, equally wide.
class Names {
 public:
  explicit Names(const Table& changes) {
    for (std::size_t row = 0; row < changes.rows(); ++row)
      widest_ = std::max(widest_, report::cells_of(report::one_line(field(changes, "change", row))));
  }
  std::string of(const std::string& change) const {
    const std::string name = report::one_line(change);
    return name + std::string(static_cast<std::size_t>(widest_ - report::cells_of(name)), ' ');
  }

 private:
  int widest_ = 0;
};

constexpr std::string_view kBrackets =
    "Behind a step, in brackets: at least what the busiest stream or the host alone needs, at most the "
    "replay's error and a "
    "part of the host's time more. Behind \"then\": what limits next, and its share of the step.";

/// "18.3 to 19.3 ms", how far the step could be from what was replayed.
std::string between(const Table& changes, std::size_t row) {
  std::string low = field(changes, "low", row);
  const std::string high = field(changes, "high", row);
  const std::size_t unit = low.rfind(' ');
  if (unit != std::string::npos && high.ends_with(low.substr(unit))) low.resize(unit);
  return low + " to " + high;
}

/// Of several ranks that were replayed together.
std::string job_text(const report::Report& report, const Names& names, bool asked, int columns) {
  const Table &check = report.tables[2], &changes = report.tables[3];
  std::string out =
      fmt::format("job, step {}; replayed without changes {}, its ranks at most {} off.\n",
                  field(check, "recorded", 0), field(check, "identity", 0), field(check, "error", 0));
  for (std::size_t row = 0; row < changes.rows(); ++row) {
    const std::string change = field(changes, "change", row);
    if (!finds(report.tables[1], change)) {
      if (asked) out += fmt::format("  {}  {}\n", names.of(change), kNotFound);
      continue;
    }
    out += report::hung(
        fmt::format("  {}  ", names.of(change)),
        fmt::format("→ {} ({}), {}; then {} ({})", field(changes, "step", row), between(changes, row),
                    saves(changes, row), field(changes, "limit", row), field(changes, "limit_share", row)),
        columns);
  }
  return out + report::hung("", kBrackets, columns);
}

std::string ranks_text(const Table& checks, const Table& changes, const Names& names, bool asked) {
  std::string out;
  for (std::size_t rank = 0; rank < checks.rows(); ++rank) {
    out += (rank == 0 ? "" : "\n") + check_line(checks, rank);
    for (std::size_t row = 0; row < changes.rows(); ++row) {
      if (field(changes, "rank", row) != field(checks, "rank", rank)) continue;
      const std::string said = effect(changes, row, field(checks, "identity", rank));
      if (said.empty() || (!asked && field(changes, "found", row) != "yes")) continue;
      out += fmt::format("  {}  {}\n", names.of(field(changes, "change", row)), said);
    }
  }
  return out;
}

/// `asked`: by the user, who wants to know of each change. Ranks that were replayed together end their steps
/// together: the job's line says it all.
std::string as_text(const report::Report& report, bool asked, int columns) {
  const Table& changes = report.tables[1];
  const Names names(changes);
  return report.tables.size() > 2 ? job_text(report, names, asked, columns)
                                  : ranks_text(report.tables[0], changes, names, asked);
}

}  // namespace

int run_whatif(const Call& call) {
  if (call.words.empty()) return no_trace(call);
  if (call.params.has("scale") && call.params.text("scale").empty())
    return misuse(call, "--scale needs what and a factor, e.g. --scale comm=0.5");
  if (const auto scales = analyze::parse_scales(call.params.text("scale")); !scales)
    return misuse(call, "--scale: " + scales.error().message);
  auto trace = open_trace(call, call.words);
  if (!trace) return fail(trace.error());
  say_unread(*trace);
  const report::Report report = analyze::run(*advise::find_analysis("whatif"), *trace, call.params);
  const bool asked = call.params.has("scale");
  const int answered = asked && !finds(report.tables[1]) ? kFailed : kDone;
  if (format_of(call) != "text") {
    const int printed = print(call, report);
    return printed == kDone ? answered : printed;
  }
  std::string out;
  for (const std::string& note : report.notes) out += note + '\n';
  out += as_text(report, asked, width(call.environment));
  if (!asked)
    out += "Ask for changes of your own: --scale 'kernel:/gemm/=0.5'; `stepscope whatif --help` has more.\n";
  const int printed = put(call, out);
  return printed == kDone ? answered : printed;
}

}  // namespace stepscope::cli
