import { defineConfig } from 'vitest/config';

export default defineConfig({ test: { include: ['test/{pages,moves,restart,drawn,states,areas,numbers,links,frame,report,snapshot}.ts'], testTimeout: 120_000, hookTimeout: 60_000, fileParallelism: false, maxConcurrency: 3 } });
