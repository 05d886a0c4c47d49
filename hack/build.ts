import { execFileSync } from 'node:child_process';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';

/*
 * Compiles the program to plain JavaScript under dist/, laid out like the sources, with everything it reads at run
 * time beside it: `node dist/src/cli/main.js` then starts without taking types off first.
 */

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');

/** Read as text at run time: programs for other processes, whose types are taken off where they are staged. */
const READ_AT_RUN_TIME = [
  'src/attempt/shim/shim.ts',
  'src/runtimes/scripted/agent.ts',
  'src/runtimes/scripted/model-call.ts',
  'src/scoring/checkers/node-runner.ts',
  'src/report/page/assets',
  'checkers',
  'scenarios',
  'package.json',
];

await rm(DIST, { recursive: true, force: true });
execFileSync(
  process.execPath,
  [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', join(ROOT, 'tsconfig.build.json')],
  {
    stdio: 'inherit',
  },
);
for (const path of READ_AT_RUN_TIME) {
  await cp(join(ROOT, path), join(DIST, path), {
    recursive: true,
    filter: (from) => !from.includes('__pycache__'),
  });
}
