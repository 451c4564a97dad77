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

std::vector<Column<Atom>> ledger(const std::vector<DeviceBusy>& devices, const Column<IdlePiece>& pieces,
                                 Interval window) {
  std::vector<Column<Atom>> atoms(devices.size());
  for (const IdlePiece& piece : pieces)
    atoms[static_cast<std::size_t>(piece.device)].push_back(
        {piece.span, Owner::idle, piece.cause, piece.ender});
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const std::array busy = {devices[d].compute, devices[d].communication, devices[d].copy};
    const std::vector<IntervalSet> owned = timeline::partition(window, busy);
    for (std::size_t owner = 0; owner < busy.size(); ++owner) {
      const auto sorted = static_cast<std::ptrdiff_t>(atoms[d].size());
      for (const Interval& part : owned[owner].parts())
        atoms[d].push_back({part, static_cast<Owner>(owner), IdleCause::untraced, trace::kNoRow});
      std::inplace_merge(atoms[d].begin(), atoms[d].begin() + sorted, atoms[d].end(),
                         [](const Atom& a, const Atom& b) { return a.span.begin < b.span.begin; });
    }
  }
  return atoms;
}

}  // namespace stepscope::derive
