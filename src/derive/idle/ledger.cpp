#include "derive/idle/ledger.h"

#include <algorithm>
#include <array>

namespace stepscope::derive {

using timeline::Interval;
using timeline::IntervalSet;

std::string_view name_of(Owner owner) {
  constexpr std::string_view kNames[kOwners] = {"compute", "communication", "copy", "idle"};
  return kNames[static_cast<std::size_t>(owner)];
}

void for_each_atom(const std::vector<DeviceBusy>& devices, const Column<IdlePiece>& pieces, Interval window,
                   const UseAtom& use) {
  auto piece = pieces.begin();
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const auto has_piece = [&] {
      return piece != pieces.end() && static_cast<std::size_t>(piece->device) == d;
    };
    const std::array busy = {devices[d].compute, devices[d].communication, devices[d].copy};
    const std::vector<IntervalSet> owned = timeline::partition(window, busy);
    std::array<std::size_t, busy.size()> at{};
    const auto begin_of = [&](std::size_t owner) {
      const auto parts = owned[owner].parts();
      return at[owner] < parts.size() ? parts[at[owner]].begin : timeline::Time{trace::kNoTime};
    };
    for (;;) {
      std::size_t first = busy.size();
      for (std::size_t owner = 0; owner < busy.size(); ++owner)
        if (begin_of(owner) != trace::kNoTime && (first == busy.size() || begin_of(owner) < begin_of(first)))
          first = owner;
      if (has_piece() && (first == busy.size() || piece->span.begin < begin_of(first))) {
        use(d, {piece->span, Owner::idle, piece->cause, piece->ender});
        ++piece;
      } else if (first != busy.size()) {
        use(d, {owned[first].parts()[at[first]++], static_cast<Owner>(first), IdleCause::untraced,
                trace::kNoRow});
      } else {
        break;
      }
    }
  }
}

void OwnerTimes::add(const Atom& atom, timeline::Time length) {
  owned[static_cast<std::size_t>(atom.owner)] += length;
  if (atom.owner == Owner::idle) idle[static_cast<std::size_t>(atom.cause)] += length;
}

}  // namespace stepscope::derive
