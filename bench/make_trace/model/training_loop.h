// What a training loop does around its model: sets the device up, starts workers, prepares batches, compiles,
// calls back. Each is empty when the options do not ask for it.
#pragma once

#include "make_trace/model/builder.h"
#include "make_trace/model/model.h"

namespace stepscope::make_trace {

/// Name of the range in which a batch is fetched.
const char* loader_range(const Options& o);

void set_up_device(Builder& b, const Options& o, const Vendor& v);
/// The end of an epoch is one more call of the loader, which has no batch left; then workers may start anew.
void next_epoch(Builder& b, const Options& o);
void load_batch(Builder& b, const Options& o);
void copy_batch(Builder& b, const Options& o, const Hardware& hw, const Model& model);
void preprocess(Builder& b, const Options& o);
void compile(Builder& b, const Options& o);
void call_back(Builder& b, const Options& o);

}  // namespace stepscope::make_trace
