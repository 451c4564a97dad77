// The colour of an event: the family of work that it belongs to.
#pragma once

#include <cstdint>
#include <vector>

#include "lanes/names.h"
#include "report/palette.h"
#include "trace/trace.h"

namespace stepscope::lanes {

class Families {
 public:
  /// Asks every name once.
  Families(const trace::Trace& trace, const Names& names);

  /// `autograd`: the event is on a thread of autograd. Kernels: by their kind, as reports paint it; a kind
  /// without a family of its own computes. Operators of autograd's nodes are backward ones.
  report::Family of(const trace::Rank& rank, trace::Row row, bool autograd) const;

 private:
  struct OfName {
    report::Family kernel = report::Family::compute;
    bool waits = false, loads = false, communicates = false, is_node = false;
  };
  const OfName& about(const trace::EventTable& e, trace::Row row) const {
    return of_name_[names_.of(e.name[row])];
  }
  bool below_node(const trace::EventTable& e, trace::Row row) const;

  const Names& names_;
  std::vector<OfName> of_name_;
};

}  // namespace stepscope::lanes
