// `stepscope whatif TRACE --scale ...`: the analysis of that name, as sentences for people.
#include "analyze/replay/whatif.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/caveats.h"
#include "analyze/list.h"
#include "analyze/replay/scale.h"
#include "cli/exit.h"
#include "cli/present.h"
#include "cli/terminal.h"
#include "report/text/layout.h"
#include "report/units.h"
#include "report/utf8.h"

namespace stepscope::cli {
namespace {

using analyze::JobChange;
using analyze::JobCheck;
using analyze::RankChange;
using analyze::RankCheck;
using analyze::WhatIf;
using report::format_value;
using report::Unit;

constexpr std::string_view kNotFound = "nothing of that kind in the recording";

/// "saves 3 ms (2 %)", or what the change costs.
std::string saves(std::int64_t time, double share) {
  const bool costs = time < 0;
  std::string saving = format_value(time, Unit::ns), part = format_value(share, Unit::share);
  if (costs) saving.erase(0, 1);
  if (costs && part.starts_with('-')) part.erase(0, 1);
  return fmt::format("{} {} ({})", costs ? "costs" : "saves", saving, part);
}

/// The effect of the change on a step; "" if its replay was refused.
std::string effect(const RankChange& change, const RankCheck& check) {
  if (!change.found) return std::string(kNotFound);
  if (change.step == report::kNoInt) return "";
  return fmt::format("{} → {}, {}", format_value(check.identity, Unit::ns),
                     format_value(change.step, Unit::ns), saves(change.saving, change.share));
}

/// Whether any rank has what `change` names; if `change` is empty, what any change names.
bool finds(const WhatIf& answer, std::string_view change = "") {
  return std::any_of(answer.changes.begin(), answer.changes.end(), [&](const RankChange& of) {
    return of.found && (change.empty() || of.change == change);
  });
}

/// The names of changes, padded to one width.
class Names {
 public:
  explicit Names(const std::vector<RankChange>& changes) {
    for (const RankChange& of : changes)
      widest_ = std::max(widest_, report::cells_of(report::one_line(of.change)));
  }
  std::string of(const std::string& change) const {
    const std::string name = report::one_line(change);
    return name + std::string(static_cast<std::size_t>(widest_ - report::cells_of(name)), ' ');
  }

 private:
  int widest_ = 0;
};

constexpr std::string_view kBrackets =
    "After a step, in brackets: its range, from the time of the busiest stream or the host alone to the "
    "replayed time plus its error and a part of the host's time. After \"then\": what limits next, and its "
    "share of the step.";

/// "18.3 to 19.3 ms", how far the step could be from what was replayed.
std::string between(const JobChange& change) {
  std::string low = format_value(change.low, Unit::ns);
  const std::string high = format_value(change.high, Unit::ns);
  const std::size_t unit = low.rfind(' ');
  if (unit != std::string::npos && high.ends_with(low.substr(unit))) low.resize(unit);
  return low + " to " + high;
}

std::string job_text(const WhatIf& answer, const Names& names, bool asked, int columns) {
  const JobCheck& check = answer.job->check;
  std::string out =
      fmt::format("job, step {}; replay without changes: {}, max error of a rank {}.\n",
                  format_value(check.recorded, Unit::ns), format_value(check.identity, Unit::ns),
                  format_value(check.error, Unit::share));
  for (const JobChange& of : answer.job->changes) {
    if (!finds(answer, of.change)) {
      if (asked) out += fmt::format("  {}  {}\n", names.of(of.change), kNotFound);
      continue;
    }
    out += report::hung(
        fmt::format("  {}  ", names.of(of.change)),
        fmt::format("→ {} ({}), {}; then {} ({})", format_value(of.step, Unit::ns), between(of),
                    saves(of.saving, of.share), of.limit, format_value(of.limit_share, Unit::share)),
        columns);
  }
  return out + report::hung("", kBrackets, columns);
}

std::string check_line(const RankCheck& check, bool several) {
  const std::string error = format_value(check.error, Unit::share);
  if (error.empty()) return "";
  return fmt::format("{}step {}; replay without changes: {}, error {}.\n",
                     several ? fmt::format("rank {}, ", check.rank) : "",
                     format_value(check.recorded, Unit::ns), format_value(check.identity, Unit::ns), error);
}

std::string ranks_text(const WhatIf& answer, const Names& names, bool asked, bool several) {
  std::string out;
  for (const RankCheck& check : answer.checks) {
    out += (&check == &answer.checks.front() ? "" : "\n") + check_line(check, several);
    for (const RankChange& of : answer.changes) {
      if (of.rank != check.rank) continue;
      const std::string said = effect(of, check);
      if (said.empty() || (!asked && !of.found)) continue;
      out += fmt::format("  {}  {}\n", names.of(of.change), said);
    }
  }
  return out;
}

/// `asked`: the user named the changes, so each is reported. Ranks that were replayed together end their
/// steps together: the job's line covers them all.
std::string as_text(const WhatIf& answer, bool several, bool asked, int columns) {
  const Names names(answer.changes);
  return answer.job ? job_text(answer, names, asked, columns) : ranks_text(answer, names, asked, several);
}

}  // namespace

int run_whatif(const Call& call) {
  if (call.words.empty()) return no_trace(call);
  if (call.params.has("scale") && call.params.text("scale").empty())
    return misuse(call, "--scale needs WHAT=FACTOR, e.g. --scale comm=0.5");
  if (const auto scales = analyze::parse_scales(call.params.text("scale")); !scales)
    return misuse(call, "--scale: " + scales.error().message);
  auto trace = open_trace(call, call.words);
  if (!trace) return fail(trace.error());
  say_unread(*trace);
  const analyze::Derived derived(*trace, call.params);
  const WhatIf answer = analyze::whatif_of(derived, call.params);
  report::Report report = analyze::printed(answer, trace->several());
  for (std::string& said : advise::caveats(derived)) report.notes.push_back(std::move(said));
  analyze::finish(analyze::analysis_of(analyze::whatif_about), *trace, call.params, report);
  const bool asked = call.params.has("scale");
  const int answered = asked && !finds(answer) ? kFailed : kDone;
  if (format_of(call) != "text") {
    const int printed = print(call, report);
    return printed == kDone ? answered : printed;
  }
  std::string out;
  for (const std::string& note : report.notes) out += note + '\n';
  out += as_text(answer, trace->several(), asked, width(call.environment));
  if (!asked)
    out += "Try changes of your own: --scale 'kernel:/gemm/=0.5'; `stepscope whatif --help` has more.\n";
  const int printed = put(call, out);
  return printed == kDone ? answered : printed;
}

}  // namespace stepscope::cli
