// Rules of kernels (K).
#include <fmt/format.h>

#include <algorithm>

#include "advise/device_work.h"
#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/rules/on_cpu.h"
#include "advise/say.h"
#include "advise/see.h"
#include "report/names.h"

namespace stepscope::advise {
namespace {

constexpr std::string_view kChainDoc =
    R"(Looks for a device that is busy for at least `kBusyShare` of the window and spends at least `kPointwiseShare`
of compute time in kernels of the kinds pointwise and cast (`kernels`): each reads and writes memory for
little arithmetic, and no compiler has fused them. Saving: `kFusedLeast` to `kFusedMost` of their time and
that of kernels that copy or concatenate; up to what fusing each run of neighbours of one grid saves
(chained_share), if that is more; by replay where launches are linked. When the host limits, the finding is
listed as `next`. Silent in training at 14 to 24 %, and for kernels that Inductor or Triton made (kind
compiled). Without a device: element-wise operators (`host_time`) that hold that share of the window and take
at least kLayerWork on average; the saving is the same range of their time, up to all of it if one line holds
kMostOfCost of it.)";

std::optional<Claim> pointwise_chain(const Evidence& e, Bound bound) {
  if (bound == Bound::host_only) return pointwise_on_cpu(e);
  if (!has_pointwise_chains(e)) return std::nullopt;
  const auto chains = {KernelKind::pointwise, KernelKind::cast, KernelKind::copy, KernelKind::concat};
  const double share = kind_share(e, chains);
  Claim f = claim(e, RuleId::K01,
                  fmt::format("{} of kernel time ({} per step) goes into element-wise kernels that each "
                              "read and write memory",
                              percent(share), ns(compute_time(e, share))));
  const double most = std::max(kFusedMost, chained_share(e, chains) / share);
  save(f, compute_time(e, share), kFusedLeast, most);
  const auto fused = [](double share_of_them) {
    return scale_kinds({KernelKind::pointwise, KernelKind::cast, KernelKind::copy, KernelKind::concat},
                       1 - share_of_them);
  };
  change(f, {fused(most)}, {fused(kFusedLeast)});
  f.shortens_kernels = true;
  device_only(f, bound);
  f.confidence = Confidence::medium;
  if (!f.next) f.because = "kernel names show it; how many fuse depends on the operators between them";
  f.evidence = {see::kernels(fmt::format("kinds pointwise {}, cast {}, copy and concat {}",
                                         percent(kind_share(e, {KernelKind::pointwise})),
                                         percent(kind_share(e, {KernelKind::cast})),
                                         percent(kind_share(e, {KernelKind::copy, KernelKind::concat}))))};
  f.remedy =
      "torch.compile(model) on the blocks; or fused norms, rotary embeddings and gates (F.rms_norm, "
      "F.layer_norm, <<Liger kernels, Transformer Engine||Liger kernels, aiter||Liger kernels>>); keep one "
      "type through the chain.";
  f.verify = "Fewer element-wise kernels; the share of kinds pointwise and cast falls.";
  f.effort = Effort::one_line;
  return f;
}

constexpr std::string_view kSmallGridDoc =
    R"(Looks for at least `kSmallGridShare` of compute time in kernels with fewer blocks than the device has
multiprocessors (`kernels`: small_grid_share; recorded on CUDA). Saving: up to `kSmallGridSaving` of that
time. When the host limits, it is evidence of H01 and not a finding: larger kernels then cost nothing until
the queue is full.)";

std::optional<Claim> small_grid(const Evidence& e, Bound bound) {
  const double share = small_grid_share(e);
  if (bound == Bound::host || share < kSmallGridShare || e.fact(&Facts::kernels) < kMinSmallGrids)
    return std::nullopt;
  Claim f = claim(e, RuleId::K02,
                  fmt::format("{} of kernel time ({} per step) runs on fewer blocks than the device has "
                              "multiprocessors",
                              percent(share), ns(compute_time(e, share))));
  save(f, compute_time(e, share), 0, kSmallGridSaving);
  f.shortens_kernels = true;
  device_only(f, bound);
  f.confidence = Confidence::medium;
  f.because = "each launch records its grid";
  f.evidence = {see::kernels("small_grid_share, blocks_per_sm" + room_for_more(e))};
  f.remedy =
      "A larger batch; batch requests, heads or experts into one product (grouped matmul); independent work "
      "on several streams or branches of a captured graph.";
  f.verify = "kernels: small_grid_share under 20 %.";
  f.effort = Effort::code;
  return f;
}

constexpr std::string_view kOccupancyDoc =
    R"(Looks for one kernel of the program or of a compiler (*Kernels of low occupancy* of `kernels`) with
`kOwnKernelShare` of compute time that holds less than `kLowOccupancy` of a multiprocessor's threads although
each multiprocessor gets `kMinBlocks` blocks. Saving: `kOccupiedLeast` to `kOccupiedMost` times as fast, by
replay where launches are linked; when the host limits, listed as `next`. Silent for kernels of
PyTorch's and the vendors' libraries, which run well at low occupancy, and for kernels that reach
`kFarFromRoof` of the device's memory bandwidth by the sizes of their operator's tensors. Low confidence:
without counters it is unknown what the kernel waits for.)";

std::optional<Claim> low_occupancy(const Evidence& e, Bound bound) {
  for (const analyze::LowOccupancy* row :
       e.mine(e.reports().kernels.low_occupancy, "Kernels of low occupancy")) {  // longest first
    if (!(row->share >= kOwnKernelShare) || row->occupancy >= kLowOccupancy ||
        row->blocks_per_sm < kMinBlocks || row->bandwidth_share >= kFarFromRoof)
      continue;
    const bool known = row->limit != derive::OccupancyLimit::unknown;
    Claim f = claim(e, RuleId::K03,
                    fmt::format("{} ({} of kernel time) holds {} of a multiprocessor's threads{}{}",
                                report::short_name(row->name, 48), percent(row->share),
                                percent(row->occupancy), known ? "; limited by " : "", name_of(row->limit)));
    save(f, compute_time(e, row->share), 1 - 1 / kOccupiedLeast, 1 - 1 / kOccupiedMost);
    f.ideal = {scale_of(analyze::Scale::What::kernel, row->name, 1 / kOccupiedMost)};
    f.mild = {scale_of(analyze::Scale::What::kernel, row->name, 1 / kOccupiedLeast)};
    f.shortens_kernels = true;
    device_only(f, bound);
    if (!f.next) f.because = "occupancy is estimated at launch; what the kernel waits for is not recorded";
    f.evidence = {see::kernels("kernels of low occupancy")};
    f.remedy =
        "Fewer registers or a smaller tile per block: num_warps, num_stages and maxnreg of a Triton kernel, "
        "__launch_bounds__ of a C++ one.";
    f.verify = "kernels: occupancy of this kernel above 0.25, and its mean shorter.";
    f.effort = Effort::code;
    return f;
  }
  return std::nullopt;
}

constexpr std::string_view kAttentionDoc =
    R"(Looks for attention in parts (`products`): inside one range a product, a softmax over its scores and a
product with the result. The scores have at least `kMaxScores` rows and columns, or an unknown size, and the
parts take at least `kProductShare` of compute time. Saving: from 0.7 of the time between the products, to all
of it plus 0.3 of the products' time. The backward pass gains likewise and is not counted. Silent for short
sequences, for fused attention (flash, SDPA), and when the host limits.)";

std::optional<Claim> parted_attention(const Evidence& e, Bound bound) {
  if (bound == Bound::host) return std::nullopt;
  std::int64_t count = 0, products = 0, others = 0;
  double share = 0;
  bool sized = true;
  for (const analyze::PartedAttention* row : e.mine(e.reports().products.attention, "Attention in parts")) {
    const bool known = row->rows > 0;
    if (known && std::min(row->rows, row->columns) < kMaxScores) continue;
    sized &= known;
    count += row->count;
    products += row->products;
    others += row->others;
    share += row->share;
  }
  if (count == 0 || share < kProductShare) return std::nullopt;
  const double of_others =
      static_cast<double>(others) / static_cast<double>(std::max<std::int64_t>(1, products + others));
  Claim f =
      claim(e, RuleId::K07,
            fmt::format("Attention is computed as product, softmax, product: {} times, {} of kernel time",
                        report::format_value(count, report::Unit::count), percent(share)));
  save(f, compute_time(e, share), kFusedAttentionLeast * of_others,
       of_others + kFusedProducts * (1 - of_others));
  f.shortens_kernels = true;
  f.confidence = sized ? Confidence::high : Confidence::medium;
  f.because = sized ? "the operators and the sizes of the scores are in the file"
                    : "the operators are in the file, the sizes of the scores are not";
  f.evidence = {see::products("attention in parts")};
  f.remedy =
      "F.scaled_dot_product_attention; attn_implementation=\"sdpa\" or \"flash_attention_2\" in "
      "Transformers; FlexAttention for masks of your own. Use half precision: flash kernels need it.";
  f.verify = "Kernels named flash or fmha appear; no softmax between products.";
  f.effort = Effort::one_line;
  return f;
}

constexpr Rule kKernelRules[] = {
    {RuleId::K01, "element-wise kernels are not fused", true, pointwise_chain, kChainDoc},
    {RuleId::K02, "kernels are too small for the device", true, small_grid, kSmallGridDoc},
    {RuleId::K03, "a kernel of the program has low occupancy", true, low_occupancy, kOccupancyDoc},
    {RuleId::K07, "attention is not fused", true, parted_attention, kAttentionDoc},
};

}  // namespace

std::span<const Rule> kernel_rules() { return kKernelRules; }

}  // namespace stepscope::advise
