"""The TensorBoard plugin's numbers of a trace as JSON: what test/tb_golden_test.cpp compares with.

    plugin_numbers.py FILE        under the Python that bench/peer_setup.py prepares
"""
import contextlib
import io
import json
import sys
import tempfile

from torch_tb_profiler.profiler.data import RunProfileData
from torch_tb_profiler.profiler.run_generator import RunGenerator

TOP = 10
OP = {"name": "name", "calls": "calls", "host": "host_duration", "host_self": "self_host_duration", "device": "device_duration",
      "device_self": "self_device_duration", "tc_eligible": "tc_eligible", "tc_self_ratio": "tc_self_ratio",
      "tc_total_ratio": "tc_total_ratio"}


def plain(value):
    value = value.item() if hasattr(value, "item") else value
    return round(value, 6) if isinstance(value, float) else value


def by_device(values, used):
    return {str(device): plain(values[device]) for device in used if values[device] is not None}


def numbers(path):
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        data = RunProfileData.parse("worker0", None, path, folder)
        RunGenerator("worker0", None, data).generate_run_profile()
    gpu = data.gpu_metrics_parser
    used = sorted(gpu.gpu_ids)
    ops = [{ours: plain(getattr(op, theirs)) for ours, theirs in OP.items()} for op in data.op_list_groupby_name]
    kernels = [] if data.kernel_stat is None else [
        {"name": name, **{column: plain(row[column]) for column in data.kernel_stat.columns}}
        for name, row in data.kernel_stat.iterrows()]
    return {
        "steps": {name: [plain(cost) for cost in step.costs] for name, step in zip(data.steps_names, data.steps_costs)},
        "average": [plain(cost) for cost in data.avg_costs.costs],
        "use_ddp": bool(data.use_ddp), "use_dp": bool(data.use_dp), "gpu_ids": used,
        "gpu_utilization": by_device(gpu.gpu_utilization, used),
        "sm_efficiency": by_device(gpu.avg_approximated_sm_efficiency_per_device, used),
        "occupancy": by_device(gpu.avg_occupancy_per_device, used),
        "tensor_core_ratio": {str(device): plain(ratio) for device, ratio in data.tc_ratio.items()}
        if isinstance(data.tc_ratio, dict) else by_device(data.tc_ratio, used),
        "tensor_core_eligible_kernel_ratio": plain(data.tc_eligible_ops_kernel_ratio),
        "tensor_core_used_ratio": plain(data.tc_used_ratio),
        "recommendations": len(data.recommendations),
        "operators": {"rows": len(ops),
                      "sums": {key: plain(float(sum(op[key] for op in ops))) if key != "calls" else sum(op[key] for op in ops)
                               for key in ("calls", "host", "host_self", "device", "device_self")},
                      "top": sorted(ops, key=lambda op: (-op["device_self"], -op["host_self"]))[:TOP]},
        "kernels": {"rows": len(kernels), "top": sorted(kernels, key=lambda kernel: -kernel["sum"])[:TOP]},
    }


def main():
    with contextlib.redirect_stderr(io.StringIO()):
        found = numbers(sys.argv[1])
    print("{" + ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in found.items()) + "}")


main()
