#include "analyze/replay/whatif_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/sheet.h"
#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::analyze {

using report::Role;
using report::Shape;
using report::Unit;

namespace {

JobCheck job_check(const ReplayedJob& job, std::size_t ranks) {
  std::vector<std::int64_t> recorded;
  for (std::size_t r = 0; r < ranks; ++r) recorded.push_back(job.rank(r).recorded());
  return {job.step(recorded), job.step(job.identity()), job.error(), job.alone()};
}

JobChange job_change(const Derived& derived, const Asked& asked, const Answered& answered) {
  const ReplayedJob& job = derived.job();
  const std::int64_t same = job.step(job.identity());
  const bool moved = std::any_of(asked.scales.begin(), asked.scales.end(),
                                 [](const Scale& s) { return s.what == Scale::What::data_loading; });
  const auto at = job.predicted(answered.lengths, answered.changes, moved);
  return {asked.name,
          at.step,
          at.low,
          at.high,
          same - at.step,
          report::ratio(same - at.step, same),
          fmt::format("rank {}, {}", derived.trace().ranks[at.rank].rank, at.resource),
          report::ratio(at.low, at.step)};
}

const report::Sheet<JobCheck> kJobCheckSheet{"The job replayed without changes",
                                             Shape::table,
                                             {{"recorded", &JobCheck::recorded, Unit::ns},
                                              {"identity", &JobCheck::identity, Unit::ns},
                                              {"error", &JobCheck::error, Unit::share},
                                              {"alone", &JobCheck::alone, Unit::count}}};

const report::Sheet<JobChange> kJobChangeSheet{"What would change the job",
                                               Shape::bars,
                                               {{"change", &JobChange::change},
                                                {"step", &JobChange::step, Unit::ns},
                                                {"low", &JobChange::low, Unit::ns},
                                                {"high", &JobChange::high, Unit::ns},
                                                {"saving", &JobChange::saving, Unit::ns},
                                                {"share", &JobChange::share, Unit::share, Role::share},
                                                {"limit", &JobChange::limit, Role::detail},
                                                {"limit_share", &JobChange::limit_share, Unit::share}}};

}  // namespace

WhatIfJob whatif_job(const Derived& derived, const std::vector<Asked>& asked,
                     const std::vector<Answered>& answers) {
  WhatIfJob out{job_check(derived.job(), derived.trace().ranks.size()), {}};
  for (std::size_t i = 0; i < asked.size(); ++i)
    out.changes.push_back(job_change(derived, asked[i], answers[i]));
  return out;
}

void add_tables(std::vector<report::Table>& tables, const WhatIfJob& job) {
  tables.push_back(tabulate(kJobCheckSheet, std::vector{job.check}, true));
  tables.push_back(tabulate(kJobChangeSheet, job.changes, true));
}

void note_ranks(const trace::Trace& trace, const ReplayedJob& job, bool together,
                std::vector<std::string>& notes) {
  if (!together) {
    notes.push_back(fmt::format(
        "Ranks are replayed separately: {}. So waits for other ranks stay inside the collectives.",
        job.untied() >= 0 ? fmt::format("no collective of rank {} could be matched",
                                        trace.ranks[static_cast<std::size_t>(job.untied())].rank)
        : job.joined()
            ? fmt::format("replayed together, a rank is {} off the recorded time (at most 5 % is accepted)",
                          report::format_value(job.error(), report::Unit::share))
            : "no collectives could be matched"));
    return;
  }
  if (job.alone() > 0)
    notes.push_back(
        fmt::format("{} communication kernels could not be matched across ranks: waits for other ranks stay "
                    "inside them.",
                    report::format_value(job.alone(), report::Unit::count)));
  if (job.given_up() > 0)
    notes.push_back(fmt::format(
        "{} collectives keep their recorded length: else ranks would wait for each other in a circle.",
        report::format_value(job.given_up(), report::Unit::count)));
}

}  // namespace stepscope::analyze
