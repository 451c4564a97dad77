// The list of analyses, one line each: topic, name, answer (60 characters at most, so that `stepscope list`
// fits a screen). The report shows them in this order. The file of each defines `const About NAME_about` and
// `report::Report NAME(const Derived&, const report::Params&)`.
#pragma once

#include "analyze/analyses.h"

#define STEPSCOPE_ANALYSES(ENTRY) \
  ENTRY(recording, overview, "what was recorded, and what that can prove") \
  ENTRY(step, steps, "where each step's time went, and what grew in slow steps") \
  ENTRY(idle, idle, "why each device was idle, gap by gap") \
  ENTRY(idle, ledger, "who owned each nanosecond of a device; who waited for whom") \
  ENTRY(idle, devices, "how busy each device was, and how full when busy") \
  ENTRY(step, phases, "data, forward, backward, optimizer: which takes the time") \
  ENTRY(step, input_wait, "each step's wait for data, and the device's idle time in it") \
  ENTRY(step, io, "file I/O: which files, how fast, and what waited for it") \
  ENTRY(idle, synchronizations, "calls that wait for the device: from where, at what cost") \
  ENTRY(idle, launches, "how far the host runs ahead, and what launching costs") \
  ENTRY(step, host_time, "what the main thread of a program without a device does") \
  ENTRY(code, lines, "what each line of the program costs, with its backward pass") \
  ENTRY(code, operators, "cost of each operator, and how near the roof it is") \
  ENTRY(device, kernels, "which kernels ran, how long, and how full the device was") \
  ENTRY(device, products, "matrix products: sizes, how near the roof, on which units") \
  ENTRY(device, copies, "copies: for which operator, how fast, how much is exposed") \
  ENTRY(ranks, collectives, "collectives: how large, how fast, how much is exposed") \
  ENTRY(ranks, communication, "how long ranks wait, how fast data moves, what is exposed") \
  ENTRY(ranks, stragglers, "which rank delays the others, in which part of its step") \
  ENTRY(ranks, pipeline, "which ranks are pipeline stages, and how much is bubble") \
  ENTRY(ranks, clock_alignment, "how far apart the ranks' clocks are, and how sure that is") \
  ENTRY(code, user_annotations, "the program's own ranges, and the kernels in them") \
  ENTRY(device, kernel_sequences, "kernel sequences that an operator launches repeatedly") \
  ENTRY(device, cupti_counters, "hardware counters of ranges, with kernels and operators") \
  ENTRY(step, critical_path, "the longest chain of calls and device events of a step") \
  ENTRY(code, modules, "host and device time of each nn.Module, forward and backward") \
  ENTRY(memory, module_memory, "what each nn.Module's activations hold at the memory peak") \
  ENTRY(code, call_tree, "host and device time along the nesting of host ranges") \
  ENTRY(code, python_stacks, "folded Python stacks with their time, for flame graphs") \
  ENTRY(memory, checkpointing, "what gradient checkpointing of each module would save") \
  ENTRY(memory, memory_plan, "whether a larger batch, or another optimizer, would fit") \
  ENTRY(memory, memory_events, "allocated memory over time, the peak and who held it") \
  ENTRY(memory, memory_categories, "memory for parameters, gradients, activations and so on") \
  ENTRY(memory, memory_summary, "what a memory snapshot says of each device, at its peak") \
  ENTRY(memory, memory_peak, "who held a device's memory at its peak, or at any event") \
  ENTRY(memory, memory_curve, "a device's memory over a snapshot's events") \
  ENTRY(memory, memory_diff, "what was allocated and freed between two instants") \
  ENTRY(memory, memory_segments, "the segments at the end, and what is free in each") \
  ENTRY(memory, memory_state, "an address map: what each segment holds, and its gaps") \
  ENTRY(memory, oom, "why an allocation failed, and what would have helped") \
  ENTRY(memory, fragmentation, "free memory that the allocator holds, and how split it is") \
  ENTRY(memory, leaks, "memory that grows from step to step, and who holds it") \
  ENTRY(memory, churn, "segments taken and returned in each step, and by which line") \
  ENTRY(change, whatif, "how long a step would take if something in it were faster") \
  ENTRY(recording, event, "one event, with every arg of the file")

namespace stepscope::analyze {

#define STEPSCOPE_DECLARE(topic, name, one_line) \
  report::Report name(const Derived& derived, const report::Params& params); \
  extern const About name##_about;
STEPSCOPE_ANALYSES(STEPSCOPE_DECLARE)
#undef STEPSCOPE_DECLARE

// Other tools' answers to these questions, defects included, one line each: question, name. The folders `tb`
// and `hta` define `report::Report TOOL::name(const Derived&, const report::Params&)`, and `hta` also
// `FormParams hta::name_params`. No other file of analyze includes headers of these folders.

/// Forms of the TensorBoard plugin (torch_tb_profiler 0.4.3), see docs/tb-compat.md.
#define STEPSCOPE_TB_FORMS(FORM) \
  FORM(overview, recommendations) \
  FORM(steps, steps) \
  FORM(devices, devices) \
  FORM(operators, operators) \
  FORM(kernels, kernels)

/// Forms of Holistic Trace Analysis (0.6.1), see docs/hta-compat.md.
#define STEPSCOPE_HTA_FORMS(FORM) \
  FORM(steps, temporal_breakdown) \
  FORM(idle, idle_breakdown) \
  FORM(launches, launch_stats) \
  FORM(launches, op_launches) \
  FORM(launches, queue_length) \
  FORM(kernels, kernel_breakdown) \
  FORM(copies, memory_bandwidth) \
  FORM(user_annotations, user_annotations) \
  FORM(kernel_sequences, kernel_sequences) \
  FORM(critical_path, critical_path) \
  FORM(overview, events)

namespace tb {
#define STEPSCOPE_DECLARE_FORM(question, name) \
  report::Report name(const Derived& derived, const report::Params& params);
STEPSCOPE_TB_FORMS(STEPSCOPE_DECLARE_FORM)
#undef STEPSCOPE_DECLARE_FORM
}  // namespace tb

namespace hta {
using FormParams = std::span<const report::ParamSpec>;
#define STEPSCOPE_DECLARE_FORM(question, name) \
  report::Report name(const Derived& derived, const report::Params& params); \
  extern const FormParams name##_params;
STEPSCOPE_HTA_FORMS(STEPSCOPE_DECLARE_FORM)
#undef STEPSCOPE_DECLARE_FORM
}  // namespace hta

}  // namespace stepscope::analyze
