#include "analyze/io/handling.h"

#include <algorithm>
#include <optional>

#include "report/statistics.h"

namespace stepscope::analyze {

using derive::IoCall;
using derive::IoKind;
using timeline::Interval;
using timeline::Time;

bool Handling::operator_begins(trace::TrackId thread, Interval gap) {
  const auto [found, is_new] = operators_.try_emplace(thread);
  Column<Time>& begins = found->second;
  if (is_new) {
    const trace::Track& track = rank_.tracks[thread];
    for (trace::Row row = track.begin; row < track.end; ++row)
      if (rank_.events.kind[row] == trace::Kind::op) begins.push_back(rank_.events.start[row]);
  }
  const auto next = std::lower_bound(begins.begin(), begins.end(), gap.begin);
  return next != begins.end() && *next < gap.end;
}

std::vector<Handled> Handling::of(const std::vector<const IoCall*>& calls) {
  std::vector<Handled> all;
  const auto add = [&](std::size_t first, std::size_t last, bool closed) {
    Handled handled{{}, 0, first, last};
    std::optional<Interval> before;
    for (std::size_t i = first; i < last; ++i) {
      const IoCall& call = *calls[i];
      const Interval span = span_of(rank_, call);
      if (call.kind == IoKind::write) report::add_to(handled.written, call.bytes);
      handled.spans.push_back(span);
      if (before && span.begin > before->end) {
        const IoCall& last_call = *calls[i - 1];
        const Interval gap{before->end, span.begin};
        const bool writes = call.kind == IoKind::write || last_call.kind == IoKind::write;
        const bool reads = call.kind == IoKind::read && last_call.kind == IoKind::read;
        const Time most = closed ? (writes ? kFormattingGap : kParsingGap) : reads ? kReadingGap : 0;
        if (gap.length() <= most && !operator_begins(rank_.events.track[call.row], gap))
          handled.spans.push_back(gap);
      }
      before = span;
    }
    all.push_back(std::move(handled));
  };
  std::size_t first = 0;
  std::int64_t open = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls[i]->kind == IoKind::open && !calls[i]->failed) {
      if (open == 0 && i > first) {
        add(first, i, false);
        first = i;
      }
      ++open;
    } else if (calls[i]->kind == IoKind::close && open > 0 && --open == 0) {
      add(first, i + 1, true);
      first = i + 1;
    }
  }
  if (first < calls.size()) add(first, calls.size(), false);
  return all;
}

}  // namespace stepscope::analyze
