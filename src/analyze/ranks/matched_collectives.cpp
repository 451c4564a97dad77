#include <algorithm>
#include <map>

#include "analyze/derived.h"
#include "analyze/ranks/collective_sizes.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::CollectiveRow;
using timeline::Time;
using trace::kNoTime;

/// Resolution of each rank's time stamps, ns: 1 µs in old recordings.
std::vector<Time> ticks_of(const trace::Trace& trace, const derive::Collectives& collectives) {
  constexpr Time kMicrosecond = 1'000;
  std::vector<Time> ticks;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    const Time base = trace.ranks[r].base_ns;
    const bool coarse =
        std::all_of(collectives.rows[r].begin(), collectives.rows[r].end(), [&](const CollectiveRow& row) {
          return (row.start - base) % kMicrosecond == 0 && (row.end - base) % kMicrosecond == 0;
        });
    ticks.push_back(coarse ? kMicrosecond : 1);
  }
  return ticks;
}

struct GroupFacts {
  std::string label;
  Span span = Span::unknown;
  std::int64_t members = 0;  ///< 0: not recorded
};

std::vector<GroupFacts> facts_of(const trace::Trace& trace, const derive::GroupNames& groups) {
  std::map<std::int64_t, std::string> hosts;  // by rank number
  for (const trace::Rank& rank : trace.ranks) hosts[rank.rank] = host_of(rank);
  std::vector<GroupFacts> facts;
  for (std::uint32_t id = 0; id < groups.size(); ++id) {
    const std::string& said = groups.description(id);
    const std::vector<std::int64_t> members = derive::numbers_in(groups.members(id));
    std::vector<std::string_view> seen;
    for (const std::int64_t member : members)
      if (const auto host = hosts.find(member); host != hosts.end() && !host->second.empty())
        seen.push_back(host->second);
    const bool several =
        std::any_of(seen.begin(), seen.end(), [&](auto host) { return host != seen.front(); });
    const bool all = !members.empty() && seen.size() == members.size();
    facts.push_back({said.empty() || said == "undefined" ? groups.name(id) : said,
                     several ? Span::several_hosts
                     : all   ? Span::one_host
                             : Span::unknown,
                     std::ssize(members)});
  }
  return facts;
}

}  // namespace

std::vector<MatchedCollective> matched_collectives(const Derived& derived,
                                                   const derive::CollectiveTimes& times) {
  const trace::Trace& trace = derived.trace();
  const derive::Alignment& all = derived.alignment();
  const std::vector<Time> ticks = ticks_of(trace, all);
  const std::vector<GroupFacts> facts = facts_of(trace, all.groups);
  std::vector<MatchedCollective> out;
  for (std::size_t i = 0; i < all.matches.instances.size(); ++i) {
    const derive::Instance& instance = all.matches.instances[i];
    const derive::CollectiveTime& time = times.of_instance[i];
    const CollectiveRow& first = all.row(all.members(instance).front());
    const GroupFacts& group = facts[instance.group];
    const std::int64_t ranks = first.ranks > 0 ? first.ranks : group.members;
    MatchedCollective c{group.label,
                        ranks,
                        group.span,
                        instance.exchange,
                        first.dtype,
                        0,
                        0,
                        0,
                        time,
                        false,
                        first.peer >= 0 || std::int64_t{instance.count} >= ranks};
    bool inside = !time.contradicting;
    Time tick = 1;
    for (const derive::Member& m : all.members(instance)) {
      const CollectiveRow& row = all.row(m);
      const Time wait = times.wait[m.rank][m.row];
      inside =
          inside &&
          derived.communication(trace.ranks[m.rank]).window.contains(row.start - trace.ranks[m.rank].base_ns);
      c.bytes = std::max(c.bytes, row.bytes);
      c.wait = c.wait == kNoTime || wait == kNoTime ? kNoTime : report::plus(c.wait, wait);
      report::add_to(c.total, row.end - row.start);
      tick = std::max(tick, ticks[m.rank]);
    }
    if (!inside) continue;
    c.too_short = time.transfer < 3 * tick || (time.error != kNoTime && time.transfer < time.error);
    out.push_back(std::move(c));
  }
  return out;
}

}  // namespace stepscope::analyze
