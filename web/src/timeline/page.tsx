import type { Run } from '../data/types.ts';
export function TimelinePage({ run }: { run: Run }) { return <p>{run.name}</p>; }
