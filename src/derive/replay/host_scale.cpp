#include "derive/replay/host_scale.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace stepscope::derive {

using timeline::Time;

Time scaled(Time length, double factor) {
  if (factor == 1) return std::clamp(length, -kFarthest, kFarthest);
  if (factor == 0) return 0;
  constexpr auto kMax = static_cast<double>(kFarthest);
  return std::llround(std::clamp(static_cast<double>(length) * factor, -kMax, kMax));
}

namespace {

Time saved_in(Time length, double factor) { return length - scaled(length, factor); }

}  // namespace

/// Cuts at every begin and end; between two cuts the smallest open factor applies.
void HostScale::flatten(Thread& thread) {
  struct Cut {
    Time time;
    bool begins;
    double factor;
  };
  std::vector<Cut> cuts;
  for (const Stretch& s : thread.raw) {
    if (s.span.length() == 0) continue;
    cuts.push_back({s.span.begin, true, s.factor});
    cuts.push_back({s.span.end, false, s.factor});
  }
  std::sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) {
    return std::tuple(a.time, a.begins, a.factor) < std::tuple(b.time, b.begins, b.factor);
  });
  std::multiset<double> open;
  Time from = 0, saved = 0;
  for (const Cut& cut : cuts) {
    if (!open.empty() && cut.time > from) {
      thread.flat.push_back({{from, cut.time}, *open.begin(), saved});
      saved += saved_in(cut.time - from, *open.begin());
    }
    from = cut.time;
    if (cut.begins)
      open.insert(cut.factor);
    else
      open.erase(open.find(cut.factor));
  }
  thread.raw.clear();
}

std::vector<HostScale::Stretch>::const_iterator HostScale::ending_after(Thread& thread, Time time) {
  constexpr std::size_t kNear = 4;
  const std::vector<Stretch>& flat = thread.flat;
  const auto at = [&](std::size_t i) { return flat.begin() + static_cast<std::ptrdiff_t>(i); };
  const bool behind = thread.at == 0 || flat[thread.at - 1].span.end <= time;
  for (std::size_t i = thread.at; behind && i < std::min(thread.at + kNear, flat.size()); ++i) {
    if (time >= flat[i].span.end) continue;
    thread.at = i;
    return at(i);
  }
  const auto found = std::upper_bound(behind ? at(thread.at) : flat.begin(), flat.cend(), time,
                                      [](Time t, const Stretch& s) { return t < s.span.end; });
  thread.at = static_cast<std::size_t>(found - flat.begin());
  return found;
}

Time HostScale::first_start(const trace::Rank& rank) {
  Time first = trace::kNoTime;
  for (const trace::Track& track : rank.tracks) {
    if (track.side != trace::Track::Side::host || track.begin == track.end) continue;
    const Time start = rank.events.start[track.begin];
    first = first == trace::kNoTime ? start : std::min(first, start);
  }
  return first == trace::kNoTime ? 0 : first;
}

Time HostScale::saved_before(trace::TrackId id, Time recorded) {
  Thread& thread = threads_[id];
  const Time time = paced(recorded), by_pace = recorded - time;
  if (thread.flat.empty()) return by_pace;
  const auto at = ending_after(thread, time);
  if (at == thread.flat.end()) {
    const Stretch& last = thread.flat.back();
    return by_pace + last.saved_before + saved_in(last.span.length(), last.factor);
  }
  return by_pace + at->saved_before +
         (time > at->span.begin ? saved_in(time - at->span.begin, at->factor) : 0);
}

double HostScale::factor_at(trace::TrackId id, Time recorded) {
  Thread& thread = threads_[id];
  const Time time = paced(recorded);
  const auto at = ending_after(thread, time);
  return pace_ * (at != thread.flat.end() && at->span.begin <= time ? at->factor : 1);
}

}  // namespace stepscope::derive
