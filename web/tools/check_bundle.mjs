// Fails if `bundle/` is not what the sources build, or is too large.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const MAX_GZIP = 100 * 1024;
const FILES = ['index.html', 'app.js', 'app.css'];

const built = mkdtempSync(join(tmpdir(), 'bundle-'));
try {
  execFileSync('npx', ['vite', 'build', '--logLevel', 'error'], { env: { ...process.env, BUNDLE_DIR: built }, stdio: 'inherit' });
  const stale = FILES.filter((name) => !readFileSync(join(built, name)).equals(readFileSync(join('bundle', name))));
  if (stale.length > 0) throw new Error(`bundle/ is not what the sources build: ${stale.join(', ')}. Run \`npm run build\` and commit.`);
  for (const name of ['app.js', 'app.css']) { // they stand in the page of a report file
    const ends = /<\/(script|style)|<!--/i.exec(readFileSync(join('bundle', name), 'utf8'));
    if (ends !== null) throw new Error(`${name} holds ${ends[0]}, which would end it in a report file.`);
  }
  const size = FILES.reduce((sum, name) => sum + gzipSync(readFileSync(join(built, name))).length, 0);
  if (size > MAX_GZIP) throw new Error(`The page is ${size} bytes with gzip; at most ${MAX_GZIP} are allowed.`);
  console.log(`bundle/ is up to date: ${size} bytes with gzip`);
} finally {
  rmSync(built, { recursive: true });
}
