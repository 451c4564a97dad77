// What the rules claim of a rank, before anything has a price.
#pragma once

#include <vector>

#include "advise/bound.h"
#include "advise/claim.h"
#include "advise/evidence.h"
#include "advise/health.h"

namespace stepscope::advise {

/// One per rule at most, as sure as the recording's health permits.
std::vector<Claim> claims_of(const Evidence& evidence, Bound bound, const std::vector<Health>& health);

/// Symptoms become evidence of their causes.
std::vector<Claim> with_symptoms_attached(std::vector<Claim> claims);

/// Claims with one remedy become one, with the evidence and the changes of all.
std::vector<Claim> with_remedies_merged(std::vector<Claim> claims);

}  // namespace stepscope::advise
