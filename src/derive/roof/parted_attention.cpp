#include "derive/roof/parted_attention.h"

#include <algorithm>

#include "derive/work/op_args.h"
#include "trace/asked_once.h"

namespace stepscope::derive {
namespace {

using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Row;

constexpr int kMaxBetween = 8;
constexpr Row kMaxRows = 400;  // searched for the second product; no attention has more calls in between

bool is_product(std::string_view op) {
  return op == "aten::matmul" || op == "aten::bmm" || op == "aten::baddbmm" || op == "aten::einsum";
}
bool is_softmax(std::string_view op) { return op == "aten::softmax" || op == "aten::_softmax"; }

class Finder {
 public:
  Finder(const trace::Trace& trace, const trace::Rank& rank)
      : e_(rank.events),
        product_(trace.strings, is_product),
        softmax_(trace.strings, is_softmax),
        dims_(trace, rank, "Input Dims"),
        old_dims_(trace, rank, "Input dims") {}

  std::vector<PartedAttention> run() {
    std::vector<PartedAttention> found;
    for (Row row = 0; row < e_.size(); ++row) {
      if (e_.kind[row] != Kind::op || !softmax_(e_.name[row])) continue;
      const Row above = e_.parent[row];
      if (above != kNoRow && e_.kind[above] == Kind::op && softmax_(e_.name[above])) continue;
      PartedAttention attention{before(row), behind(row)};
      if (attention.first == kNoRow || attention.end == kNoRow) continue;
      const OpArgs args =
          parse_op_args(dims_.text(row).empty() ? old_dims_.text(row) : dims_.text(row), "", "", "");
      if (const auto& dims = args.at(0).shape.dims; dims.size() >= 2) {
        attention.rows = dims[dims.size() - 2];
        attention.columns = dims.back();
      }
      found.push_back(attention);
    }
    std::sort(found.begin(), found.end(),
              [](const PartedAttention& a, const PartedAttention& b) { return a.first < b.first; });
    return found;
  }

 private:
  /// The nearest product among the siblings before `row`.
  Row before(Row row) {
    Row at = row;
    for (int i = 0; i < kMaxBetween; ++i) {
      if (at == 0) return kNoRow;
      Row previous = at - 1;  // inside the previous sibling, or the parent
      while (previous != kNoRow && previous != e_.parent[row] && e_.parent[previous] != e_.parent[row])
        previous = e_.parent[previous];
      if (previous == kNoRow || previous == e_.parent[row] || e_.track[previous] != e_.track[row])
        return kNoRow;
      if (product_(e_.name[previous])) return previous;
      at = previous;
    }
    return kNoRow;
  }

  /// The row after the nearest product and its children, among the siblings after `row`.
  Row behind(Row row) {
    int siblings = 0;
    bool product = false;
    const Row last = std::min<Row>(e_.size(), row + kMaxRows);
    for (Row at = row + 1; at < last && e_.track[at] == e_.track[row]; ++at) {
      if (!is_host_range(e_.kind[at])) continue;
      const bool sibling = e_.parent[at] == e_.parent[row];
      const bool outside = e_.parent[row] != kNoRow && e_.start[at] >= e_.end[e_.parent[row]];
      if (product && (sibling || outside)) return at;
      if (outside) return kNoRow;
      if (!sibling) continue;
      if (++siblings > kMaxBetween) return kNoRow;
      product = product_(e_.name[at]);
    }
    return product ? last : kNoRow;
  }

  const EventTable& e_;
  trace::AskedOnce<bool (*)(std::string_view)> product_, softmax_;
  const trace::ArgReader dims_, old_dims_;
};

}  // namespace

std::vector<PartedAttention> parted_attention(const trace::Trace& trace, const trace::Rank& rank) {
  const bool any = trace.strings.find("aten::softmax") != trace::kNoString ||
                   trace.strings.find("aten::_softmax") != trace::kNoString;
  return any ? Finder(trace, rank).run() : std::vector<PartedAttention>{};
}

}  // namespace stepscope::derive
