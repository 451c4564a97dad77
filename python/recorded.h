// Recordings as torch.profiler's events and averages, column by column.
#pragma once

#include <nanobind/nanobind.h>

namespace stepscope::python {

void bind_recorded(nanobind::module_& module);

}  // namespace stepscope::python
