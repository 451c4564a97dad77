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

constexpr std::size_t kMaxSizes = 16;                    // of one kind that have rows of their own
constexpr std::int64_t kLarge = std::int64_t{16} << 20;  // bytes: latency hardly counts

std::optional<double> rate_of(const MatchedCollective& c) {
  if (c.too_short || c.time.transfer == kNoTime) return std::nullopt;
  return derive::bus_rate({c.exchange, trace::kEmptyString, c.ranks, c.bytes}, c.time.transfer);
}

std::string_view why_no_rate(const MatchedCollective& c) {
  if (c.exchange == derive::Exchange::barrier) return "moves no data";
  if (c.ranks == 1) return "one rank";
  if (c.time.transfer == kNoTime) return "transfer not known";
  if (c.ranks < 1) return "group not recorded";
  if (c.bytes <= 0) return "size not recorded";
  return "latency bound";
}

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return kNoReal;
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
  return values[std::max<std::size_t>(1, rank) - 1];
}

using Kind = std::tuple<std::string, std::int64_t, std::string_view, derive::Exchange, std::string_view>;
Kind kind_of(const MatchedCollective& c) { return {c.group, c.ranks, c.span, c.exchange, c.dtype}; }

/// One row: collectives of a kind and a size, or of sizes between two powers of 4.
struct Bucket {
  std::vector<const MatchedCollective*> collectives;
  Time total = 0;
};

/// Longest total first.
std::vector<Bucket> buckets_of(const std::vector<MatchedCollective>& collectives) {
  std::map<Kind, std::set<std::int64_t>> sizes;
  for (const MatchedCollective& c : collectives) sizes[kind_of(c)].insert(c.bytes);
  std::map<std::pair<Kind, std::int64_t>, Bucket> found;
  for (const MatchedCollective& c : collectives) {
    const bool exact = sizes[kind_of(c)].size() <= kMaxSizes;
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

/// By span: the rate that 95 % of the large messages do not exceed.
std::map<std::string_view, double> best_rates(const std::vector<MatchedCollective>& collectives) {
  std::map<std::string_view, std::vector<double>> rates;
  for (const MatchedCollective& c : collectives)
    if (const auto rate = rate_of(c); rate && c.bytes >= kLarge) rates[c.span].push_back(*rate);
  std::map<std::string_view, double> best;
  for (auto& [span, of_span] : rates) best[span] = quantile(std::move(of_span), 0.95);
  return best;
}

struct SizeTable {
  void add(const Bucket& bucket, const std::map<std::string_view, double>& best) {
    const MatchedCollective& one = *bucket.collectives.front();
    group.push_back(one.group);
    ranks.push_back(one.ranks > 0 ? one.ranks : kNoInt);
    span.emplace_back(one.span);
    what.emplace_back(derive::name_of(one.exchange));
    dtype.emplace_back(one.dtype);
    count.push_back(std::ssize(bucket.collectives));
    total.push_back(bucket.total);
    add_times(bucket);
    add_rates(bucket, best);
  }

  report::Table table{"Collectives across ranks", report::Shape::table, {}};

 private:
  void add_times(const Bucket& bucket) {
    report::Ints skews, transfers;
    Time waited = 0, moved = 0, most_error = kNoInt;
    std::size_t by_clocks = 0;
    bool waits_known = true;
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
      most_error = std::max(most_error, c->time.error);
    }
    skew_p50.push_back(report::quantile(skews, 0.5));
    skew_p95.push_back(report::quantile(skews, 0.95));
    skew_max.push_back(report::quantile(skews, 1));
    skew_by.emplace_back(skews.empty()               ? ""
                         : by_clocks == 0            ? "durations"
                         : by_clocks == skews.size() ? "clocks"
                                                     : "both");
    error.push_back(most_error);
    wait.push_back(waits_known ? waited : kNoInt);
    transfer.push_back(transfers.empty() ? kNoInt : moved);
    transfer_p50.push_back(report::quantile(transfers, 0.5));
  }

  void add_rates(const Bucket& bucket, const std::map<std::string_view, double>& best) {
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
    bytes.push_back(least > 0 ? least : kNoInt);
    bytes_max.push_back(most > 0 ? most : kNoInt);
    total_bytes.push_back(least > 0 ? all : kNoInt);
    const bool rated = !rates.empty();
    const double per_second =
        rated ? static_cast<double>(moved) / (static_cast<double>(time) * 1e-9) : kNoReal;
    const double on_links = per_second * derive::bus_factor(one.exchange, one.ranks).value_or(kNoReal);
    algorithm.push_back(per_second);
    bus.push_back(on_links);
    bus_p50.push_back(quantile(std::move(rates), 0.5));
    const auto found = best.find(one.span);
    of_best.push_back(found == best.end() ? kNoReal : on_links / found->second);
    why.emplace_back(rated ? "" : why_no_rate(one));
  }

  report::Texts& group = table.texts("group");
  report::Ints& ranks = table.ints("group_size", Unit::count, Role::detail);
  report::Texts& span = table.texts("span", Role::detail);
  report::Texts& what = table.texts("collective");
  report::Texts& dtype = table.texts("dtype", Role::detail);
  report::Ints& bytes = table.ints("bytes", Unit::bytes, Role::key);
  report::Ints& bytes_max = table.ints("bytes_max", Unit::bytes, Role::detail);
  report::Ints& count = table.ints("count", Unit::count);
  report::Ints& total_bytes = table.ints("total_bytes", Unit::bytes, Role::detail);
  report::Ints& total = table.ints("total", Unit::ns, Role::detail);
  report::Ints& skew_max = table.ints("skew_max", Unit::ns);
  report::Ints& wait = table.ints("wait", Unit::ns);
  report::Ints& transfer = table.ints("transfer", Unit::ns);
  report::Reals& bus = table.reals("bus_rate", Unit::bytes_per_s);
  report::Reals& of_best = table.reals("of_best", Unit::share);
  report::Ints& skew_p50 = table.ints("skew_p50", Unit::ns);
  report::Ints& skew_p95 = table.ints("skew_p95", Unit::ns);
  report::Texts& skew_by = table.texts("skew_by", Role::detail);
  report::Ints& error = table.ints("skew_error", Unit::ns, Role::detail);
  report::Ints& transfer_p50 = table.ints("transfer_p50", Unit::ns);
  report::Reals& bus_p50 = table.reals("bus_rate_p50", Unit::bytes_per_s, Role::detail);
  report::Reals& algorithm = table.reals("alg_rate", Unit::bytes_per_s, Role::detail);
  report::Texts& why = table.texts("no_rate", Role::detail);
};

}  // namespace

report::Table size_table(const std::vector<MatchedCollective>& collectives) {
  const std::map<std::string_view, double> best = best_rates(collectives);
  SizeTable out;
  for (const Bucket& bucket : buckets_of(collectives)) out.add(bucket, best);
  return std::move(out.table);
}

}  // namespace stepscope::analyze
