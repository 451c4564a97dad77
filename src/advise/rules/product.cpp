// Rules of matrix products by their sizes and types (K04, K05, K06, P02).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advise/device_work.h"
#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/say.h"
#include "advise/see.h"

namespace stepscope::advise {
namespace {

using analyze::Product;
using derive::DType;
using report::format_value;
using report::Unit;

/// The rank's products whose sizes are recorded.
std::vector<const Product*> sized_products(const Evidence& e) {
  std::vector<const Product*> products = e.mine(e.reports().products.products, "Matrix products");
  std::erase_if(products, [](const Product* p) { return p->m <= 0; });
  return products;
}

bool is_half(const Product& p) { return p.dtype == DType::float16 || p.dtype == DType::bfloat16; }

/// M is ignored: it is mostly batch × tokens, which libraries tile freely.
bool is_misaligned(const Product& p) {
  const std::int64_t multiple = is_half(p) ? 8 : p.dtype == DType::float8 || p.dtype == DType::int8 ? 16 : 1;
  return p.n % multiple != 0 || p.k % multiple != 0;
}

/// Products with a vector are limited by memory, whatever computes them.
bool has_vector(const Product& p) { return std::min(p.m, p.n) < 8; }

/// Share of the device that the last round of tiles fills. 0 if the rounds are full, if there is at most one,
/// or if there are so many that the last one matters little.
double last_wave(const Product& p) {
  return p.waves > 1 && p.waves < kMaxWaves ? p.waves - std::floor(p.waves) : 0;
}

std::string text_of(const Product& p) {
  std::string text = fmt::format("{} {}×{}×{}", p.op, p.m, p.n, p.k);
  if (p.dtype != DType::unknown) text += fmt::format(" in {}", name_of(p.dtype));
  return text;
}

/// Median rate of aligned products of that type, FLOP/s; 0 when there is none.
double aligned_rate(const std::vector<const Product*>& products, DType dtype) {
  std::vector<double> rates;
  for (const Product* p : products)
    if (p->dtype == dtype && !is_misaligned(*p) && !has_vector(*p) && p->flop_rate > 0)
      rates.push_back(p->flop_rate);
  if (rates.empty()) return 0;
  std::sort(rates.begin(), rates.end());
  return rates[rates.size() / 2];
}

/// Whether a nearly empty last round of tiles may explain why it is slower than the best product of its type.
bool is_quantised(const std::vector<const Product*>& products, const Product& p) {
  double best = 0;
  for (const Product* other : products)
    if (other->dtype == p.dtype) best = std::max(best, other->flop_rate);
  return last_wave(p) > 0 && last_wave(p) < kEmptyWave && p.flop_rate > 0 &&
         p.flop_rate < kSlowProduct * best;
}

constexpr std::string_view kAlignedDoc =
    R"(Looks for products (`products`) whose N or K is not a multiple of 8 in half precision, or 16 in fp8 and int8,
together `kProductShare` of compute time. M is ignored: it is mostly batch × tokens. Saving: 0 to what the
median rate of the recording's aligned products of that type would save; unknown without such products. Needs
record_shapes=True. Silent when the host limits, and for products with a vector.)";

std::optional<Claim> misaligned_products(const Evidence& e, Bound bound) {
  const std::vector<const Product*> products = sized_products(e);
  double share = 0, saved = 0;
  std::int64_t calls = 0;
  const Product* top = nullptr;
  for (const Product* p : products) {
    if (!is_misaligned(*p) || has_vector(*p)) continue;
    if (top == nullptr) top = p;
    share += p->share;
    calls += p->calls;
    if (const double rate = aligned_rate(products, p->dtype); rate > 0)
      saved += p->share * std::max(0.0, 1 - p->flop_rate / rate);
  }
  if (bound == Bound::host || top == nullptr || !(share >= kProductShare)) return std::nullopt;
  Claim f = claim(
      e, RuleId::K04,
      fmt::format("{} products with sizes that are not multiples of 8 take {} of kernel time, most of it {}",
                  format_value(calls, Unit::count), percent(share), text_of(*top)));
  if (saved > 0) save(f, compute_time(e, saved), 0, 1);
  f.shortens_kernels = true;
  f.confidence = Confidence::low;
  f.because =
      "libraries have kernels for odd sizes too; the comparison is with aligned products in this recording";
  f.evidence = {see::products("m, n, k, flop_rate")};
  f.remedy =
      "Pad the vocabulary or hidden size, e.g. 50257 to 50304 (pad_to_multiple_of=64 of "
      "resize_token_embeddings() in Transformers).";
  f.verify = "products: n and k are multiples of 8, or better of 64.";
  f.effort = Effort::code;
  return f;
}

constexpr std::string_view kWaveDoc =
    R"(Looks for one product (`products`) with `kFarProductShare` of compute time that reaches less than
`kSlowProduct` of the best rate of a product of its type, and whose tiles fill more than one and fewer than
`kMaxWaves` rounds of the device's multiprocessors (`waves`), the last to less than `kEmptyWave`. Saving: 0 to
the empty part of the rounds. Needs record_shapes=True and a tile in the kernel's name. Silent below one round
(K02), for split-k, stream-k and persistent kernels, whose grid is not one block per tile, and when the host
limits.)";

std::optional<Claim> wave_quantisation(const Evidence& e, Bound bound) {
  if (bound == Bound::host) return std::nullopt;
  const std::vector<const Product*> products = sized_products(e);
  for (const Product* of : products) {
    const Product& p = *of;
    if (!(p.share >= kFarProductShare) || !is_quantised(products, p)) continue;
    Claim f =
        claim(e, RuleId::K05,
              fmt::format("{} fills {:.2f} waves of the device's multiprocessors, the last one only to {}",
                          text_of(p), p.waves, percent(last_wave(p))));
    save(f, compute_time(e, p.share), 0, 1 - p.waves / std::ceil(p.waves));
    f.shortens_kernels = true;
    f.confidence = Confidence::low;
    f.because = "its tiles follow from the kernel's name and the recorded sizes";
    f.evidence = {see::products("waves, flop_rate")};
    f.remedy =
        "Nudge the batch or the hidden size so that tiles fill whole waves; "
        "torch.compile(mode=\"max-autotune\"), "
        "which tries other tile sizes<<.||; PYTORCH_TUNABLEOP_ENABLED=1 tries all of hipBLASLt's "
        "kernels.||; "
        "on ROCm PYTORCH_TUNABLEOP_ENABLED=1 tries all of hipBLASLt's kernels.>>";
    f.verify = "products: waves just below a whole number, or a higher flop_rate.";
    f.effort = Effort::code;
    return f;
  }
  return std::nullopt;
}

constexpr std::string_view kRoofDoc =
    R"(Looks for one product (`products`) with at least `kFarProductShare` of compute time and `kMinProducts`
calls of 20 µs or more that reaches less than `kFarFromRoof` of what the device's peak rate and memory
bandwidth allow. Saving: what it gains at `kNearRoofLeast` to `kNearRoofMost` of the roof. Silent for small
grids (K02), odd sizes (K04), an empty last round of tiles (K05), products on plain cores (P01, P02), shares
above 1 (a wrong peak), and when the host limits.)";

std::optional<Claim> far_from_roof(const Evidence& e, Bound bound) {
  if (bound == Bound::host) return std::nullopt;
  const std::vector<const Product*> products = sized_products(e);
  for (const Product* of : products) {
    const Product& p = *of;
    const bool fits = p.share >= kFarProductShare && p.calls >= kMinProducts &&
                      p.time >= kShortKernel * p.calls && p.share_of_roof > 0 &&
                      p.share_of_roof < kFarFromRoof;
    if (!fits || is_misaligned(p) || is_quantised(products, p) || p.plain_cores > kMaxOfProduct ||
        p.small_grid > kMaxOfProduct)
      continue;
    Claim f = claim(e, RuleId::K06,
                    fmt::format("{} reaches {} of the device's roof and takes {} of kernel time", text_of(p),
                                percent(p.share_of_roof), percent(p.share)));
    save(f, compute_time(e, p.share), 1 - p.share_of_roof / kNearRoofLeast,
         1 - p.share_of_roof / kNearRoofMost);
    f.shortens_kernels = true;
    f.confidence = Confidence::medium;
    f.because = "its FLOPs and bytes follow from the recorded sizes";
    f.evidence = {see::products("share_of_roof")};
    f.remedy =
        "torch.compile(mode=\"max-autotune\"), <<a newer cuBLAS||PYTORCH_TUNABLEOP_ENABLED=1||a newer "
        "cuBLAS; on ROCm "
        "PYTORCH_TUNABLEOP_ENABLED=1>>; "
        "transposed operands made contiguous once.";
    f.verify = "products: share_of_roof above 0.6.";
    f.effort = Effort::code;
    return f;
  }
  return std::nullopt;
}

constexpr std::string_view kUnitsDoc =
    R"(Looks for products (`products`) in half precision whose kernels are known to use plain cores, together
`kProductShare` of compute time. Products with a vector are ignored: memory limits them. Saving:
`kOnUnitsLeast` to `kOnUnitsMost` times as fast. Needs record_shapes=True. Silent when the host limits.)";

std::optional<Claim> half_on_plain_cores(const Evidence& e, Bound bound) {
  double share = 0;
  std::string top;
  for (const Product* p : sized_products(e)) {
    if (!is_half(*p) || has_vector(*p) || !(p->plain_cores > kMaxOfProduct)) continue;
    if (top.empty()) top = text_of(*p);
    share += p->share;
  }
  if (bound == Bound::host || share < kProductShare) return std::nullopt;
  Claim f =
      claim(e, RuleId::P02,
            fmt::format("{} of kernel time goes into half-precision products on plain cores, most of it {}",
                        percent(share), top));
  save(f, compute_time(e, share), 1 - 1 / kOnUnitsLeast, 1 - 1 / kOnUnitsMost);
  f.shortens_kernels = true;
  f.confidence = Confidence::low;
  f.because = "kernel names show it";
  f.evidence = {see::products("plain_core_share")};
  f.remedy = "Make N and K multiples of 8 and the operands contiguous along K; a newer library otherwise.";
  f.verify = "products: matrix_unit_share near 1.";
  f.effort = Effort::code;
  return f;
}

constexpr Rule kProductRules[] = {
    {RuleId::K04, "product sizes do not fit matrix units", true, misaligned_products, kAlignedDoc},
    {RuleId::K05, "the last round of a product's tiles is nearly empty", true, wave_quantisation, kWaveDoc},
    {RuleId::K06, "a product runs far below the device's roof", true, far_from_roof, kRoofDoc},
    {RuleId::P02, "half precision on plain cores", true, half_on_plain_cores, kUnitsDoc},
};

}  // namespace

std::span<const Rule> product_rules() { return kProductRules; }

}  // namespace stepscope::advise
