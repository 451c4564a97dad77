#include "analyze/ranks/collective_sizes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "derive/ranks/collective.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using report::kNoInt;
using report::kNoReal;
using report::Role;
using report::Unit;
using timeline::Time;
using trace::kNoTime;

constexpr std::size_t kMaxExactSizes = 16;               // of one kind: with more, similar sizes share a row
constexpr std::int64_t kLarge = std::int64_t{16} << 20;  // bytes from which latency hardly matters

std::optional<double> rate_of(const MatchedCollective& c) {
  if (!c.whole || c.too_short || c.time.transfer == kNoTime) return std::nullopt;
  return derive::bus_rate({c.exchange, trace::kEmptyString, c.ranks, c.bytes}, c.time.transfer);
}

NoRate why_no_rate(const MatchedCollective& c) {
  if (c.exchange == derive::Exchange::barrier) return NoRate::no_data;
  if (c.ranks == 1) return NoRate::one_rank;
  if (!c.whole) return NoRate::ranks_missing;
  if (c.time.transfer == kNoTime) return NoRate::no_transfer;
  if (c.ranks < 1) return NoRate::no_group;
  if (c.bytes <= 0) return NoRate::no_size;
  return NoRate::latency_bound;
}

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return kNoReal;
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
  return values[std::max<std::size_t>(1, rank) - 1];
}

using CollectiveKind = std::tuple<std::string, std::int64_t, Span, derive::Exchange, std::string_view>;
CollectiveKind kind_of(const MatchedCollective& c) { return {c.group, c.ranks, c.span, c.exchange, c.dtype}; }

/// One row: collectives of a kind and a size, or of sizes between two powers of 4.
struct Bucket {
  std::vector<const MatchedCollective*> collectives;
  Time total = 0;
};

/// Longest total first.
std::vector<Bucket> buckets_of(const std::vector<MatchedCollective>& collectives) {
  std::map<CollectiveKind, std::set<std::int64_t>> sizes;
  for (const MatchedCollective& c : collectives) sizes[kind_of(c)].insert(c.bytes);
  std::map<std::pair<CollectiveKind, std::int64_t>, Bucket> found;
  for (const MatchedCollective& c : collectives) {
    const bool exact = sizes[kind_of(c)].size() <= kMaxExactSizes;
    const std::int64_t power = std::bit_width(static_cast<std::uint64_t>(c.bytes));
    Bucket& bucket = found[{kind_of(c), exact ? c.bytes : (power + 1) / 2}];
    bucket.collectives.push_back(&c);
    report::add_to(bucket.total, c.total);
  }
  std::vector<Bucket> buckets;
  for (auto& [key, bucket] : found) buckets.push_back(std::move(bucket));
  std::stable_sort(buckets.begin(), buckets.end(),
                   [](const Bucket& a, const Bucket& b) { return a.total > b.total; });
  return buckets;
}

/// By span: 95th percentile of the rates of large messages.
std::map<Span, double> best_rates(const std::vector<MatchedCollective>& collectives) {
  std::map<Span, std::vector<double>> rates;
  for (const MatchedCollective& c : collectives)
    if (const auto rate = rate_of(c); rate && c.bytes >= kLarge) rates[c.span].push_back(*rate);
  std::map<Span, double> best;
  for (auto& [span, of_span] : rates) best[span] = quantile(std::move(of_span), 0.95);
  return best;
}

void measure_times(MatchedSize& size, const Bucket& bucket) {
  std::vector<Time> skews, transfers;
  Time waited = 0, moved = 0;
  std::size_t by_clocks = 0;
  bool waits_known = true;
  size.skew_error = kNoInt;
  for (const MatchedCollective* c : bucket.collectives) {
    if (c->time.skew != kNoTime) skews.push_back(c->time.skew);
    if (c->time.transfer != kNoTime) {
      transfers.push_back(c->time.transfer);
      report::add_to(moved, c->time.transfer);
    }
    waits_known = waits_known && c->wait != kNoTime;
    if (waits_known) report::add_to(waited, c->wait);
    if (c->time.error == kNoTime) continue;
    ++by_clocks;
    size.skew_error = std::max(size.skew_error, c->time.error);
  }
  size.skew_p50 = report::quantile(skews, 0.5);
  size.skew_p95 = report::quantile(skews, 0.95);
  size.skew_max = report::quantile(skews, 1);
  size.skew_by = skews.empty()               ? SkewBy::unknown
                 : by_clocks == 0            ? SkewBy::durations
                 : by_clocks == skews.size() ? SkewBy::clocks
                                             : SkewBy::both;
  size.wait = waits_known ? waited : kNoInt;
  size.transfer = transfers.empty() ? kNoInt : moved;
  size.transfer_p50 = report::quantile(transfers, 0.5);
}

void measure_rates(MatchedSize& size, const Bucket& bucket, const std::map<Span, double>& best) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = 0, all = 0, moved = 0;
  std::vector<double> rates;
  Time time = 0;
  for (const MatchedCollective* c : bucket.collectives) {
    least = std::min(least, c->bytes);
    most = std::max(most, c->bytes);
    report::add_to(all, c->bytes);
    const std::optional<double> rate = rate_of(*c);
    if (!rate) continue;
    rates.push_back(*rate);
    report::add_to(moved, c->bytes);
    report::add_to(time, c->time.transfer);
  }
  const MatchedCollective& one = *bucket.collectives.front();
  size.bytes = least > 0 ? least : kNoInt;
  size.bytes_max = most > 0 ? most : kNoInt;
  size.total_bytes = least > 0 ? all : kNoInt;
  size.no_rate = rates.empty() ? why_no_rate(one) : NoRate::known;
  size.alg_rate = rates.empty() ? kNoReal : static_cast<double>(moved) / (static_cast<double>(time) * 1e-9);
  size.bus_rate = size.alg_rate * derive::bus_factor(one.exchange, one.ranks).value_or(kNoReal);
  size.bus_rate_p50 = quantile(std::move(rates), 0.5);
  const auto found = best.find(one.span);
  size.of_best = found == best.end() ? kNoReal : size.bus_rate / found->second;
}

}  // namespace

std::string_view name_of(Span span) {
  constexpr std::string_view kNames[] = {"", "one host", "several hosts"};
  return kNames[static_cast<std::size_t>(span)];
}

std::string_view name_of(SkewBy by) {
  constexpr std::string_view kNames[] = {"", "durations", "clocks", "both"};
  return kNames[static_cast<std::size_t>(by)];
}

std::string_view name_of(NoRate why) {
  constexpr std::string_view kNames[] = {"",
                                         "moves no data",
                                         "one rank",
                                         "transfer not known",
                                         "group not recorded",
                                         "size not recorded",
                                         "latency bound",
                                         "not all its ranks are open"};
  return kNames[static_cast<std::size_t>(why)];
}

std::vector<MatchedSize> matched_sizes(const std::vector<MatchedCollective>& collectives) {
  const std::map<Span, double> best = best_rates(collectives);
  std::vector<MatchedSize> sizes;
  for (const Bucket& bucket : buckets_of(collectives)) {
    const MatchedCollective& one = *bucket.collectives.front();
    MatchedSize& size = sizes.emplace_back();
    size.group = one.group;
    size.ranks = one.ranks > 0 ? one.ranks : kNoInt;
    size.span = one.span;
    size.exchange = one.exchange;
    size.dtype = one.dtype;
    size.count = std::ssize(bucket.collectives);
    size.total = bucket.total;
    measure_times(size, bucket);
    measure_rates(size, bucket, best);
  }
  return sizes;
}

const report::Sheet<MatchedSize> kMatchedSizeSheet{
    "Collectives across ranks",
    report::Shape::table,
    {{"group", &MatchedSize::group},
     {"group_size", &MatchedSize::ranks, Unit::count, Role::detail},
     {"span", report::named<&MatchedSize::span>, Role::detail},
     {"collective", report::named<&MatchedSize::exchange>},
     {"dtype", &MatchedSize::dtype, Role::detail},
     {"bytes", &MatchedSize::bytes, Unit::bytes, Role::key},
     {"bytes_max", &MatchedSize::bytes_max, Unit::bytes, Role::detail},
     {"count", &MatchedSize::count, Unit::count},
     {"total_bytes", &MatchedSize::total_bytes, Unit::bytes, Role::detail},
     {"total", &MatchedSize::total, Unit::ns, Role::detail},
     {"skew_max", &MatchedSize::skew_max, Unit::ns},
     {"wait", &MatchedSize::wait, Unit::ns},
     {"transfer", &MatchedSize::transfer, Unit::ns},
     {"bus_rate", &MatchedSize::bus_rate, Unit::bytes_per_s},
     {"of_best", &MatchedSize::of_best, Unit::share},
     {"skew_p50", &MatchedSize::skew_p50, Unit::ns},
     {"skew_p95", &MatchedSize::skew_p95, Unit::ns},
     {"skew_by", report::named<&MatchedSize::skew_by>, Role::detail},
     {"skew_error", &MatchedSize::skew_error, Unit::ns, Role::detail},
     {"transfer_p50", &MatchedSize::transfer_p50, Unit::ns},
     {"bus_rate_p50", &MatchedSize::bus_rate_p50, Unit::bytes_per_s, Role::detail},
     {"alg_rate", &MatchedSize::alg_rate, Unit::bytes_per_s, Role::detail},
     {"no_rate", report::named<&MatchedSize::no_rate>, Role::detail}}};

}  // namespace stepscope::analyze
