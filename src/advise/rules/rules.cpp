#include "advise/rules/rules.h"

#include "advise/rules/families.h"

namespace stepscope::advise {

std::span<const Rule> rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> out;
    for (const std::span<const Rule> family :
         {input_rules(),       preparing_rules(),     padding_rules(),   saving_rules(), file_rules(),
          holding_rules(),     host_rules(),          step_rules(),      loop_rules(),   graph_rules(),
          cpu_rules(),         own_line_rules(),      training_rules(),  sync_rules(),   copy_rules(),
          device_copy_rules(), product_rules(),       precision_rules(), kernel_rules(), rework_rules(),
          ddp_rules(),         communication_rules(), rank_rules(),      memory_rules(), snapshot_rules(),
          leftover_rules()})
      out.insert(out.end(), family.begin(), family.end());
    return out;
  }();
  return all;
}

}  // namespace stepscope::advise
