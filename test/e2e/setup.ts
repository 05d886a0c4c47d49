import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { CHECKOUT } from '../support/cli.ts';

/**
 * Brings the development cluster up and installs the chart of this checkout. The cluster is left running: the next
 * tests find it warm, and `npm run devcluster -- down` ends it.
 */
export default async function setup(): Promise<void> {
  await devcluster('up');
  await devcluster('load', 'clawbench-scripted');
  await devcluster('install');
}

async function devcluster(...args: string[]): Promise<void> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', join(CHECKOUT, 'hack/devcluster/main.ts'), ...args],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`npm run devcluster -- ${args.join(' ')} ended with code ${String(code)}`);
}
