// The families of rules, one source file each; rules() lists them all.
#pragma once

#include <span>

#include "advise/rules/rules.h"

namespace stepscope::advise {

std::span<const Rule> input_rules();          // I
std::span<const Rule> preparing_rules();      // I
std::span<const Rule> padding_rules();        // I
std::span<const Rule> saving_rules();         // I: files that the training process writes
std::span<const Rule> file_rules();           // I: recordings of file I/O alone
std::span<const Rule> holding_rules();        // I: files that the steps wait for
std::span<const Rule> host_rules();           // H
std::span<const Rule> step_rules();           // H, I: steps that differ from the others
std::span<const Rule> loop_rules();           // H: loops of operators and calls
std::span<const Rule> graph_rules();          // G
std::span<const Rule> cpu_rules();            // H: without a device
std::span<const Rule> own_line_rules();       // H: the program's own lines, without a device
std::span<const Rule> training_rules();       // G, H: what the recorder saw of gradients and switches
std::span<const Rule> sync_rules();           // S
std::span<const Rule> copy_rules();           // C, between host and device
std::span<const Rule> device_copy_rules();    // C, within a device
std::span<const Rule> kernel_rules();         // K
std::span<const Rule> rework_rules();         // K: convolution setup, recomputation, clock drift
std::span<const Rule> product_rules();        // K, P, of matrix products by their sizes
std::span<const Rule> precision_rules();      // P
std::span<const Rule> ddp_rules();            // N: DistributedDataParallel's own copies
std::span<const Rule> communication_rules();  // N
std::span<const Rule> rank_rules();           // N, of several ranks
std::span<const Rule> memory_rules();         // A
std::span<const Rule> snapshot_rules();       // A, of memory snapshots
std::span<const Rule> leftover_rules();       // H: what no other rule explains

}  // namespace stepscope::advise
