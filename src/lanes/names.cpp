#include "lanes/names.h"

namespace stepscope::lanes {

Names::Names(const trace::Trace& trace) {
  constexpr NameId kNone = 0xFFFFFFFF;
  ids_.assign(trace.strings.size(), kNone);
  for (const trace::Rank& rank : trace.ranks) {
    const trace::EventTable& e = rank.events;
    for (trace::Row row = 0; row < e.size(); ++row) {
      NameId& id = ids_[e.name[row]];
      if (id == kNone) {
        id = size();
        names_.push_back({e.name[row], 0});
      }
      names_[id].kinds |= std::uint32_t{1} << static_cast<int>(e.kind[row]);
    }
  }
}

}  // namespace stepscope::lanes
