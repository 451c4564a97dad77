// The ledger: every nanosecond of a window has exactly one owner per device.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "derive/idle/device_busy.h"
#include "derive/idle/idle_cause.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// In order of precedence: the owner of an instant is the first that applies.
enum class Owner : std::uint8_t {
  compute,        ///< a compute kernel runs
  communication,  ///< a collective runs and no compute kernel
  copy,           ///< a copy or fill runs alone
  idle,           ///< nothing runs
};
inline constexpr std::size_t kOwners = 4;

std::string_view name_of(Owner owner);

/// A stretch with one owner.
struct Atom {
  timeline::Interval span;
  Owner owner = Owner::idle;
  IdleCause cause = IdleCause::untraced;  ///< only for idle atoms
  trace::Row ender = trace::kNoRow;       ///< only for idle atoms: the device event that ended the gap
};

using UseAtom = std::function<void(std::size_t device, const Atom&)>;

/// Atoms of each device in time order. The lengths of one device's atoms add up to the window. `pieces` are
/// the idle pieces of `devices` in the window.
void for_each_atom(const std::vector<DeviceBusy>& devices, const Column<IdlePiece>& pieces,
                   timeline::Interval window, const UseAtom& use);

/// Time on one device by owner, and idle time by cause, ns.
struct OwnerTimes {
  std::array<std::int64_t, kOwners> owned{};
  std::array<std::int64_t, kIdleCauses> idle{};
  /// `length`: ns of the atom that count.
  void add(const Atom& atom, timeline::Time length);
};

}  // namespace stepscope::derive
