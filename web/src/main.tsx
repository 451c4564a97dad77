import { render } from 'preact';
import { App } from './app.tsx';
import { start } from './state/app.ts';
import { paintPage } from './state/theme.ts';
import 'uplot/dist/uPlot.min.css';
import './style/base.css';
import './style/shell.css';
import './style/verdict.css';
import './style/table.css';
import './style/timeline.css';

paintPage();
start();
render(<App />, document.getElementById('page')!);
