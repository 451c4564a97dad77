import { readFileSync } from 'node:fs';
import { defineConfig, type Plugin } from 'vite';

// The server's header asks for the same; behind a proxy that drops it, the page still does.
const TRUSTED_TYPES = '<meta http-equiv="Content-Security-Policy" content="require-trusted-types-for \'script\'">';

// The page refers to its script and style by relative names, so that it works below any path.
function page(): Plugin {
  return {
    name: 'page',
    apply: 'build',
    generateBundle() {
      const source = readFileSync(new URL('index.html', import.meta.url), 'utf8')
        .replace('/src/main.tsx', 'assets/app.js')
        .replace('<!-- style -->', `${TRUSTED_TYPES}\n    <link rel="stylesheet" href="assets/app.css">`);
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
