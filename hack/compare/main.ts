/**
 * Scores made-up trials of the public benchmark with its own scorer and with ours, and compares every number.
 *
 *     node hack/compare/main.ts CHECKOUT [--python python3] [--write docs/explanation/comparison.md]
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compareDeclarative } from './declarative.ts';
import { startOurScorer } from './our-scorer.ts';
import { startPublicScorer } from './public-scorer.ts';
import { compareAllAggregates, compareAllTrials } from './run-comparison.ts';
import { comparisonPage, failures, type ComparisonResult } from './summary.ts';

/** Random scenarios of declarative checks. */
const RANDOM_SCENARIOS = 1500;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { python: { type: 'string', default: 'python3' }, write: { type: 'string' } },
});
const [checkout] = positionals;
if (checkout === undefined) {
  console.error('usage: node hack/compare/main.ts CHECKOUT [--python python3] [--write FILE]');
  process.exit(2);
}

const work = await mkdtemp(join(tmpdir(), 'clawbench-compare-'));
const theirs = startPublicScorer(values.python, checkout);
try {
  const result = await compareAll(checkout);
  console.log(comparisonPage(result));
  const failed = failures(result);
  for (const failure of failed) console.error(failure);
  if (values.write !== undefined && failed.length === 0) {
    await writeFile(values.write, comparisonPage(result));
  }
  process.exitCode = failed.length === 0 ? 0 : 1;
} finally {
  await theirs.close();
  await rm(work, { recursive: true, force: true });
}

async function compareAll(suitePath: string): Promise<ComparisonResult> {
  const { scenarios, python } = await theirs.list();
  const ours = await startOurScorer(suitePath, values.python, work);
  try {
    const trials = await compareAllTrials(scenarios, theirs, ours, work);
    return {
      python,
      scenarios,
      trials,
      aggregates: await compareAllAggregates(trials.compared, theirs),
      declarative: await compareDeclarative(RANDOM_SCENARIOS, theirs, values.python, work),
    };
  } finally {
    await ours.close();
  }
}
