#include "report/verdict.h"

#include "report/sheet.h"

namespace stepscope::report {
namespace {

/// A finding and its context in the verdict.
struct FindingRow {
  const Finding* finding;
  std::int64_t place;
  bool several;
};
struct HealthRow {
  const Health* health;
  bool several;
};

template <auto member>
constexpr auto of_finding = [](const FindingRow& row) { return (row.finding->*member); };
template <auto member>
constexpr auto named_of_finding =
    [](const FindingRow& row) { return std::string(name_of(row.finding->*member)); };
template <auto member>
constexpr auto of_health = [](const HealthRow& row) { return row.health->*member; };

std::string rank_text(bool several, std::int64_t rank) { return several ? std::to_string(rank) : ""; }

const Sheet<RankVerdict> kVerdict{
    "Verdict",
    Shape::table,
    {{"rank", [](const RankVerdict& r) { return r.rank < 0 ? kNoInt : r.rank; }, Unit::none, Role::key},
     {"bound", named<&RankVerdict::bound>, Role::value},
     {"outcome", named<&RankVerdict::outcome>, Role::detail},
     {"headline", &RankVerdict::headline, Role::value},
     {"step", &RankVerdict::step, Unit::ns},
     {"saved_from", &RankVerdict::saved_from, Unit::ns, Role::detail},
     {"steps", &RankVerdict::steps, Unit::count},
     {"together_low", [](const RankVerdict& r) { return r.together.low; }, Unit::ns, Role::detail},
     {"together_high", [](const RankVerdict& r) { return r.together.high; }, Unit::ns, Role::detail},
     {"evidence", [](const RankVerdict& r) { return text_of(r.evidence); }, Role::detail}}};

const Sheet<FindingRow> kFindings{
    "Findings",
    Shape::table,
    {{"rank", &FindingRow::place, Unit::none, Role::key},
     {"of_rank", [](const FindingRow& r) { return rank_text(r.several, r.finding->rank); }, Role::detail},
     {"id", named_of_finding<&Finding::id>},
     {"title", of_finding<&Finding::title>, Role::value},
     {"category", [](const FindingRow& r) { return std::string(name_of(category_of(r.finding->id))); },
      Role::detail},
     {"per", [](const FindingRow& r) { return std::string(r.finding->per_step ? "step" : "recording"); },
      Role::detail},
     {"saving_low", [](const FindingRow& r) { return r.finding->saving.low; }, Unit::ns},
     {"saving_high", [](const FindingRow& r) { return r.finding->saving.high; }, Unit::ns},
     {"after_low", [](const FindingRow& r) { return r.finding->after.low; }, Unit::ns, Role::detail},
     {"after_high", [](const FindingRow& r) { return r.finding->after.high; }, Unit::ns, Role::detail},
     {"when", named_of_finding<&Finding::when>, Role::detail},
     {"aside", of_finding<&Finding::aside>, Role::detail},
     {"confidence", named_of_finding<&Finding::confidence>, Role::value},
     {"because", of_finding<&Finding::because>, Role::detail},
     {"evidence", [](const FindingRow& r) { return text_of(r.finding->evidence); }, Role::detail},
     {"at_start", [](const FindingRow& r) { return r.finding->at.start; }, Unit::ns, Role::detail},
     {"at_length", [](const FindingRow& r) { return r.finding->at.known() ? r.finding->at.length : kNoInt; },
      Unit::ns, Role::detail},
     {"remedy", of_finding<&Finding::remedy>, Role::value},
     {"verify", of_finding<&Finding::verify>, Role::detail}}};

const Sheet<HealthRow> kHealth{
    "Health",
    Shape::table,
    {{"of_rank", [](const HealthRow& r) { return rank_text(r.several, r.health->rank); }, Role::detail},
     {"id", [](const HealthRow& r) { return std::string(name_of(r.health->id)); }},
     {"class", [](const HealthRow& r) { return std::string(name_of(r.health->grade)); }, Role::value},
     {"what", of_health<&Health::what>, Role::value},
     {"suffers", of_health<&Health::suffers>, Role::detail},
     {"remedy", of_health<&Health::remedy>, Role::value}}};

}  // namespace

std::string_view name_of(Bound bound) {
  constexpr std::string_view kNames[] = {"unknown",
                                         "too little to judge",
                                         "host times only",
                                         "host-bound",
                                         "communication-bound",
                                         "device-bound",
                                         "mixed",
                                         "memory",
                                         "file I/O"};
  return kNames[static_cast<std::size_t>(bound)];
}

std::string_view name_of(Outcome outcome) {
  constexpr std::string_view kNames[] = {"findings", "nothing is wrong", "no known fix", "cannot tell",
                                         "not a step"};
  return kNames[static_cast<std::size_t>(outcome)];
}

std::string_view name_of(When when) {
  constexpr std::string_view kNames[] = {"now", "next", "covered", "fact", "hidden", "small"};
  return kNames[static_cast<std::size_t>(when)];
}

std::string_view name_of(Confidence confidence) {
  constexpr std::string_view kNames[] = {"low", "medium", "high"};
  return kNames[static_cast<std::size_t>(confidence)];
}

std::string_view name_of(HealthClass grade) {
  return grade == HealthClass::A ? "A" : grade == HealthClass::B ? "B" : "C";
}

std::string text_of(const Proof& proof) {
  return proof.analysis.empty() ? proof.what : std::string(proof.analysis) + ": " + proof.what;
}

std::string text_of(const std::vector<Proof>& proofs) {
  std::string text;
  for (const Proof& proof : proofs) text += (text.empty() ? "" : "; ") + text_of(proof);
  return text;
}

Table findings_table(const Verdict& verdict) {
  std::vector<FindingRow> rows;
  for (const Finding& finding : verdict.findings)
    rows.push_back({&finding, static_cast<std::int64_t>(rows.size()) + 1, verdict.several});
  return tabulate(kFindings, rows, true);
}

Report as_report(const Verdict& verdict) {
  std::vector<HealthRow> health;
  for (const Health& row : verdict.health) health.push_back({&row, verdict.several});
  return {"verdict",
          {tabulate(kVerdict, verdict.ranks, true), findings_table(verdict), tabulate(kHealth, health, true)},
          verdict.notes};
}

}  // namespace stepscope::report
