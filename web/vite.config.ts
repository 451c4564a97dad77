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

// What no chart here uses of uPlot: axes of dates, logarithms, its own lines, bars and points (figures/paths draws those), bands between lines, cursors
// that several charts share, joining of tables. Their bodies are left out; what only they call goes, too.
const UNUSED = ['fmtDate', 'tzDate', 'timeAxisStamps', 'timeAxisVals', 'timeAxisVal', 'timeSeriesStamp', 'timeSeriesVal', 'monotoneCubic', 'rangeLog',
  'rangeAsinh', 'logAxisSplits', 'asinhAxisSplits', 'log10AxisValsFilt', 'log2AxisValsFilt', 'snapLogY', 'snapAsinhY', 'clampScale', 'join', 'linear', 'stepped', 'bars',
  'points', 'orient', 'setDefaults2', 'addSeries', 'delSeries', 'setBand', 'pubSync', 'pub'];
const EMPTY: Record<string, string> = {
  ...Object.fromEntries(UNUSED.map((name) => [name, ''])), genTimeStuffs: 'return [[], [], noop];', _sync: 'return { sub: noop, unsub: noop };' };

function lean(): Plugin {
  return {
    name: 'lean',
    apply: 'build',
    transform(code, id) {
      if (!id.endsWith('uPlot.esm.js')) return undefined;
      return Object.entries(EMPTY).reduce((text, [name, body]) => {
        const found = new RegExp(`^((\t?)function ${name}\\([^\n]*\\) \\{\n)[^]*?^\\2\\}`, 'm');
        if (!found.test(text)) throw new Error(`uPlot has no function ${name}.`);
        return text.replace(found, `$1${body}}`);
      }, code);
    },
  };
}

export default defineConfig({
  plugins: [page(), lean()],
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
