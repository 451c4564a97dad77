#include "analyze/replay/whatif_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::analyze {

using report::Role;
using report::Shape;
using report::Unit;

namespace {

report::Table job_table(const Derived& derived, const std::vector<Asked>& asked,
                        const std::vector<Answered>& answers) {
  report::Table table{"What would change the job", Shape::bars, {}};
  auto& change = table.texts("change");
  auto& step = table.ints("step", Unit::ns);
  auto& low = table.ints("low", Unit::ns);
  auto& high = table.ints("high", Unit::ns);
  auto& saving = table.ints("saving", Unit::ns);
  auto& share = table.reals("share", Unit::share, Role::share);
  auto& limit = table.texts("limit", Role::detail);
  auto& limit_share = table.reals("limit_share", Unit::share);
  const ReplayedJob& job = derived.job();
  const std::int64_t same = job.step(job.identity());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const bool moved = std::any_of(asked[i].scales.begin(), asked[i].scales.end(),
                                   [](const Scale& s) { return s.what == Scale::What::data_loading; });
    const auto at = job.predicted(answers[i].lengths, answers[i].changes, moved);
    change.push_back(asked[i].name);
    step.push_back(at.step);
    low.push_back(at.low);
    high.push_back(at.high);
    saving.push_back(same - at.step);
    share.push_back(report::ratio(same - at.step, same));
    limit.push_back(fmt::format("rank {}, {}", derived.trace().ranks[at.rank].rank, at.resource));
    limit_share.push_back(report::ratio(at.low, at.step));
  }
  return table;
}

report::Table job_check(const Derived& derived) {
  const ReplayedJob& job = derived.job();
  std::vector<std::int64_t> recorded;
  for (std::size_t r = 0; r < derived.trace().ranks.size(); ++r) recorded.push_back(job.rank(r).recorded());
  report::Table table{"The job replayed without changes", Shape::table, {}};
  table.ints("recorded", Unit::ns).push_back(job.step(recorded));
  table.ints("identity", Unit::ns).push_back(job.step(job.identity()));
  table.reals("error", Unit::share).push_back(job.error());
  table.ints("alone", Unit::count).push_back(job.alone());
  return table;
}

}  // namespace

void add_job(const Derived& derived, const std::vector<Asked>& asked, const std::vector<Answered>& answers,
             report::Report& report) {
  report.tables.push_back(job_check(derived));
  report.tables.push_back(job_table(derived, asked, answers));
}

void note_ranks(const trace::Trace& trace, const ReplayedJob& job, bool together, report::Report& report) {
  if (!together) {
    report.notes.push_back(fmt::format(
        "Ranks are replayed alone, so the time in which they wait for each other stays inside their "
        "collectives: {}.",
        job.untied() >= 0 ? fmt::format("none of rank {}'s could be matched",
                                        trace.ranks[static_cast<std::size_t>(job.untied())].rank)
        : job.joined()
            ? fmt::format("replayed together, a rank is {} off what was recorded (at most 5 % is accepted)",
                          report::format_value(job.error(), report::Unit::share))
            : "none of their collectives could be matched"));
    return;
  }
  if (job.alone() > 0)
    report.notes.push_back(
        fmt::format("{} communication kernels are no collectives that could be matched across ranks: waits "
                    "for other ranks stay "
                    "inside them.",
                    report::format_value(job.alone(), report::Unit::count)));
  if (job.given_up() > 0)
    report.notes.push_back(fmt::format(
        "{} collectives keep their recorded length, as ranks would wait for each other in a circle.",
        report::format_value(job.given_up(), report::Unit::count)));
}

}  // namespace stepscope::analyze
