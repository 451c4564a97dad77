// The list of analyses: one line each, in the order in which people read them. Each line's file defines
// `const About NAME_about` and `report::Report NAME(const trace::Trace&, const report::Params&)`; DERIVED
// ones take `const Derived&` in place of the trace, and share through it what is dear to derive.
#pragma once

#include "analyze/analyses.h"

#define STEPSCOPE_ANALYSES(ENTRY, DERIVED) \
  DERIVED(overview, "what was recorded, and the facts that decide what it can prove") \
  DERIVED(steps, "where each step's time went, part by part, and what grew in slow steps") \
  DERIVED(idle, "why each device was idle, gap by gap") \
  DERIVED(ledger, "who owned each nanosecond of each device, and who waited for whom") \
  DERIVED(devices, "how busy each device was, and how full when busy") \
  DERIVED(input_wait, "how long each step waited for data, and how much of that the device was idle") \
  DERIVED(synchronizations, "every call that waits for the device, from where, and what the wait costs") \
  DERIVED(launches, "how far the host runs ahead of the device, and what launching costs") \
  DERIVED(host_time, "what a program without a device spends the time of its main thread on") \
  DERIVED(operators, "what each operator costs, does, and how near the device's roof it is") \
  ENTRY(kernels, "which kernels ran, for how long, and how well they fill the device") \
  DERIVED(products, "which matrix products ran, of what sizes, how near the roof and on which units") \
  DERIVED(copies, "which copies ran, for which operator, how fast, and how much of them nothing hid") \
  DERIVED(collectives, "which collectives ran, how large and how fast, and how much of them nothing hid") \
  DERIVED(communication, \
          "how long ranks wait for each other, how fast data moves, and which modules nothing hides it for") \
  DERIVED(stragglers, "which rank holds the others up, in which part of its step, and who waits") \
  DERIVED(pipeline, "which ranks are stages of a pipeline, and what of their steps is bubble") \
  DERIVED(clock_alignment, \
          "how far the ranks' clocks are apart, how well that is known, and which collectives differ") \
  DERIVED(temporal_breakdown, "how each device's time divides into compute, other work and idling") \
  DERIVED(kernel_breakdown, \
          "which kernels take the time of each type of work, with what single calls are like") \
  DERIVED(idle_breakdown, "whether the host, the device or something else kept each stream waiting") \
  DERIVED(queue_length, "how much launched work waits on each stream, over time") \
  DERIVED(memory_bandwidth, "how fast copies and fills move data, over time") \
  DERIVED(launch_stats, "each launch: how long the call and its work took, and how late that began") \
  DERIVED(user_annotations, "the program's own ranges on host and device, and which kernels ran in them") \
  DERIVED(kernel_sequences, "which sequences of kernels an operator launches again and again") \
  DERIVED(op_launches, "what operators launch, how soon, and how late that starts") \
  DERIVED(cupti_counters, "hardware counters of profiled ranges, with their kernels and operators") \
  ENTRY(critical_path, "the longest chain of calls and device events of a step") \
  DERIVED(hta_trace, "Holistic Trace Analysis' table of events, for programs that go on from it") \
  ENTRY(modules, "what each nn.Module took on the host and on the device, forward and backward") \
  ENTRY(module_memory, "what the activations of each nn.Module hold when memory is fullest") \
  ENTRY(call_tree, "where host and device time went, down the nesting of host ranges") \
  ENTRY(python_stacks, "folded Python stacks with their time, for flame graphs") \
  ENTRY(memory_events, "what the allocator held over time, the peak and who held it, what stayed") \
  DERIVED(whatif, "what a step would take if something in it were faster") \
  ENTRY(event, "all that is known of one event, every arg of the file included")

namespace stepscope::analyze {

#define STEPSCOPE_DECLARE(name, one_line) \
  report::Report name(const trace::Trace& trace, const report::Params& params); \
  extern const About name##_about;
#define STEPSCOPE_DECLARE_DERIVED(name, one_line) \
  report::Report name(const Derived& derived, const report::Params& params); \
  extern const About name##_about;
STEPSCOPE_ANALYSES(STEPSCOPE_DECLARE, STEPSCOPE_DECLARE_DERIVED)
#undef STEPSCOPE_DECLARE
#undef STEPSCOPE_DECLARE_DERIVED

/// The option of every analysis that can give the TensorBoard plugin's numbers.
inline constexpr report::ParamSpec kTbCompat = {"tb-compat", report::ParamSpec::Type::flag, "", "",
                                                "the TensorBoard plugin's own numbers, its defects included"};

}  // namespace stepscope::analyze
