// How rules put a finding together.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

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

using analyze::Scale;
using analyze::scale_kinds;
using derive::KernelKind;

/// The change that replay makes for the saving; its least form is `pessimism` times that, or `mild`.
void change(Claim& f, std::vector<Scale> ideal, double pessimism);
void change(Claim& f, std::vector<Scale> ideal, std::vector<Scale> mild);

/// What the rule's own estimate is a part of: all communication.
void part_of_communication(Claim& f);

/// One part of a change: all of a kind, …
Scale scale_of(Scale::What what, double factor);
/// … what has exactly this name, which may hold any text, …
Scale scale_of(Scale::What what, std::string_view name, double factor);
/// … or what has a name that holds one of these.
Scale scale_any(Scale::What what, std::initializer_list<std::string_view> parts, double factor);

/// A factor with three digits: an estimate has no more.
double rounded(double factor);

}  // namespace stepscope::advise
