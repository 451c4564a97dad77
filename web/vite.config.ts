import { readFileSync } from 'node:fs';
import { defineConfig, type Plugin } from 'vite';

// The page refers to its script and style by relative names, so that it works below any path.
function page(): Plugin {
  return {
    name: 'page',
    apply: 'build',
    generateBundle() {
      const source = readFileSync(new URL('index.html', import.meta.url), 'utf8')
        .replace('/src/main.tsx', 'assets/app.js')
        .replace('<!-- style -->', '<link rel="stylesheet" href="assets/app.css">');
      this.emitFile({ type: 'asset', fileName: 'index.html', source });
    },
  };
}

export default defineConfig({
  plugins: [page()],
  build: {
    outDir: process.env.BUNDLE_DIR ?? 'bundle',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    cssCodeSplit: false,
    rolldownOptions: {
      input: 'src/main.tsx',
      output: { entryFileNames: 'app.js', assetFileNames: 'app.[ext]', codeSplitting: false },
    },
  },
  test: { include: ['src/**/*.test.ts', 'mock/**/*.test.mjs'] },
} as Parameters<typeof defineConfig>[0]);
