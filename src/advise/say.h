// How rules put a finding together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "advise/claim.h"
#include "advise/evidence.h"
#include "report/units.h"

namespace stepscope::advise {

/// "1.36 ms".
std::string ns(std::int64_t time);
/// "12.5 %" of a share of 1.
std::string percent(double share);

/// "1.36 ms per step" of a time in the window; "8.2 ms in the recording" where no step is marked.
std::string per_step(const Evidence& e, std::int64_t time);

/// A claim about the evidence's rank, without a saving.
Claim claim(const Evidence& e, RuleId id, std::string title);

/// The rule's own estimate, for where the recording cannot be replayed.
void save(Claim& f, std::int64_t time_per_step, double low, double high);

/// The change that replay makes for the saving; its least form is `pessimism` times that, or `mild`.
void change(Claim& f, std::string_view ideal, double pessimism);
void change(Claim& f, std::string_view ideal, std::string_view mild);

/// What the rule's own estimate is a part of.
void part_of(Claim& f, std::string_view removed);

/// One part of a change: what has exactly this name, which may hold any text.
analyze::Scale scale_of(analyze::Scale::What what, std::string_view name, double factor);

}  // namespace stepscope::advise
