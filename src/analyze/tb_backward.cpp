#include "analyze/tb_tree.h"
namespace stepscope::analyze::tb {
void regroup_backward(Forest&) {}
}
