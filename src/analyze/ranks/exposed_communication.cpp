#include "analyze/ranks/exposed_communication.h"

#include <initializer_list>

#include "report/statistics.h"
#include "timeline/owner.h"

namespace stepscope::analyze {
namespace {

using timeline::Claim;
using timeline::Interval;
using timeline::MeasuredSet;
using timeline::Time;
using trace::kNoTime;

enum Priority { waits_for_others, moves_data };

/// When the rows of one device wait or move data, and the row of each claim.
struct Claims {
  std::vector<Claim> claims;
  std::vector<std::size_t> rows;
  void add(Interval span, Priority priority, std::size_t row) {
    if (span.length() == 0) return;
    claims.push_back({span, priority});
    rows.push_back(row);
  }
};

}  // namespace

Time Exposed::all() const { return report::plus(wait, transfer); }

void Exposed::add(const Exposed& other) {
  for (const auto field : {&Exposed::wait, &Exposed::transfer, &Exposed::unknown, &Exposed::moving,
                           &Exposed::collectives, &Exposed::known})
    report::add_to(this->*field, other.*field);
}

std::vector<Exposed> exposed_by_place(const RankCommunication& of, const trace::Rank& rank,
                                      std::span<const derive::CollectiveRow> rows,
                                      std::span<const Time> waits) {
  std::vector<Exposed> places(of.places.size());
  std::vector<Claims> devices(of.devices.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (of.rows[i].device == RankCommunication::kNoDevice) continue;
    const Time start = rows[i].start - rank.base_ns, end = rows[i].end - rank.base_ns;
    const Time moves = waits[i] == kNoTime ? start : start + waits[i];
    devices[of.rows[i].device].add({start, moves}, waits_for_others, i);
    devices[of.rows[i].device].add({moves, end}, moves_data, i);
    if (!of.window.contains(start)) continue;
    ++places[of.rows[i].place].collectives;
    places[of.rows[i].place].known += waits[i] != kNoTime;
  }
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const MeasuredSet running(of.devices[d].running), exposed(of.devices[d].exposed);
    for (const timeline::Owned& piece : timeline::owned_by(devices[d].claims)) {
      const std::size_t row = devices[d].rows[piece.claim];
      Exposed& place = places[of.rows[row].place];
      const Time alone = exposed.length_in(piece.span);
      if (devices[d].claims[piece.claim].priority == waits_for_others) {
        report::add_to(place.wait, alone);
        continue;
      }
      report::add_to(place.transfer, alone);
      report::add_to(place.moving, running.length_in(piece.span));
      if (waits[row] == kNoTime) report::add_to(place.unknown, alone);
    }
  }
  return places;
}

}  // namespace stepscope::analyze
