// Tables for Python: Arrow's capsules, numpy views of number columns, lists.
#pragma once

#include <nanobind/nanobind.h>

#include "python/objects.h"

namespace stepscope::python {

void bind_table(nanobind::module_& module);

}  // namespace stepscope::python
