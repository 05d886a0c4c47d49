import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TrialScore } from '../../src/api/score.ts';
import { aggregateRun } from '../../src/scoring/aggregate/aggregate-run.ts';
import type { TrialRow } from '../../src/scoring/aggregate/rows.ts';
import { casesOf, type CaseSource, type ComparedCase } from './cases.ts';
import { compareAggregates, compareTrial, type Difference } from './comparison.ts';
import type { OurScorer } from './our-scorer.ts';
import type { PublicScenario, PublicScore, PublicScorer } from './public-scorer.ts';

/** One trial that both scorers graded. */
export interface ComparedTrial {
  readonly scenario: PublicScenario;
  readonly case: ComparedCase;
  readonly theirs: PublicScore;
  readonly ours: TrialScore;
}

export interface TrialComparison {
  readonly compared: readonly ComparedTrial[];
  readonly differences: readonly Difference[];
  /** The checker threw: an exception of the public scorer, a scoring error of ours. */
  readonly bothFailed: readonly string[];
  /** Scenarios whose checker started a live agent's command in some case: nothing of them is compared. */
  readonly live: readonly string[];
}

/** Grades every case of every scenario twice, each time on a fresh copy of its workspace. */
export async function compareAllTrials(
  scenarios: readonly PublicScenario[],
  theirs: PublicScorer,
  ours: OurScorer,
  work: string,
): Promise<TrialComparison> {
  const compared: ComparedTrial[] = [];
  const differences: Difference[] = [];
  const bothFailed: string[] = [];
  const live: string[] = [];
  for (const scenario of scenarios) {
    const folder = join(work, scenario.id);
    const outcome = await compareScenario(scenario, theirs, ours, folder);
    await rm(folder, { recursive: true });
    if (outcome.live) {
      live.push(scenario.id);
      continue;
    }
    compared.push(...outcome.compared);
    differences.push(...outcome.differences);
    bothFailed.push(...outcome.bothFailed);
  }
  return { compared, differences, bothFailed, live };
}

async function compareScenario(
  scenario: PublicScenario,
  theirs: PublicScorer,
  ours: OurScorer,
  folder: string,
): Promise<Omit<TrialComparison, 'live'> & { readonly live: boolean }> {
  const initial = join(folder, 'initial');
  await mkdir(initial, { recursive: true });
  await theirs.prepare(scenario.id, initial);
  const differences = await compareFolders(scenario.id, initial, ours.initialWorkspace(scenario.id));
  const source: CaseSource = {
    scenario,
    material: await theirs.material(scenario.id),
    inputs: await textFiles(initial),
  };
  const compared: ComparedTrial[] = [];
  const bothFailed: string[] = [];
  let live = false;
  for (const [index, trial] of casesOf(source).entries()) {
    const place = `${scenario.id}, ${trial.name}`;
    const forThem = join(folder, `${index}-theirs`);
    const forUs = join(folder, `${index}-ours`);
    await Promise.all([makeWorkspace(initial, forThem, trial), makeWorkspace(initial, forUs, trial)]);
    const theirAnswer = await theirs.score(scenario.id, forThem, trial.trace, trial.execution);
    const ourAnswer = await ours.score(scenario.id, forUs, trial.trace, trial.execution);
    live ||= theirAnswer.launched.some((command) => /(^|\/)openclaw$/.test(command));
    if ('error' in theirAnswer) {
      if ('error' in ourAnswer) bothFailed.push(`${place}: ${theirAnswer.error}`);
      else differences.push({ place, theirs: theirAnswer.error, ours: 'a score' });
    } else if ('error' in ourAnswer) {
      differences.push({ place, theirs: 'a score', ours: ourAnswer.error });
    } else {
      compared.push({ scenario, case: trial, theirs: theirAnswer, ours: ourAnswer });
      differences.push(...compareTrial(place, theirAnswer, ourAnswer));
    }
  }
  return { compared, differences, bothFailed, live };
}

async function makeWorkspace(initial: string, target: string, trial: ComparedCase): Promise<void> {
  await cp(initial, target, { recursive: true, preserveTimestamps: true });
  for (const { path, content } of trial.writes) {
    await mkdir(dirname(join(target, path)), { recursive: true });
    await writeFile(join(target, path), content);
  }
  for (const path of trial.deletes) await rm(join(target, path), { force: true });
}

/** The initial workspace is the same, file by file. */
async function compareFolders(scenario: string, theirs: string, ours: string): Promise<Difference[]> {
  const [left, right] = await Promise.all([textFiles(theirs), textFiles(ours)]);
  const same = JSON.stringify(left) === JSON.stringify(right);
  const names = (files: CaseSource['inputs']) => files.map(({ path }) => path).join(' ');
  return same ? [] : [{ place: `${scenario}, initial workspace`, theirs: names(left), ours: names(right) }];
}

async function textFiles(root: string): Promise<CaseSource['inputs']> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();
  return Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(root, path), 'utf8') })));
}

export interface AggregateComparison {
  readonly runs: number;
  readonly numbers: number;
  readonly differences: readonly Difference[];
}

/** Which three cases of a scenario stand for the trials of a run. */
const TRIPLES = [
  [0, 1, 2],
  [3, 4, 5],
  [3, 3, 6],
  [2, 4, 6],
  [4, 4, 4],
] as const;

/** Makes whole runs of three trials a scenario out of what was graded, and compares their aggregates. */
export async function compareAllAggregates(
  compared: readonly ComparedTrial[],
  theirs: PublicScorer,
): Promise<AggregateComparison> {
  const differences: Difference[] = [];
  let numbers = 0;
  let runs = 0;
  const byScenario = Map.groupBy(compared, (trial) => trial.scenario.id);
  const selections = [
    { name: 'all scenarios', of: (): boolean => true },
    { name: 'active scenarios', of: (scenario: PublicScenario) => scenario.status === 'active' },
    {
      name: 'two dimensions',
      of: ({ dimension }: PublicScenario) => ['safety', 'planning'].includes(dimension),
    },
  ];
  for (const selection of selections) {
    for (const triple of TRIPLES) {
      const rows = [...byScenario.values()]
        .map((trials) => triple.map((index) => trials[index]).filter((trial) => trial !== undefined))
        .filter(
          ([first, ...rest]) => rest.length === 2 && first !== undefined && selection.of(first.scenario),
        );
      const answer = await theirs.aggregate(
        3,
        rows.map((trials) => ({
          scenario: trials[0]?.scenario.id ?? '',
          trials: trials.map((trial) => ({ ...trial.theirs, checks: [], execution: trial.case.execution })),
        })),
      );
      const own = aggregateRun({
        scenarios: rows.flatMap((trials) => trials.slice(0, 1).map(({ scenario }) => scenario)),
        trialsPerScenario: 3,
        trials: rows.flatMap((trials) => trials.map(rowOf)),
        partial: false,
      });
      const result = compareAggregates(`${selection.name}, cases ${triple.join(' ')}`, answer, own);
      differences.push(...result.differences);
      numbers += result.count;
      runs += 1;
    }
  }
  return { runs, numbers, differences };
}

function rowOf(trial: ComparedTrial, index: number): TrialRow {
  return {
    scenarioId: trial.scenario.id,
    trialNumber: index + 1,
    execution: trial.case.execution,
    class: trial.case.execution === 'success' ? null : 'agent',
    outcome: trial.ours.outcome,
    score: trial.ours,
    rerun: false,
  };
}
