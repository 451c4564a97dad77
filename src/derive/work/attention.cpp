// Fused attention: two contractions forward, five backward (one of them recomputes the scores), over the
// visible (query, key) pairs only.
#include <algorithm>
#include <optional>

#include "derive/work/families.h"

namespace stepscope::derive {
namespace {

constexpr std::int64_t kMax = std::int64_t{1} << 40;

// Number of pairs (i, j) with j <= i + reach, i < queries, j < keys: the sum over i of clamp(i + reach + 1,
// 0, keys). The terms are 0 at first, then rise by one per query, then stay at `keys`.
Amount pairs_up_to(std::int64_t queries, std::int64_t keys, std::int64_t reach) {
  const std::int64_t rise_begin = std::clamp<std::int64_t>(-reach, 0, queries);
  const std::int64_t rise_end = std::clamp<std::int64_t>(keys - reach - 1, rise_begin, queries);
  const Amount count = rise_end - rise_begin;
  const Amount first_and_last = Amount(rise_begin + reach + 1) + Amount(rise_end + reach);
  return count * first_and_last / 2 + Amount(queries - rise_end) * keys;
}

}  // namespace

Amount visible_pairs(std::int64_t queries, std::int64_t keys, Alignment alignment, std::int64_t left,
                     std::int64_t right) {
  if (queries < 0 || keys < 0 || queries > kMax || keys > kMax) return Amount::unknown();
  const std::int64_t offset = alignment == Alignment::bottom_right ? keys - queries : 0;
  // Within this reach every query sees every key.
  const std::int64_t open = 2 * kMax;
  const std::int64_t after = right < 0 ? open : std::min(right, open);
  const std::int64_t before = left < 0 ? open : std::min(left, open);
  return pairs_up_to(queries, keys, offset + after) - pairs_up_to(queries, keys, offset - before - 1);
}

namespace {

enum class Order { heads_first, sequence_first };  // [B, H, S, D], or [B, S, H, D] and packed [T, H, D]
enum class CausalArg { flag, mask_type };          // a bool, or 0 none, 1 top-left, 2 bottom-right

// Argument positions; -1 if the op has no such argument. Keys and values follow the query.
struct AttentionLayout {
  int query;
  Order order;
  int causal;
  CausalArg causal_arg;
  Alignment alignment;
  int bias;
  int lengths;  // cumulative sequence lengths of the queries; those of the keys follow
  int longest;  // the longest query sequence; that of the keys follows
  int window;   // left, then right
  bool backward;
};

constexpr auto kFirst = Order::heads_first;
constexpr auto kSecond = Order::sequence_first;
constexpr auto kFlag = CausalArg::flag;
constexpr auto kType = CausalArg::mask_type;
constexpr auto kTop = Alignment::top_left;
constexpr auto kBottom = Alignment::bottom_right;

constexpr AttentionLayout kAttentionLayouts[] = {
    {0, kFirst, 4, kFlag, kBottom, -1, -1, -1, -1, false},   // kSdpFlash
    {0, kFirst, 4, kFlag, kTop, 5, -1, -1, -1, false},       // kSdpFlashCpu
    {0, kFirst, 6, kFlag, kTop, 3, -1, -1, -1, false},       // kSdpEfficient
    {0, kFirst, 6, kFlag, kTop, 3, -1, -1, -1, false},       // kSdpCudnn
    {0, kFirst, 5, kFlag, kTop, 3, -1, -1, -1, false},       // kSdpFused
    {1, kFirst, 11, kFlag, kBottom, -1, -1, -1, -1, true},   // kSdpFlashBackward
    {1, kFirst, 7, kFlag, kTop, 8, -1, -1, -1, true},        // kSdpFlashCpuBackward
    {1, kFirst, 11, kFlag, kTop, 4, -1, -1, -1, true},       // kSdpEfficientBackward
    {1, kFirst, 14, kFlag, kTop, 8, -1, -1, -1, true},       // kSdpCudnnBackward
    {1, kFirst, 13, kFlag, kTop, 4, -1, -1, -1, true},       // kSdpFusedBackward
    {0, kSecond, 8, kFlag, kBottom, -1, 3, 5, 11, false},    // kFlashForward
    {1, kSecond, 11, kFlag, kBottom, -1, 6, 8, 15, true},    // kFlashBackward
    {0, kSecond, 9, kType, kTop, 3, 4, 6, 13, false},        // kEfficientForward
    {1, kSecond, 14, kType, kTop, 4, 6, 8, -1, true},        // kEfficientBackward
    {0, kSecond, 5, kFlag, kBottom, -1, -1, -1, 6, false},   // kPackageFlashForward
    {0, kSecond, 9, kFlag, kBottom, -1, 3, 5, 10, false},    // kPackageFlashVarlenForward
    {1, kSecond, 11, kFlag, kBottom, -1, -1, -1, 12, true},  // kPackageFlashBackward
    {1, kSecond, 15, kFlag, kBottom, -1, 9, 11, 16, true},   // kPackageFlashVarlenBackward
    {0, kFirst, 5, kFlag, kTop, 3, -1, -1, -1, false},       // kSdpComposite
};

// Sizes of one attention op. Packed sequences have batch 1 and the sum of the lengths as length.
struct AttentionSizes {
  std::int64_t batch, heads, key_heads, queries, keys, depth, value_depth;
};

std::optional<AttentionSizes> sizes_of(const Call& call, const AttentionLayout& at) {
  const auto& q = call.at(at.query).shape.dims;
  const auto& k = call.at(at.query + 1).shape.dims;
  const auto& v = call.at(at.query + 2).shape.dims;
  const std::size_t rank = q.size();
  if (rank < 3 || rank > 4 || k.size() != rank || v.size() != rank) return std::nullopt;
  const bool heads_first = at.order == Order::heads_first;
  const std::size_t head = heads_first ? rank - 3 : rank - 2;
  const std::size_t place = heads_first ? rank - 2 : rank - 3;
  const std::int64_t batch = rank == 4 ? q[0] : 1;
  if (rank == 4 && (k[0] != batch || v[0] != batch)) return std::nullopt;
  const AttentionSizes s{batch, q[head], k[head], q[place], k[place], q[rank - 1], v[rank - 1]};
  if (k[rank - 1] != s.depth || v[place] != s.keys || v[head] != s.key_heads) return std::nullopt;
  if (s.key_heads == 0 ? s.heads != 0 : s.heads % s.key_heads != 0) return std::nullopt;
  return s;
}

struct VisibleMask {
  std::int64_t left = -1, right = -1;
  Alignment alignment = Alignment::top_left;
};

std::optional<VisibleMask> mask_of(const Call& call, const AttentionLayout& at) {
  VisibleMask mask;
  mask.alignment = at.alignment;
  int causal_index = at.causal;
  if (call.detail == kSdpCudnn && call.at(3).kind == ArgKind::scalar) causal_index = 4;  // torch 2.4
  const Arg& causal = call.at(causal_index);
  bool is_causal = false;
  if (at.causal_arg == CausalArg::mask_type) {
    const auto type = integer_of(causal);
    if (!type || *type < 0 || *type > 2) return std::nullopt;
    is_causal = *type != 0;
    mask.alignment = *type == 2 ? Alignment::bottom_right : Alignment::top_left;
  } else {
    const auto flag = boolean_of(causal);
    if (!flag) return std::nullopt;
    is_causal = *flag;
  }
  if (call.detail == kEfficientForward) {
    // One window size, counted backwards from the diagonal, including the query's own position.
    const std::int64_t window = integer_of(call.at(at.window)).value_or(0);
    if (window > 0) mask.left = window - 1;
  } else if (at.window >= 0) {
    mask.left = integer_of(call.at(at.window)).value_or(-1);
    mask.right = integer_of(call.at(at.window + 1)).value_or(-1);
  }
  if (is_causal) mask.right = mask.right < 0 ? 0 : std::min<std::int64_t>(mask.right, 0);
  return mask;
}

// Visible pairs of one query length and one key length; in torch's convention, all pairs.
Amount pairs(const Call& call, const VisibleMask& mask, std::int64_t queries, std::int64_t keys) {
  if (call.convention == Convention::torch) return Amount(queries) * keys;
  return visible_pairs(queries, keys, mask.alignment, mask.left, mask.right);
}

struct PairCount {
  Amount count = 0;
  bool exact = true;
};

// The pairs of `count` sequences, as equal as whole lengths allow.
Amount equal_sequences(const Call& call, const VisibleMask& mask, std::int64_t count, std::int64_t queries,
                       std::int64_t keys) {
  if (count <= 0) return 0;
  const std::int64_t q = queries / count;
  const std::int64_t k = keys / count;
  const std::int64_t longer_q = queries % count;
  const std::int64_t longer_k = keys % count;
  const std::int64_t both = std::min(longer_q, longer_k);
  const std::int64_t one = std::max(longer_q, longer_k) - both;
  const bool more_q = longer_q > longer_k;
  return Amount(both) * pairs(call, mask, q + 1, k + 1) +
         Amount(one) * pairs(call, mask, q + (more_q ? 1 : 0), k + (more_q ? 0 : 1)) +
         Amount(count - both - one) * pairs(call, mask, q, k);
}

// Packed sequences: their lengths are only on the device. Recorded are their number, sum and longest.
std::optional<PairCount> packed_pairs(const Call& call, const AttentionLayout& at, const VisibleMask& mask,
                                      const AttentionSizes& s) {
  const Arg& offsets = call.at(at.lengths);
  if (!offsets.is_tensor() || offsets.shape.rank() != 1 || offsets.shape.dims[0] < 2) return std::nullopt;
  const std::int64_t count = offsets.shape.dims[0] - 1;
  const auto recorded_q = integer_of(call.at(at.longest));
  const auto recorded_k = integer_of(call.at(at.longest + 1));
  const std::int64_t longest_q = std::min(recorded_q.value_or(recorded_k.value_or(0)), s.queries);
  const std::int64_t longest_k = std::min(recorded_k.value_or(recorded_q.value_or(0)), s.keys);
  if (count == 1 || longest_q < 1 || longest_k < 1)
    return PairCount{equal_sequences(call, mask, count, s.queries, s.keys), count == 1};
  const Amount longest = pairs(call, mask, longest_q, longest_k);
  return PairCount{
      longest + equal_sequences(call, mask, count - 1, s.queries - longest_q, s.keys - longest_k), false};
}

void count_flops(Tally& tally, const AttentionSizes& s, const PairCount& p, bool backward) {
  const Amount depths = Amount(s.depth) + s.value_depth;
  tally.matrix({2, s.batch, s.heads, p.count, backward ? depths * 2 + s.depth : depths});
  tally.vector({backward ? 4 : 5, s.batch, s.heads, p.count});
  if (!p.exact) tally.estimated();
}

void count_bytes(Tally& tally, const Call& call, const AttentionLayout& at, const AttentionSizes& s,
                 bool backward) {
  const Arg& query = call.at(at.query);
  const std::int64_t element = bytes_per_element(query.dtype);
  const Amount queries = Amount(s.batch) * s.heads * s.queries;
  const Amount keys = Amount(s.batch) * s.key_heads * s.keys;
  const Amount log_sums = queries * 4;
  if (element == 0) tally.bytes_unknown(kNoElementType);
  for (int i = 0; i < 3; ++i) tally.read(call.at(at.query + i));
  tally.read_optional(call.at(at.bias));
  if (backward) {
    tally.read(queries * s.value_depth * element * 2 + log_sums);  // out, its gradient
    tally.write((queries * s.depth + keys * s.depth + keys * s.value_depth) * element);
  } else {
    tally.write(queries * s.value_depth * element + log_sums);
  }
}

}  // namespace

Work attention_work(const Call& call) {
  const AttentionLayout& at = kAttentionLayouts[call.detail];
  for (int i = 0; i < 3; ++i)
    if (!call.at(at.query + i).is_tensor()) return unknown_work(kNoShapes);
  const auto s = sizes_of(call, at);
  if (!s) return unknown_work(kMalformed);
  if (call.convention == Convention::torch && s->heads != s->key_heads)
    return unknown_work("torch's counter refuses different numbers of query and key heads");
  const auto mask = mask_of(call, at);
  if (!mask) return unknown_work(kNoConcrete);
  const bool is_packed = call.at(at.lengths).is_tensor() ||
                         (at.order == Order::sequence_first && call.at(at.query).shape.rank() == 3);
  if (is_packed && s->batch != 1) return unknown_work(kMalformed);
  std::optional<PairCount> p;
  if (is_packed) {
    p = packed_pairs(call, at, *mask, *s);
    if (!p) return unknown_work("the lengths of the packed sequences were not recorded");
  } else {
    p = PairCount{pairs(call, *mask, s->queries, s->keys), true};
  }
  Tally tally(call, call.at(at.query).dtype);
  count_flops(tally, *s, *p, at.backward);
  count_bytes(tally, call, at, *s, at.backward);
  return tally.work();
}

}  // namespace stepscope::derive
