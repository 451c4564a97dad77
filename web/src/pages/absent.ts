// What an analysis says when a recording holds nothing for it, and how to record it. The notes of a report, where it has any, say it more exactly.

export interface Absent { fact: string; remedy: string }

const DEVICE: Absent = { fact: 'No device work is recorded.', remedy: 'Record with ProfilerActivity.CUDA (or XPU) and CPU, or with `stepscope record`.' };
const CPU = 'Record with ProfilerActivity.CPU, or with `stepscope record`.';
const STACKS = 'Record with with_stack=True, or with `stepscope record --stacks calls`.';
const MEMORY = 'Record with profile_memory=True, or with `stepscope record --memory`.';
const RANKS = 'Open the folder that holds the files of all ranks.';

const ABSENT: Record<string, Absent> = {
  operators: { fact: 'No operator is recorded.', remedy: CPU },
  phases: { fact: 'No phase of a training step is recorded.', remedy: CPU },
  host_time: { fact: 'This question is for programs without a device.', remedy: 'With one, the page Kernels says why the device is idle.' },
  synchronizations: { fact: 'No call that waits for a device is recorded.', remedy: '' },
  user_annotations: { fact: 'The program has no ranges of its own.', remedy: 'Mark parts of it with torch.profiler.record_function("name").' },
  critical_path: { fact: 'There is no path to follow: neither operators nor device work are recorded.', remedy: CPU },
  kernels: DEVICE, idle: DEVICE, ledger: DEVICE, devices: DEVICE, launches: DEVICE,
  copies: { fact: 'No copy is recorded.', remedy: DEVICE.remedy },
  products: { fact: 'No matrix product ran on a device.', remedy: DEVICE.remedy },
  kernel_sequences: { fact: 'No operator launched the same sequence of kernels again and again.', remedy: '' },
  cupti_counters: { fact: 'No hardware counter is recorded.', remedy: 'Turn on CUPTI\'s range profiler: experimental_config with profiler_metrics.' },
  modules: { fact: 'No module of the model is recorded.', remedy: STACKS },
  call_tree: { fact: 'No range of the host is recorded.', remedy: CPU },
  memory_events: { fact: 'No memory event is recorded.', remedy: MEMORY },
  module_memory: { fact: 'No memory event of a module is recorded.', remedy: `${MEMORY} ${STACKS}` },
  memory_peak: { fact: 'No memory was held.', remedy: '' },
  memory_state: { fact: 'No segment is known.', remedy: '' },
  leaks: { fact: 'No memory is seen to grow from step to step.', remedy: '' },
  oom: { fact: 'Allocations that failed.', remedy: '' },
  memory_curve: { fact: 'No memory snapshot is open.', remedy: '' },
  fragmentation: { fact: 'Free memory that the allocator holds.', remedy: '' },
  churn: { fact: 'Segments taken from the device and returned, step by step.', remedy: '' },
  memory_segments: { fact: 'Segments at the end, and what is free in each.', remedy: '' },
  stragglers: { fact: 'There is no other rank to compare with.', remedy: RANKS },
  communication: { fact: 'No communication between ranks is recorded.', remedy: RANKS },
  collectives: { fact: 'No collective ran on a device.', remedy: '' },
  pipeline: { fact: 'No pipeline was found.', remedy: RANKS },
  clock_alignment: { fact: 'There is no other clock to align with.', remedy: RANKS },
  input_wait: { fact: 'No wait for data is recorded.', remedy: 'A torch DataLoader marks its waits; mark other loaders with record_function("enumerate(DataLoader)#mine").' },
  io: { fact: 'No file I/O is recorded.', remedy: 'Record with `stepscope record --io`.' },
  lines: { fact: 'No line of the program is recorded.', remedy: STACKS },
  python_stacks: { fact: 'No Python stack is recorded.', remedy: STACKS },
  steps: { fact: 'No step is recorded.', remedy: 'Call prof.step() after each one, or record with `stepscope record`.' },
  whatif: { fact: 'The recording cannot be replayed.', remedy: DEVICE.remedy },
  overview: { fact: 'The recording holds no time to analyse.', remedy: CPU },
};

export const absent = (analysis: string): Absent => ABSENT[analysis] ?? { fact: 'The recording holds nothing for this.', remedy: '' };
