#include "advise/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::advise {

using report::Ints;
using report::Table;
using report::Texts;

const Table* table_of(const report::Report& report, std::string_view title) {
  for (const Table& table : report.tables)
    if (table.title.starts_with(title)) return &table;
  return nullptr;
}

namespace {

template <class Values>
const Values* values_of(const Table& table, std::string_view column) {
  const report::Column* found = table.column(column);
  return found != nullptr ? std::get_if<Values>(&found->values) : nullptr;
}

}  // namespace

const Ints* ints_of(const Table& table, std::string_view column) { return values_of<Ints>(table, column); }
const report::Reals* reals_of(const Table& table, std::string_view column) {
  return values_of<report::Reals>(table, column);
}
const Texts* texts_of(const Table& table, std::string_view column) { return values_of<Texts>(table, column); }

Evidence::Evidence(const Reports& reports, std::int64_t rank, bool several_ranks,
                   std::span<const analyze::Launched> launched)
    : reports_(reports), rank_(rank), several_(several_ranks), launched_(launched.begin(), launched.end()) {
  launched_.resize(std::size(kAskedRanges));
}

bool Evidence::of_rank(const Table& table, std::size_t row) const {
  if (!several_) return true;
  const Ints* ranks = ints_of(table, "rank");
  return ranks == nullptr || (*ranks)[row] == rank_;
}

bool Evidence::mine(const Table& table, std::size_t row) const {
  note("rows of " + table.title, "", static_cast<double>(table.rows()), report::Unit::count);
  return of_rank(table, row);
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

std::int64_t Evidence::fact(std::string_view name) const {
  for (const report::Report* report : {&reports_.overview, &reports_.idle}) {
    for (const Table& table : report->tables) {
      const Texts* facts = texts_of(table, "fact");
      if (facts == nullptr) continue;
      const Ints* values = ints_of(table, table.column("time") != nullptr ? "time" : "count");
      for (std::size_t row = 0; row < facts->size(); ++row)
        if ((*facts)[row] == name && of_rank(table, row)) {
          const bool known = (*values)[row] != report::kNoInt, time = table.column("time") != nullptr;
          note(std::string(name), report->name, known ? static_cast<double>((*values)[row]) : report::kNoReal,
               time ? report::Unit::ns : report::Unit::count);
          return known ? (*values)[row] : 0;
        }
    }
  }
  note(std::string(name), "overview", "");
  return 0;
}

std::string_view Evidence::configuration(std::string_view what) const {
  const Table* table = table_of(reports_.overview, "Configuration");
  if (table == nullptr) return "";
  const Texts& keys = *texts_of(*table, "what");
  for (std::size_t row = 0; row < keys.size(); ++row)
    if (keys[row] == what && of_rank(*table, row)) {
      note(fmt::format("configuration({})", what), "overview", (*texts_of(*table, "value"))[row]);
      return (*texts_of(*table, "value"))[row];
    }
  note(fmt::format("configuration({})", what), "overview", "");
  return "";
}

std::string_view Evidence::word() const {
  const Table* table = table_of(reports_.ledger, "Bound");
  const Texts* words = table == nullptr ? nullptr : texts_of(*table, "bound");
  for (std::size_t row = 0; words != nullptr && row < words->size(); ++row)
    if (of_rank(*table, row)) {
      note("bound", "ledger", (*words)[row]);
      return (*words)[row];
    }
  return "";
}

double Evidence::bound_share(std::string_view fact) const {
  const Table* table = table_of(reports_.ledger, "Bound numbers");
  const Texts* facts = table == nullptr ? nullptr : texts_of(*table, "fact");
  for (std::size_t row = 0; facts != nullptr && row < facts->size(); ++row)
    if ((*facts)[row] == fact && of_rank(*table, row)) {
      const double share = (*reals_of(*table, "share"))[row];
      note(fmt::format("bound_share({})", fact), "ledger", share, report::Unit::share);
      return share;
    }
  note(fmt::format("bound_share({})", fact), "ledger", "");
  return 0;
}

std::int64_t Evidence::idle(std::string_view cause) const {
  const Table* table = table_of(reports_.idle, "Idle time");
  if (table == nullptr) return 0;
  const Texts& causes = *texts_of(*table, "cause");
  const Ints& times = *ints_of(*table, "time");
  const Ints& devices = *ints_of(*table, "device");
  std::set<std::int64_t> seen;
  std::int64_t sum = 0;
  for (std::size_t row = 0; row < causes.size(); ++row) {
    if (!of_rank(*table, row)) continue;
    seen.insert(devices[row]);
    if (causes[row] == cause) report::add_to(sum, times[row]);
  }
  const std::int64_t mean = seen.empty() ? 0 : sum / static_cast<std::int64_t>(seen.size());
  note(fmt::format("idle({})", cause), "idle", static_cast<double>(mean), report::Unit::ns);
  return mean;
}

const analyze::Launched& Evidence::launched_in(std::string_view part) const {
  const auto asked = std::find(std::begin(kAskedRanges), std::end(kAskedRanges), part);
  CHECK(asked != std::end(kAskedRanges));
  const analyze::Launched& launched = launched_[static_cast<std::size_t>(asked - std::begin(kAskedRanges))];
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

std::int64_t Evidence::steps() const { return std::max<std::int64_t>(1, fact("complete_steps")); }

double Evidence::share(std::int64_t part) const {
  const double share = window() > 0 ? static_cast<double>(part) / static_cast<double>(window()) : 0;
  if (log_ != nullptr)
    note(fmt::format("{} of the window", report::format_value(part, report::Unit::ns)), "", share,
         report::Unit::share);
  return share;
}

}  // namespace stepscope::advise
