// The pages, the key that opens each behind `g`, and the analyses that each shows.

export interface PageWords {
  id: string;
  name: string;
  key: string;
  /** The question that the page answers. */
  question: string;
  /** An icon: lines of an SVG path in a box of 16 x 16. */
  icon: string;
  analyses: readonly string[];
}

export const PAGES: readonly PageWords[] = [
  { id: 'verdict', name: 'Verdict', key: 'v', question: 'What limits a step, and what should I change?',
    icon: 'M2 8.5l4 4L14 3.5', analyses: ['overview', 'steps', 'whatif'] },
  { id: 'timeline', name: 'Timeline', key: 't', question: 'What happened when?',
    icon: 'M2 4h7M5 8h9M3 12h6', analyses: [] },
  { id: 'operators', name: 'Operators', key: 'o', question: 'Which operators cost the time?',
    icon: 'M8 2.5v11M2.5 8h11M4 4l8 8M12 4l-8 8',
    analyses: ['operators', 'phases', 'host_time', 'synchronizations', 'user_annotations', 'critical_path'] },
  { id: 'kernels', name: 'Kernels', key: 'k', question: 'What does the device do, and why does it wait?',
    icon: 'M4.5 4.5h7v7h-7zM6.5 2v2.5M9.5 2v2.5M6.5 11.5V14M9.5 11.5V14M2 6.5h2.5M2 9.5h2.5M11.5 6.5H14M11.5 9.5H14',
    analyses: ['kernels', 'products', 'copies', 'idle', 'ledger', 'devices', 'launches', 'kernel_sequences', 'cupti_counters'] },
  { id: 'modules', name: 'Modules', key: 'm', question: 'Which modules of the model cost the time?',
    icon: 'M6 2.5h4v3H6zM2 10.5h4v3H2zM10 10.5h4v3h-4zM8 5.5v2.5M4 10.5V8h8v2.5', analyses: ['modules', 'call_tree'] },
  { id: 'memory', name: 'Memory', key: 'e', question: 'What fills the memory?',
    icon: 'M2 13V9l3-3 3 4 3-6 3 3v6z',
    analyses: ['memory_events', 'module_memory', 'memory_curve', 'memory_peak', 'memory_state', 'oom', 'leaks', 'fragmentation', 'churn', 'memory_segments'] },
  { id: 'distributed', name: 'Distributed', key: 'd', question: 'Which rank delays the others, and what does communication cost?',
    icon: 'M8 8m-1.5 0a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0M8 6.5V3M6.8 9L3.5 12M9.2 9l3.3 3',
    analyses: ['stragglers', 'communication', 'collectives', 'pipeline', 'clock_alignment'] },
  { id: 'data', name: 'Data', key: 'i', question: 'Does the model wait for its input?',
    icon: 'M3 4c0-2 10-2 10 0v8c0 2-10 2-10 0zM3 4c0 2 10 2 10 0M3 8c0 2 10 2 10 0', analyses: ['input_wait', 'io'] },
  { id: 'source', name: 'Source', key: 's', question: 'Which lines of the program cost the time?',
    icon: 'M5.5 4L2 8l3.5 4M10.5 4L14 8l-3.5 4', analyses: ['lines', 'python_stacks'] },
  { id: 'diff', name: 'Diff', key: 'f', question: 'What changed between two runs?',
    icon: 'M5 2v8M2.5 7.5L5 10l2.5-2.5M11 14V6M8.5 8.5L11 6l2.5 2.5', analyses: [] },
];

export const FIRST_PAGE = 'verdict';
export const pageNamed = (id: string): PageWords => PAGES.find((page) => page.id === id) ?? PAGES[0]!;

/** The page that shows an analysis; undefined if none does. */
export const pageOf = (analysis: string) => PAGES.find((page) => page.analyses.includes(analysis));
