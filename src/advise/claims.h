// The claims of all rules about a rank, before pricing.
#pragma once

#include <vector>

#include "advise/bound.h"
#include "advise/claim.h"
#include "advise/evidence.h"
#include "advise/health.h"

namespace stepscope::advise {

/// At most one per rule; the recording's health lowers their confidence.
std::vector<Claim> claims_of(const Evidence& evidence, Bound bound, const std::vector<Health>& health);

/// Attaches symptoms to their causes, as evidence.
std::vector<Claim> with_symptoms_attached(std::vector<Claim> claims);

/// Merges claims with the same remedy, with the evidence and changes of all.
std::vector<Claim> with_remedies_merged(std::vector<Claim> claims);

}  // namespace stepscope::advise
