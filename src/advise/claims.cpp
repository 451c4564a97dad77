#include "advise/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "advise/cite.h"
#include "advise/rules/rules.h"

namespace stepscope::advise {
namespace {

std::string_view reason_of(HealthId id) {
  for (const HealthRule& rule : health_rules())
    if (rule.id == id) return rule.one_line;
  return name_of(id);
}

void doubt(Claim& claim, int levels, const std::vector<Health>& health) {
  for (; levels > 0; --levels) claim.confidence = lowered(claim.confidence);
  std::string reasons;
  for (const Health& h : health)
    if (h.grade == HealthClass::B &&
        (h.id == HealthId::Q05 || h.id == HealthId::Q06 || h.id == HealthId::Q02))
      (reasons += reasons.empty() ? "lowered: " : ", ") += reason_of(h.id);
  if (!reasons.empty()) claim.doubts.push_back(std::move(reasons));
}

/// A symptom is explained by the first of its causes that was found.
struct ExplainedSymptom {
  RuleId symptom;
  RuleId causes[2];
  bool only_vague = false;  ///< a symptom that names its line stands for itself
  bool same_line = false;   ///< of a cause that names another line, or saves less than its part, it is none
  bool of_files = false;    ///< only a symptom that lies in calls on files, as in same_line
  std::int64_t part = 2;  ///< half of the symptom's saving; 3: a third, as samples count waits around a call
};
constexpr ExplainedSymptom kExplainedSymptoms[] = {
    {RuleId::K02, {RuleId::H01, RuleId::G03}},
    {RuleId::H09, {RuleId::I06, RuleId::K10}},
    {RuleId::H05, {RuleId::H12, RuleId::H12}},
    {RuleId::H11, {RuleId::N10, RuleId::N10}},
    {RuleId::K01, {RuleId::H13, RuleId::H18}},
    {RuleId::H07, {RuleId::H11, RuleId::H11}, true},
    {RuleId::I05, {RuleId::H11, RuleId::H11}, true},
    {RuleId::H11, {RuleId::H05, RuleId::H05}, false, true},
    {RuleId::H11, {RuleId::I08, RuleId::I09}, false, true, false, 3},
    {RuleId::H11, {RuleId::I11, RuleId::I11}, false, true},
    {RuleId::H07, {RuleId::I08, RuleId::I09}, false, false, true},
    {RuleId::H07, {RuleId::I11, RuleId::I11}, false, false, true},
};

bool is_explained(const ExplainedSymptom& known, const Claim& symptom, const Claim& cause) {
  if (cause.vague) return false;
  if (!known.same_line && !known.of_files) return true;
  const bool is_one = known.of_files ? symptom.of_files : !symptom.line.empty() && symptom.line == cause.line;
  return is_one && cause.saving_high >= symptom.saving_high / known.part;
}

/// A rule for what no other rule explains, and the rules that explain it.
struct Unexplained {
  RuleId id;
  std::initializer_list<RuleId> by;
};
const Unexplained kUnexplained[] = {
    {RuleId::H15,
     {RuleId::G01, RuleId::G02, RuleId::G03, RuleId::G04, RuleId::H01, RuleId::H02, RuleId::H03, RuleId::H04,
      RuleId::H05, RuleId::H06, RuleId::H07, RuleId::H08}},
    {RuleId::H16,
     {RuleId::G01, RuleId::H02, RuleId::H05, RuleId::H07, RuleId::H11, RuleId::H12, RuleId::N02, RuleId::N05,
      RuleId::N06, RuleId::N10, RuleId::I11}},
    {RuleId::H17, {RuleId::H03, RuleId::H04, RuleId::H12, RuleId::H13, RuleId::P03}},
};

void drop_explained(std::vector<Claim>& claims) {
  for (const Unexplained& left : kUnexplained) {
    const bool explained = std::any_of(claims.begin(), claims.end(), [&](const Claim& claim) {
      return std::find(left.by.begin(), left.by.end(), claim.id) != left.by.end();
    });
    if (explained) std::erase_if(claims, [&](const Claim& claim) { return claim.id == left.id; });
  }
}

/// Appends "K02: its title (its evidence)" to the evidence of the cause.
void attach(Claim& cause, const Claim& symptom) {
  std::vector<Proof> proofs = symptom.evidence;
  if (proofs.empty()) proofs.emplace_back();
  proofs.front() = {"",
                    fmt::format("{}: {} ({}", name_of(symptom.id), symptom.title, text_of(proofs.front()))};
  proofs.back().what += ')';
  cause.evidence.insert(cause.evidence.end(), proofs.begin(), proofs.end());
  cause.within.push_back(symptom.id);
  cause.within.insert(cause.within.end(), symptom.within.begin(), symptom.within.end());
}

bool one_change(const Claim& a, const Claim& b) {
  return a.remedy == b.remedy && a.next == b.next && a.ideal.empty() == b.ideal.empty();
}

void merge(Claim& into, const Claim& claim) {
  attach(into, claim);
  into.ideal.insert(into.ideal.end(), claim.ideal.begin(), claim.ideal.end());
  if (into.mild.empty() == claim.mild.empty())
    into.mild.insert(into.mild.end(), claim.mild.begin(), claim.mild.end());
  into.saving_low = std::max(into.saving_low, claim.saving_low);
  into.saving_high = std::max(into.saving_high, claim.saving_high);
  into.shortens_kernels |= claim.shortens_kernels;
}

/// H10 says where the work is. A rule that knows what to change about it makes the promise.
void promise_once(std::vector<Claim>& claims) {
  constexpr RuleId kOfTheWork[] = {RuleId::K01, RuleId::K09, RuleId::P03, RuleId::G05, RuleId::G06,
                                   RuleId::H05, RuleId::H12, RuleId::H14, RuleId::H18, RuleId::H20,
                                   RuleId::H21, RuleId::H22, RuleId::H23, RuleId::I07};
  const bool known = std::any_of(claims.begin(), claims.end(), [&](const Claim& claim) {
    return std::find(std::begin(kOfTheWork), std::end(kOfTheWork), claim.id) != std::end(kOfTheWork);
  });
  for (Claim& claim : claims)
    if (known && claim.id == RuleId::H10) claim.saving_low = claim.saving_high = report::kNoInt;
}

}  // namespace

std::vector<Claim> claims_of(const Evidence& evidence, Bound bound, const std::vector<Health>& health) {
  const Permission permission = permission_of(health);
  std::vector<Claim> claims;
  if (bound == Bound::too_little || !permission.rules) return claims;
  for (const Rule& rule : rules()) {
    if (rule.needs_device && bound == Bound::unknown) continue;
    if (bound == Bound::memory && category_of(rule.id) != report::Category::memory) continue;
    if (bound == Bound::files && rule.id != RuleId::I10) continue;
    auto claim = rule.find(evidence, bound);
    if (!claim) continue;
    claim->remedy = worded(evidence, claim->remedy);
    if (!claim->at.known()) claim->at = typical_step_moment(evidence);
    doubt(*claim, permission.doubt, health);
    claims.push_back(std::move(*claim));
  }
  drop_explained(claims);
  promise_once(claims);
  return claims;
}

std::vector<Claim> with_symptoms_attached(std::vector<Claim> claims) {
  const auto find = [&](RuleId id) {
    return std::find_if(claims.begin(), claims.end(), [&](const Claim& claim) { return claim.id == id; });
  };
  for (const ExplainedSymptom& known : kExplainedSymptoms) {
    const auto symptom = find(known.symptom);
    if (symptom == claims.end() || (known.only_vague && !symptom->vague)) continue;
    auto cause = claims.end();
    for (const RuleId id : known.causes)
      if (cause == claims.end()) cause = find(id);
    if (cause == claims.end() || !is_explained(known, *symptom, *cause)) continue;
    attach(*cause, *symptom);
    claims.erase(symptom);
  }
  return claims;
}

std::vector<Claim> with_remedies_merged(std::vector<Claim> claims) {
  std::vector<Claim> merged;
  for (Claim& claim : claims) {
    const auto same = std::find_if(merged.begin(), merged.end(),
                                   [&](const Claim& earlier) { return one_change(earlier, claim); });
    if (same == merged.end())
      merged.push_back(std::move(claim));
    else
      merge(*same, claim);
  }
  return merged;
}

}  // namespace stepscope::advise
