// Helpers with which rules make claims.
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

/// A time in the window: "1.36 ms per step"; "8.2 ms in the recording" if no step is marked.
std::string per_step(const Evidence& e, std::int64_t time);
/// "6.77 ms of 24.6 ms per step", of a time in the window; without steps "4.63 s of 4.76 s".
std::string of_step(const Evidence& e, std::int64_t time);

/// A claim about the evidence's rank, without a saving.
Claim claim(const Evidence& e, RuleId id, std::string title);

/// Sets the rule's own estimate, for recordings that cannot be replayed.
void save(Claim& f, std::int64_t time_per_step, double low, double high);

using analyze::Scale;
using analyze::scale_kinds;
using derive::KernelKind;

/// Sets the change to replay. The low end of the saving is `pessimism` × that of `ideal`, or that of `mild`.
void change(Claim& f, std::vector<Scale> ideal, double pessimism);
void change(Claim& f, std::vector<Scale> ideal, std::vector<Scale> mild);

/// Declares the rule's own estimate a part of all communication, which caps it.
void part_of_communication(Claim& f);

/// One part of a change: everything of a kind.
Scale scale_of(Scale::What what, double factor);
/// The same, only for what has exactly this name, which may be any text.
Scale scale_of(Scale::What what, std::string_view name, double factor);
/// The same, only for names that contain one of `parts`.
Scale scale_any(Scale::What what, std::initializer_list<std::string_view> parts, double factor);

/// `factor` to three decimals: an estimate has no more.
double rounded(double factor);

}  // namespace stepscope::advise
