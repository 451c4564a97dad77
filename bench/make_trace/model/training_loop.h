// The parts of a training loop around its model: set up the device, start workers, prepare batches, compile,
// call back. Each is empty unless the options ask for it.
#pragma once

#include "make_trace/model/builder.h"
#include "make_trace/model/model.h"

namespace stepscope::make_trace {

/// Name of the range in which a batch is fetched.
const char* loader_range(const Options& o);

void set_up_device(Builder& b, const Options& o, const Vendor& v);
/// At the end of an epoch the loader is called once more and has no batch left; then workers may restart.
void next_epoch(Builder& b, const Options& o);
void load_batch(Builder& b, const Options& o);
void copy_batch(Builder& b, const Options& o, const Hardware& hw, const Model& model);
void preprocess(Builder& b, const Options& o);
void compile(Builder& b, const Options& o);
void call_back(Builder& b, const Options& o);

}  // namespace stepscope::make_trace
