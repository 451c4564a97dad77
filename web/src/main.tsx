import { render } from 'preact';
import { App } from './app.tsx';
import { isFile, start } from './state/app.ts';
import { paintPage } from './state/theme.ts';
import './style/base.css';
import './style/shell.css';
import './style/chart.css';
import './style/verdict.css';
import './style/table.css';
import './style/timeline.css';

/** In a report file, the static page is for readers without scripts, and for paper. */
function takeScreen() {
  for (const [id, media] of [['static-style', 'print'], ['live-style', 'screen']]) document.getElementById(id!)?.setAttribute('media', media!);
}

if (isFile) takeScreen();
paintPage();
start();
render(<App />, document.getElementById('page')!);
