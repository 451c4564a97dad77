// A change that a replay makes: what is scaled, and by which factor.
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
    launch,        ///< host time in launch calls, and the delay to the start on an idle stream
    compute,       ///< compute kernels
    plain_cores,   ///< products and convolutions on plain cores, not in double precision
    fp64,          ///< compute kernels in double precision
    comm,          ///< collective kernels
    copy,          ///< copies and fills
    kernel,        ///< device events by their name
    kind,          ///< compute kernels by the kind of their work, as `kernels` names it
    all_host,      ///< all host ranges
    host,          ///< host ranges of a name
    loop,          ///< rounds of loops, named by the operators of one round, and their launches
    waiting,       ///< operators in which one of a name waits, those that make their masks, and launches
    quiet,         ///< host ranges of a name that launch nothing
    device,        ///< device events launched inside host ranges of a name
    op,            ///< host ranges of a name, and device events launched inside
    call,          ///< host time in calls that launched device events of a name
    straggler,     ///< time that others wait for a rank; 0 is the only factor
  };
  What what = What::sync;
  double factor = 1;
  std::string name = {};                ///< the exact name, for kinds of scale that have one
  std::vector<std::string> parts = {};  ///< instead of `name`: any name that contains one of these
};

/// Compute kernels of these kinds.
Scale scale_kinds(std::initializer_list<derive::KernelKind> kinds, double factor);

/// As people type it: "kernel:/gemm|conv/=0.5". The factor has three significant digits.
std::string spelled(const Scale& scale);

struct TypedScale {
  std::string text;  ///< as typed
  Scale scale;
};
/// "data_loading=0; kernel:/gemm|conv/=0.5". The error is a sentence.
Result<std::vector<TypedScale>> parse_scales(std::string_view text);

}  // namespace stepscope::analyze
