#include "advise/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::advise {

Evidence::Evidence(const Reports& reports, std::int64_t rank, std::span<const analyze::Launched> launched)
    : reports_(reports), rank_(rank), launched_(launched.begin(), launched.end()) {
  launched_.resize(std::size(kAskedRanges));
}

void Evidence::note(std::string what, std::string_view from, double number, report::Unit unit) const {
  if (log_ == nullptr ||
      std::any_of(log_->begin(), log_->end(), [&](const Asked& a) { return a.what == what; }))
    return;
  const bool whole = unit == report::Unit::count;
  const bool absent = std::isnan(number);
  log_->push_back({std::move(what), std::string(from),
                   absent  ? "absent"
                   : whole ? report::format_value(static_cast<std::int64_t>(number), unit)
                           : report::format_value(number, unit),
                   number, unit});
}

void Evidence::note(std::string what, std::string_view from, std::string_view text) const {
  const std::size_t before = log_ == nullptr ? 0 : log_->size();
  note(std::move(what), from, report::kNoReal, report::Unit::none);
  if (log_ != nullptr && log_->size() > before && !text.empty()) log_->back().value = text;
}

namespace {

/// The rank's element; nullptr when it has none.
template <class Answer>
const Answer* element_of(const std::vector<Answer>& answers, std::int64_t rank) {
  const auto found =
      std::find_if(answers.begin(), answers.end(), [&](const Answer& a) { return a.rank == rank; });
  return found == answers.end() ? nullptr : &*found;
}

double real(std::int64_t value) {
  return value == report::kNoInt ? report::kNoReal : static_cast<double>(value);
}

/// 0 for what is not known.
template <class Answer>
std::int64_t value_of(const Answer* answer, std::int64_t Answer::* member) {
  return answer == nullptr || answer->*member == report::kNoInt ? 0 : answer->*member;
}

}  // namespace

std::int64_t Evidence::fact(std::int64_t Facts::* fact) const {
  const Facts* facts = element_of(reports_.overview.ranks, rank_);
  if (log_ != nullptr) {
    const std::string_view count = analyze::kRecordedCounts.name_of(fact);
    note(std::string(count.empty() ? analyze::kWindowTimes.name_of(fact) : count), "overview",
         facts == nullptr ? report::kNoReal : real(facts->*fact),
         count.empty() ? report::Unit::ns : report::Unit::count);
  }
  return value_of(facts, fact);
}

bool Evidence::without_accelerator() const {
  const Facts* facts = element_of(reports_.overview.ranks, rank_);
  return facts != nullptr && facts->accelerators == 0;
}

bool Evidence::snapshot_alone() const {
  return element_of(reports_.snapshot.summary.devices, rank_) != nullptr && fact(&Facts::ops) == 0 &&
         fact(&Facts::kernels) + fact(&Facts::copies) + fact(&Facts::fills) == 0;
}

bool Evidence::files_alone() const {
  return element_of(reports_.files.overlap, rank_) != nullptr &&
         element_of(reports_.files.fetching, rank_) == nullptr && fact(&Facts::ops) == 0 &&
         fact(&Facts::complete_steps) == 0 &&
         fact(&Facts::kernels) + fact(&Facts::copies) + fact(&Facts::fills) == 0;
}

analyze::LoaderKind Evidence::loader_kind() const {
  for (const analyze::Loader* own : mine(reports_.input_wait.loaders, "Loaders"))
    if (own->kind != analyze::LoaderKind::unknown) return own->kind;
  return analyze::LoaderKind::unknown;
}

std::string_view Evidence::unused_accelerator() const {
  const Facts* facts = element_of(reports_.overview.ranks, rank_);
  return facts == nullptr ? "" : std::string_view(facts->unused_device);
}

std::int64_t Evidence::idle_total(std::int64_t analyze::IdleTotals::* total) const {
  const analyze::IdleTotals* totals = element_of(reports_.idle.totals, rank_);
  if (log_ != nullptr)
    note(std::string(analyze::kIdleTotals.name_of(total)), "idle",
         totals == nullptr ? report::kNoReal : real(totals->*total), report::Unit::ns);
  return value_of(totals, total);
}

std::string_view Evidence::backend() const {
  const Facts* facts = element_of(reports_.overview.ranks, rank_);
  const std::string_view backend = facts == nullptr ? "" : std::string_view(facts->backend);
  note("configuration(distributed backend)", "overview", backend);
  return backend;
}

analyze::Limit Evidence::limit() const {
  const analyze::RankLimit* own = element_of(reports_.ledger.ranks, rank_);
  const analyze::Limit limit = own == nullptr ? analyze::Limit::unknown : own->word.limit;
  note("bound", "ledger", name_of(limit));
  return limit;
}

double Evidence::bound_share(std::int64_t analyze::BoundNumbers::* time) const {
  const analyze::RankLimit* own = element_of(reports_.ledger.ranks, rank_);
  const double share = own == nullptr || !own->has_device ? 0 : own->numbers.share(own->numbers.*time);
  note("bound_share", "ledger", share, report::Unit::share);
  return share;
}

const analyze::BoundNumbers* Evidence::bound_numbers() const {
  const analyze::RankLimit* own = element_of(reports_.ledger.ranks, rank_);
  return own == nullptr || !own->has_device ? nullptr : &own->numbers;
}

double Evidence::prompt() const {
  const analyze::RankLimit* own = element_of(reports_.ledger.ranks, rank_);
  const double share = own == nullptr || !own->has_device ? 0 : own->numbers.prompt;
  note("prompt", "ledger", share, report::Unit::share);
  return share;
}

std::int64_t Evidence::idle(IdleCause cause) const {
  std::set<std::int64_t> devices;
  std::int64_t sum = 0;
  for (const analyze::IdleByCause& part : reports_.idle.causes) {
    if (part.rank != rank_) continue;
    devices.insert(part.device);
    if (part.cause == cause) report::add_to(sum, part.time);
  }
  const std::int64_t mean = devices.empty() ? 0 : sum / static_cast<std::int64_t>(devices.size());
  note(fmt::format("idle({})", name_of(cause)), "idle", static_cast<double>(mean), report::Unit::ns);
  return mean;
}

std::int64_t Evidence::time_in(analyze::Phase phase) const {
  for (const analyze::PhaseTime* of : mine(reports_.phases.phases, "Phases"))
    if (of->phase == phase) return of->time;
  return 0;
}

const analyze::Launched& Evidence::launched_in(AskedRange range) const {
  const analyze::Launched& launched = launched_[range.index];
  const std::string_view part = kAskedRanges[range.index];
  const auto number = [&](const char* of, std::int64_t value, report::Unit unit) {
    note(fmt::format("launched_in({}): {}", part, of), "launches",
         value == report::kNoInt ? report::kNoReal : static_cast<double>(value), unit);
  };
  number("ranges", launched.ranges, report::Unit::count);
  number("events", launched.events, report::Unit::count);
  if (launched.idle_asked)
    number("idle inside", launched.idle, report::Unit::ns);
  else
    note(fmt::format("launched_in({}): idle inside", part), "launches", "not asked: the rank is replayed");
  number("median length", launched.median, report::Unit::ns);
  return launched;
}

std::int64_t Evidence::steps() const { return std::max<std::int64_t>(1, fact(&Facts::complete_steps)); }

double Evidence::share(std::int64_t part) const {
  const double share = window() > 0 ? static_cast<double>(part) / static_cast<double>(window()) : 0;
  if (log_ != nullptr)
    note(fmt::format("{} of the window", report::format_value(part, report::Unit::ns)), "", share,
         report::Unit::share);
  return share;
}

}  // namespace stepscope::advise
