#include "derive/work/conv_hints.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "derive/arg_text.h"

namespace stepscope::derive {
namespace {

using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Row;
using trace::StringId;

/// Max ops searched for the consumer of a convolution: a counter or a view may come between.
constexpr int kMaxOpsAhead = 16;
/// Max nodes kept per sequence number, because numbers of different threads may collide.
constexpr std::size_t kMaxNodes = 16;

/// Ops whose first argument is the tensor that they normalize or activate.
bool takes_output_of_convolution(std::string_view op) {
  static constexpr std::array kOps = {std::string_view("aten::batch_norm"),
                                      std::string_view("aten::native_batch_norm"),
                                      std::string_view("aten::cudnn_batch_norm"),
                                      std::string_view("aten::miopen_batch_norm"),
                                      std::string_view("aten::group_norm"),
                                      std::string_view("aten::instance_norm"),
                                      std::string_view("aten::relu"),
                                      std::string_view("aten::relu_"),
                                      std::string_view("aten::leaky_relu"),
                                      std::string_view("aten::leaky_relu_"),
                                      std::string_view("aten::silu"),
                                      std::string_view("aten::silu_"),
                                      std::string_view("aten::sigmoid"),
                                      std::string_view("aten::hardswish"),
                                      std::string_view("aten::gelu")};
  return std::ranges::find(kOps, op) != kOps.end();
}

bool is_transposed_name(std::string_view op) { return op.find("transpose") != op.npos; }

}  // namespace

ConvHints::ConvHints(const trace::Trace& trace, const trace::Rank& rank)
    : trace_(trace),
      rank_(rank),
      dims_(trace, rank, "Input Dims"),
      old_dims_(trace, rank, "Input dims"),
      sequence_(trace, rank, "Sequence number"),
      forward_thread_(trace, rank, "Fwd thread id") {}

StringId ConvHints::dims(Row row) const {
  const StringId id = dims_.id(row);
  return id != trace::kEmptyString ? id : old_dims_.id(row);
}

ConvHints::Sizes ConvHints::sizes(StringId dims, std::size_t argument) const {
  const auto elements = array_elements(trace_.text(dims));
  if (!elements || argument >= elements->size()) return {};
  return integer_array((*elements)[argument]).value_or(Sizes{});
}

ConvHint ConvHints::of(Row row) {
  const std::string_view name = trace_.name(rank_, row);
  if (name.find("conv") == name.npos) return {};
  if (name.ends_with("_backward_weight")) return weight_of(row);
  return name.ends_with("_backward_input") ? input_of(row) : output_of(row);
}

ConvHint ConvHints::output_of(Row row) {
  const EventTable& e = rank_.events;
  int looked = 0;
  for (Row at = row; at != kNoRow && looked < 4; at = e.parent[at], ++looked)
    if (is_transposed_name(trace_.text(e.name[at]))) return {};
  const StringId own = dims(row);
  const Sizes input = sizes(own, 0), weight = sizes(own, 1);
  if (input.size() < 3 || input.size() != weight.size()) return {};
  ConvHint hint = from_backward(row, input, weight);
  return hint.source != trace::kEmptyString ? hint : from_next_op(row, input, weight);
}

ConvHint ConvHints::fitting(StringId donor, const Sizes& input, const Sizes& weight) const {
  const Sizes output = sizes(donor, 0);
  if (output.size() != input.size() || output[0] != input[0] || output[1] != weight[0]) return {};
  return {Sizes(output.begin() + 2, output.end()), {}, {}, donor};
}

void ConvHints::index_backward_nodes() {
  indexed_ = true;
  const EventTable& e = rank_.events;
  for (Row row = 0; row < e.size(); ++row) {
    if (e.kind[row] != Kind::op || forward_thread_.integer_or(row, 0) == 0) continue;
    const auto number = sequence_.integer(row);
    if (!number || dims(row) == trace::kEmptyString) continue;
    if (auto& rows = nodes_[*number]; rows.size() < kMaxNodes) rows.push_back(row);
  }
}

ConvHint ConvHints::from_backward(Row row, const Sizes& input, const Sizes& weight) {
  if (!indexed_) index_backward_nodes();
  const auto number = sequence_.integer(row);
  const auto nodes = number ? nodes_.find(*number) : nodes_.end();
  if (nodes == nodes_.end()) return {};
  ConvHint found;
  for (const Row node : nodes->second) {
    ConvHint hint = fitting(dims(node), input, weight);
    if (hint.source == trace::kEmptyString) continue;
    // Numbers count per thread, so two nodes that disagree prove nothing.
    if (found.source != trace::kEmptyString && found.output_spatial != hint.output_spatial) return {};
    found = std::move(hint);
  }
  return found;
}

ConvHint ConvHints::from_next_op(Row row, const Sizes& input, const Sizes& weight) const {
  const EventTable& e = rank_.events;
  const Row end = rank_.tracks[e.track[row]].end;
  int looked = 0;
  for (Row at = row + 1; at < end && looked < kMaxOpsAhead; ++at) {
    if (e.kind[at] != Kind::op || e.start[at] < e.end[row]) continue;
    ++looked;
    const std::string_view name = trace_.text(e.name[at]);
    if (takes_output_of_convolution(name)) return fitting(dims(at), input, weight);
    if (name.find("conv") != name.npos) return {};
  }
  return {};
}

ConvHint ConvHints::weight_of(Row row) const {
  const EventTable& e = rank_.events;
  const Row parent = e.parent[row];
  if (parent == kNoRow) return {};
  const Sizes gradient = sizes(dims(row), 1);
  const auto fits = [&](Row donor) {
    const Sizes weight = sizes(dims(donor), 2);
    return weight.size() == gradient.size() && weight.size() > 2 && weight[0] == gradient[1] &&
           sizes(dims(donor), 1) == gradient;
  };
  const auto take = [&](Row donor) { return ConvHint{{}, sizes(dims(donor), 2), {}, dims(donor)}; };
  if (trace_.text(e.name[parent]).ends_with("convolution_backward"))
    return fits(parent) ? take(parent) : ConvHint{};
  for (Row at = row, looked = 0; at-- > parent + 1 && looked < kMaxOpsAhead; ++looked)
    if (e.parent[at] == parent && trace_.text(e.name[at]).ends_with("_backward_input"))
      return fits(at) ? take(at) : ConvHint{};
  return {};
}

ConvHint ConvHints::input_of(Row row) const {
  const Row parent = rank_.events.parent[row];
  if (parent == kNoRow || !trace_.name(rank_, parent).ends_with("convolution_backward")) return {};
  const StringId own = dims(row), around = dims(parent);
  if (sizes(own, 1) != sizes(around, 1) || sizes(own, 2) != sizes(around, 2)) return {};
  Sizes input = sizes(around, 0);
  if (input.size() != sizes(own, 1).size()) return {};
  return {{}, {}, std::move(input), around};
}

}  // namespace stepscope::derive
