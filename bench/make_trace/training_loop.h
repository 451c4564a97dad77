// What a training loop does around its model: sets the device up, starts workers, prepares batches, compiles,
// calls back. Each is empty when the options do not ask for it.
#pragma once

#include "make_trace/builder.h"

namespace stepscope::make_trace {

void set_up_device(Builder& b, const Options& o, const Vendor& v);
void restart_workers(Builder& b, const Options& o);
void preprocess(Builder& b, const Options& o);
void compile(Builder& b, const Options& o);
void call_back(Builder& b, const Options& o);

}  // namespace stepscope::make_trace
