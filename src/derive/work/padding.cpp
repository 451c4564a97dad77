#include "derive/work/padding.h"

#include "derive/work/op_args.h"

namespace stepscope::derive {

using trace::EventTable;
using trace::kNoString;
using trace::Row;

Padding padding_of(const trace::Trace& trace, const trace::Rank& rank, timeline::Interval window) {
  Amount elements_of_all = 0, padding_of_all = 0;
  const auto pad = trace.strings.find("aten::pad_sequence");
  const auto fill = trace.strings.find("aten::fill_"), copy = trace.strings.find("aten::copy_");
  if (pad == kNoString || fill == kNoString || copy == kNoString) return {};
  const trace::ArgReader dims(trace, rank, "Input Dims"), types(trace, rank, "Input type");
  const EventTable& e = rank.events;
  const auto elements = [&](Row row) -> Amount {
    const OpArgs args = parse_op_args(dims.text(row), types.text(row), {}, {});
    return args.at(0).is_tensor() ? numel(args.at(0).shape) : 0;
  };
  for (const Row row : rank.host_rows()) {
    if (e.name[row] != pad || !window.contains(e.start[row])) continue;
    Amount whole = 0, filled = 0;
    const Row end = rank.tracks[e.track[row]].end;
    for (Row below = row + 1; below < end && e.start[below] < e.end[row]; ++below) {
      if (e.name[below] == fill) whole = elements(below);
      if (e.name[below] == copy) filled += elements(below);
    }
    const bool known = filled.known() && whole.known() && filled.value() > 0;
    if (!known || filled.value() > whole.value()) continue;
    elements_of_all += whole;
    padding_of_all += whole - filled;
  }
  return {elements_of_all.value(), padding_of_all.value()};
}

}  // namespace stepscope::derive
