// The advice for a trace file, and what tests expect of it.
#pragma once

#include "advise/verdict.h"
#include "make_rank.h"
#include "support/traces.h"

namespace stepscope::test {

/// Tables Verdict, Findings and Health.
inline report::Report advice_on(const trace::Trace& trace, unsigned threads = 0) {
  const analyze::Derived derived(trace, {});
  return as_report(advise::verdict(derived, advise::gather(derived, threads), threads));
}

/// The same of a file or folder.
inline report::Report advice(const std::string& path, unsigned threads = 0) {
  const std::string one[] = {path};
  const Result<trace::Trace> trace = read::open(one);
  if (!trace.ok()) {
    ADD_FAILURE() << path;
    return {};
  }
  return advice_on(*trace, threads);
}

/// The expected bound, first finding, other listed findings, and rules that stay silent.
struct KnownAdvice {
  const char *part, *word, *first;
  Cells listed, quiet;
};

inline void expect_advice(const std::string& path, const KnownAdvice& k) {
  const report::Report report = advice(path);
  ASSERT_EQ(report.tables.size(), 3u) << k.part;
  EXPECT_EQ(cells(report.tables[0], "bound")[0], k.word) << k.part;
  const Cells ids = cells(report.tables[1], "id");
  EXPECT_EQ(ids.empty() ? "" : ids[0], k.first) << k.part;
  for (const std::string& id : k.listed)
    EXPECT_EQ(std::count(ids.begin(), ids.end(), id), 1) << k.part << " " << id;
  for (const std::string& id : k.quiet)
    EXPECT_EQ(std::count(ids.begin(), ids.end(), id), 0) << k.part << " " << id;
}

/// A column in ms; -1 for empty cells.
inline std::vector<double> ms(const report::Table& table, std::string_view column) {
  std::vector<double> out;
  for (const std::string& cell : cells(table, column))
    out.push_back(cell == "-" ? -1 : std::stod(cell) / 1e6);
  return out;
}

/// What a finding saves alone, ms per step; {-1, -1} without the finding.
inline std::pair<double, double> saving(const report::Report& report, const std::string& id) {
  const Cells ids = cells(report.tables[1], "id");
  const auto at = static_cast<std::size_t>(std::find(ids.begin(), ids.end(), id) - ids.begin());
  if (at == ids.size()) return {-1, -1};
  return {ms(report.tables[1], "saving_low")[at], ms(report.tables[1], "saving_high")[at]};
}

/// The sorted ids of the findings whose family letter is in `families`.
inline Cells ids_of(const report::Report& report, std::string_view families) {
  Cells ids = cells(report.tables[1], "id");
  std::erase_if(ids, [&](const std::string& id) { return families.find(id[0]) == std::string_view::npos; });
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace stepscope::test
