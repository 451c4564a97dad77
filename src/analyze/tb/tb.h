// The TensorBoard plugin's own numbers (torch_tb_profiler 0.4.3), its defects included: what `--tb-compat`
// prints. Same columns as the default analyses where both have them; docs/tb-compat.md says what differs and
// why.
//
// The plugin holds times as doubles of microseconds. Here every comparison that decides what is counted is
// made on those doubles; what is added up is integer nanoseconds.
#pragma once

#include "report/params.h"
#include "report/table.h"
#include "trace/trace.h"

namespace stepscope::analyze {

/// One row per step: kernel, memcpy, memset, communication, runtime, data_loader, cpu_exec, other, total, all
/// in ns; and the average step. A step's parts can add up to more than `total`. `--step` chooses rows, the
/// average is of all.
report::Report tb_steps(const trace::Trace& trace, const report::Params& params);

/// One row per device: utilization, sm_efficiency, occupancy, tensor_core_share, each a share of 1.
report::Report tb_devices(const trace::Trace& trace, const report::Params& params);

/// One row per operator name (`group` = name), name and input shape (shape), or name and call stack (stack).
report::Report tb_operators(const trace::Trace& trace, const report::Params& params);

/// One row per kernel name (`group` = name), or per name, op, grid, block, registers and shared memory
/// (properties).
report::Report tb_kernels(const trace::Trace& trace, const report::Params& params);

/// One row per recommendation of the plugin's overview page, in its order.
report::Report tb_recommendations(const trace::Trace& trace, const report::Params& params);

}  // namespace stepscope::analyze
