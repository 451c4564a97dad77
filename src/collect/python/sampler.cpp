#include "collect/python/calls.h"
namespace stepscope::collect {
std::string sampler_start() { return "no samples yet"; }
void sampler_stop() {}
}  // namespace stepscope::collect
