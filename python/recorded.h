// Recordings as columns of torch.profiler's events and averages.
#pragma once

#include <nanobind/nanobind.h>

namespace stepscope::python {

void bind_recorded(nanobind::module_& module);

}  // namespace stepscope::python
