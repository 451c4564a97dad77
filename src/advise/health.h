// Capture health: what the recording cannot prove, checked before the rules run. One function per HealthId;
// one array lists them all.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "advise/evidence.h"
#include "report/verdict.h"

namespace stepscope::advise {

using report::Health;
using report::HealthClass;
using report::HealthId;

struct HealthRule {
  HealthId id;
  std::string_view one_line;
  std::optional<Health> (*check)(const Evidence&);
};

std::span<const HealthRule> health_rules();

/// Kernels, copies and fills of the rank.
std::int64_t device_rows(const Evidence& evidence);

/// Share of the host's time that recording cost; 0 if it is too small to show (Q05).
double recording_share(const Evidence& evidence);

/// Rows that apply to the rank, gravest first, then by id.
std::vector<Health> check_health(const Evidence& evidence);

/// What may be concluded despite a list of health rows.
struct Permission {
  bool device = true;  ///< conclusions about device idle time, waits, launches and utilization
  bool host = true;    ///< causes on the host
  bool rules = true;   ///< any finding at all
  int doubt = 0;       ///< levels by which every confidence falls
};
Permission permission_of(const std::vector<Health>& health);

}  // namespace stepscope::advise
