import { fork } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runLayout } from '../../src/api/run-layout.ts';
import { writeReport } from '../../src/report/write-report.ts';
import { writeStoredRun } from '../../test/support/stored-run.ts';

/** What making one report cost. */
export interface ReportBench {
  readonly trials: number;
  /** From the start of reading to the last file written; without the start of the process. */
  readonly seconds: number;
  /** Largest resident memory of the process, in bytes: the runtime and the plotting library included. */
  readonly peakBytes: number;
  readonly htmlBytes: number;
}

/** Aims of the project for 10,000 stored trials. */
export const REPORT_AIMS = { trials: 10_000, seconds: 10, peakBytes: 400_000_000 } as const;

/**
 * Writes a synthetic stored run under the system's temporary folder and makes its report in a process of its
 * own, so that memory and time are those of the report alone.
 *
 * @param trials about as many trials; three to a scenario
 */
export async function benchReport(trials: number = REPORT_AIMS.trials): Promise<ReportBench> {
  const root = await mkdtemp(join(tmpdir(), 'clawbench-bench-report-'));
  try {
    const scenarios = Math.ceil(trials / 3);
    writeStoredRun(root, { scenarios, trials: 3, seed: 1 });
    const measured = await inProcess(root);
    const { size } = await stat(runLayout(root).reportHtml);
    return { trials: scenarios * 3, ...measured, htmlBytes: size };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

interface Measured {
  readonly seconds: number;
  readonly peakBytes: number;
}

function inProcess(root: string): Promise<Measured> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), [root], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    let measured: Measured | undefined;
    child.on('message', (message: Measured) => (measured = message));
    child.on('error', reject);
    child.on('close', (code) => {
      if (measured === undefined) reject(new Error(`the report's process ended with ${String(code)}`));
      else resolve(measured);
    });
  });
}

/** The child: makes the report and tells its parent what that took. */
if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  const [root = ''] = process.argv.slice(2);
  const begin = performance.now();
  await writeReport(root);
  const seconds = (performance.now() - begin) / 1000;
  process.send({ seconds, peakBytes: process.resourceUsage().maxRSS * 1024 } satisfies Measured);
} else if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(JSON.stringify(await benchReport(Number(process.argv[2] ?? REPORT_AIMS.trials)), null, 2));
}
