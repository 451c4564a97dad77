// A change that a replay makes: what, by which factor.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "derive/kernel_kind.h"

namespace stepscope::analyze {

/// One "what=factor".
struct Scale {
  enum class What : std::uint8_t {
    data_loading,  ///< host time in data loaders
    sync,          ///< time in calls that wait for device work
    alloc,         ///< host time in calls that allocate or free device or pinned memory
    launch,        ///< host time in launch calls, and their way to an idle device
    compute,       ///< compute kernels
    plain_cores,   ///< of them, products and convolutions on plain cores, double precision aside
    fp64,          ///< compute kernels in double precision
    comm,          ///< collective kernels
    copy,          ///< copies and fills
    kernel,        ///< device events by their name
    kind,          ///< compute kernels by the kind of their work, as `kernels` names it
    all_host,      ///< all host ranges
    host,          ///< of them, those of a name
    loop,          ///< rounds of loops by the operators of one, and what they launch
    waiting,       ///< operators in which one of that name waits, what made their masks, and what they launch
    quiet,         ///< of them, those that launch nothing
    device,        ///< device events launched inside host ranges of a name
    op,            ///< both
    call,          ///< calls that launched device events of a name
    straggler,     ///< what others wait for a rank; 0 is the only factor
  };
  What what = What::sync;
  double factor = 1;
  std::string name = {};  ///< of kernel, kind, host, loop, waiting, quiet, device, op, call, straggler:
                          ///< exactly this one, …
  std::vector<std::string> parts = {};  ///< … or any that contains one of these
};

/// Compute kernels of these kinds.
Scale scale_kinds(std::initializer_list<derive::KernelKind> kinds, double factor);

/// As people type it: "kernel:/gemm|conv/=0.5". The factor has three digits.
std::string spelled(const Scale& scale);

struct TypedScale {
  std::string text;  ///< as typed
  Scale scale;
};
/// "data_loading=0; kernel:/gemm|conv/=0.5". The error is a sentence.
Result<std::vector<TypedScale>> parse_scales(std::string_view text);

}  // namespace stepscope::analyze
