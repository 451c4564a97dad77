#include "derive/roof/matrix_cores.h"

#include <algorithm>
#include <span>

#include "base/text.h"

namespace stepscope::derive {
namespace {

constexpr std::size_t kMaxKernelName = 4096;

bool has_any(std::string_view name, std::span<const std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return has(name, part); });
}

// True if `second` occurs after `first`.
bool has_in_order(std::string_view name, std::string_view first, std::string_view second) {
  const std::size_t at = name.find(first);
  return at != std::string_view::npos && name.find(second, at + first.size()) != std::string_view::npos;
}

bool digit(std::string_view name, std::size_t at) {
  return at < name.size() && name[at] >= '0' && name[at] <= '9';
}

std::size_t past_digits(std::string_view name, std::size_t at) {
  while (digit(name, at)) ++at;
  return at;
}

bool has_then_digit(std::string_view name, std::string_view part) {
  for (std::size_t at = name.find(part); at != std::string_view::npos; at = name.find(part, at + 1))
    if (digit(name, at + part.size())) return true;
  return false;
}

// True for Tensile's matrix instruction "_MI16x16x1"; "_MI0…" means that there is none.
bool has_matrix_instruction(std::string_view name) {
  constexpr std::string_view kMark = "_MI";
  for (std::size_t at = name.find(kMark); at != std::string_view::npos; at = name.find(kMark, at + 1)) {
    const std::size_t first = at + kMark.size();
    const std::size_t second = past_digits(name, first);
    if (second == first || name[first] == '0' || second >= name.size() || name[second] != 'x') continue;
    const std::size_t third = past_digits(name, second + 1);
    if (third > second + 1 && third < name.size() && name[third] == 'x' && digit(name, third + 1))
      return true;
  }
  return false;
}

// The first names are the rule as published; the last were seen in real traces.
constexpr std::string_view kNoArithmeticOnTiles[] = {"at::native",
                                                     "cub::",
                                                     "rocprim",
                                                     "thrust",
                                                     "elementwise",
                                                     "reduce",
                                                     "softmax",
                                                     "_norm",
                                                     "bn_fw",
                                                     "bn_bw",
                                                     "CatArray",
                                                     "multi_tensor_apply",
                                                     "nchwToNhwc",
                                                     "nhwcToNchw",
                                                     "batched_transpose",
                                                     "SubTensorOp",
                                                     "embedding",
                                                     "nccl",
                                                     "rccl",
                                                     "rotary",
                                                     "kvcache",
                                                     "routing",
                                                     "quantize",
                                                     "gemv",
                                                     "dot_kernel",
                                                     "splitKreduce",
                                                     "rocclr",
                                                     "Memcpy",
                                                     "Memset",
                                                     "rmsnorm",
                                                     "fp8_quant_kernel",
                                                     "act_and_mul",
                                                     "reshape_and_cache",
                                                     "ReduceSplitK",
                                                     "OffsetsKernel",
                                                     "finalizeKernel",
                                                     "CNHW2NCHW",
                                                     "NCHW2CNHW",
                                                     "im2col",
                                                     "scalePackedTensor",
                                                     "epilogue::impl::globalKernel"};

constexpr std::string_view kMmaShapes[] = {"h884",   "s884",   "h1688",  "s1688",  "16816",  "i8816",
                                           "h16832", "i16832", "s16832", "h16864", "i16864", "s16864",
                                           "d884",   "hmma",   "imma",   "dmma",   "c1688"};

constexpr std::string_view kCutlass[] = {"tensorop",         "cutlass3x_sm90_", "cutlass3x_sm100_",
                                         "cutlass3x_sm120_", "MainloopSm90",    "MainloopSm100",
                                         "MainloopSm120",    "warpspecialized", "wgmma",
                                         "MmaTensorOp",      "OpClassTensorOp", "GMMA",
                                         "tcgen05"};

constexpr std::string_view kCublas[] = {"xmma_gemm",     "xmma_fprop", "xmma_dgrad",
                                        "xmma_wgrad",    "sm80_xmma_", "sm90_xmma_",
                                        "warpgroupsize", "nvjet_",     "first_layer_wgrad_kernel",
                                        "direct_group"};

constexpr std::string_view kAttention[] = {"flash_fwd", "flash_bwd", "pytorch_flash", "fmha_cutlass",
                                           "flash_fprop"};

constexpr std::string_view kBatchedTypes[] = {"E4m3", "E2m1", "Bfloat16", "Fp16"};

constexpr std::string_view kCudaCores[] = {"implicit_convolve_sgemm", "explicit_convolve", "dgrad_engine",
                                           "wgrad_alg0_engine",       "magma_sgemm",       "gcgemm"};

constexpr std::string_view kSixteenBit[] = {"ampere_fp16_", "ampere_bf16_", "turing_fp16_",
                                            "volta_fp16_s884"};

constexpr std::string_view kComposableKernel[] = {
    "xdlops", "_xdl_", "mfma", "igemm_fwd_gtc", "igemm_bwd_gtc", "igemm_wrw_gtc", "kernel_grouped_conv",
    "wmma"};

constexpr std::string_view kAmdVector[] = {"miopenSp3AsmConv", "naive_conv", "Conv_Winograd", "gfx9_f3x2"};

// Products on plain cores, in families of names that else mean matrix units.
constexpr std::string_view kScalarProducts[] = {"_simt_", "_ffma_"};

bool is_sgemm(std::string_view name) {
  for (const std::string_view generation : {"maxwell_", "volta_", "turing_", "ampere_"})
    for (std::size_t at = name.find(generation); at != std::string_view::npos;
         at = name.find(generation, at + 1)) {
      const std::string_view rest = name.substr(at + generation.size());
      if (rest.size() > 4 && std::string_view("sdcz").find(rest[0]) != std::string_view::npos &&
          rest.substr(1, 4) == "gemm")
        return true;
    }
  return false;
}

bool is_cudnn_attention(std::string_view name) {
  return has_any(name, kAttention) || has_then_digit(name, "fmhaSm") || has_in_order(name, "cudnn", "sdpa");
}

bool is_batched_block_scaled(std::string_view name) {
  if (!name.starts_with("bmm_")) return false;
  name.remove_prefix(4);
  if (name.starts_with("Mx")) name.remove_prefix(2);
  return std::ranges::any_of(kBatchedTypes, [&](std::string_view type) { return name.starts_with(type); });
}

bool is_composable_kernel(std::string_view name) {
  if (has_any(name, kComposableKernel)) return true;
  for (const std::string_view space : {"ck::", "ck_tile"})
    for (const std::string_view work : {"gemm", "conv", "fmha"})
      if (has_in_order(name, space, work)) return true;
  return false;
}

bool is_wide(DType type) { return type == DType::float32 || type == DType::float64; }

MatrixCoreUse verdict(MatrixCores cores, Confidence confidence, int rule) {
  return {cores, confidence, rule};
}
MatrixCoreUse undecided() { return {}; }

MatrixCoreUse nvidia_rules(std::string_view name, const KernelSetting& setting) {
  using enum MatrixCores;
  const Confidence high = Confidence::high;
  if (has_any(name, kScalarProducts)) return verdict(no, high, 7);
  if (has_any(name, kMmaShapes)) return verdict(yes, high, 2);
  if (has_any(name, kCutlass)) return verdict(yes, high, 3);
  if (has_any(name, kCublas)) return verdict(yes, high, 4);
  if (is_cudnn_attention(name))
    return is_wide(setting.dtype) ? verdict(unknown, Confidence::low, 5) : verdict(yes, high, 5);
  if (is_batched_block_scaled(name)) return verdict(yes, high, 6);
  const bool cuda_cores = is_sgemm(name) || has_any(name, kCudaCores) ||
                          (has(name, "scudnn") && !has(name, "tf32")) ||
                          (has(name, "winograd") && !has(name, "tensor"));
  if (cuda_cores) return verdict(no, high, 7);
  if (has_any(name, kSixteenBit)) return verdict(yes, high, 8);
  return undecided();
}

MatrixCoreUse amd_rules(std::string_view name) {
  using enum MatrixCores;
  if (has(name, "Cijk_"))
    return has_matrix_instruction(name) ? verdict(yes, Confidence::high, 9)
                                        : verdict(no, Confidence::medium, 9);
  if (is_composable_kernel(name)) return verdict(yes, Confidence::medium, 10);
  if (has_any(name, kAmdVector)) return verdict(no, Confidence::medium, 11);
  if (has(name, "fmha_fwd") || has(name, "fmha_bwd") || has_in_order(name, "paged_attention", "mfma") ||
      has_in_order(name, "aiter", "gemm") || has_in_order(name, "aiter", "asm"))
    return verdict(yes, Confidence::medium, 12);
  return undecided();
}

MatrixCoreUse triton_rules(std::string_view name, const KernelSetting& setting) {
  using enum MatrixCores;
  for (const std::string_view kind : {"triton_poi_", "triton_red_", "triton_per_"})
    if (name.starts_with(kind)) return verdict(no, Confidence::high, 13);
  if (name.starts_with("triton_tem_") && !is_wide(setting.dtype))
    for (const std::string_view work : {"mm", "conv", "flex_attention"})
      if (has(name, work)) return verdict(yes, Confidence::low, 13);
  return undecided();
}

}  // namespace

MatrixCoreUse matrix_cores_of(std::string_view kernel_name, const KernelSetting& setting) {
  const std::string_view name = kernel_name.substr(0, kMaxKernelName);
  const bool is_template = name.starts_with("triton_tem_");  // its name lists the ops it fuses
  if (!is_template && has_any(name, kNoArithmeticOnTiles))
    return verdict(MatrixCores::no, Confidence::high, 1);
  if (setting.vendor == Vendor::nvidia && setting.compute_major > 0 && setting.compute_major < 7)
    return verdict(MatrixCores::no, Confidence::high, 1);
  if (setting.vendor != Vendor::amd) {
    const MatrixCoreUse use = nvidia_rules(name, setting);
    if (use.rule != 0) return use;
  }
  if (setting.vendor != Vendor::nvidia) {
    const MatrixCoreUse use = amd_rules(name);
    if (use.rule != 0) return use;
  }
  const MatrixCoreUse use = triton_rules(name, setting);
  return use.rule != 0 ? use : verdict(MatrixCores::unknown, Confidence::low, 14);
}

// Rules that recognise products and convolutions on plain cores.
bool is_plain_matrix_work(const MatrixCoreUse& use) {
  return use.cores == MatrixCores::no && (use.rule == 7 || use.rule == 9 || use.rule == 11);
}

bool is_double_precision(std::string_view kernel) {
  const auto has = [&](std::string_view part) { return kernel.find(part) != std::string_view::npos; };
  return has("<double") || has("dgemm") || has("d884") || (has("Cijk_") && has("_DB_"));
}

KernelSetting setting_of(const trace::Device& device) {
  KernelSetting setting;
  setting.vendor = vendor_of(device.name);
  setting.compute_major = device.compute_major;
  setting.compute_minor = device.compute_minor;
  const auto peaks = peaks_of(device.name, device.compute_major, device.compute_minor,
                              static_cast<int>(device.sm_count), static_cast<double>(device.total_memory));
  if (peaks) setting.vendor = peaks->vendor;
  return setting;
}

}  // namespace stepscope::derive
