import type { TrialRow } from '../api/report.ts';
import { InvalidInputError } from '../api/errors.ts';
import { didYouMean } from '../files/suggest.ts';
import type { ChangedFiles } from './changed-files.ts';
import { openRun, readTrial, storedTrials, type StoredRun } from './read-run.ts';
import { trialRow } from './rows.ts';
import { textTable, wrapped } from './text-table.ts';
import type { TranscriptExcerpt } from './transcript-excerpt.ts';
import { readTrialDetail, SHOW_LIMITS, type TrialDetail } from './trial-detail.ts';
import { visibleText } from './visible-text.ts';
import { OUTCOME_LABELS, plural } from './words.ts';

/** Columns of a plain terminal. */
const WIDTH = 80;

/** Which trials `clawbench show` is asked for. */
export interface TrialQuery {
  readonly scenarioId: string;
  /** null: all trials of the scenario. */
  readonly trial: number | null;
}

/**
 * Understands `SCENARIO` and `SCENARIO/n`.
 *
 * @throws InvalidInputError when the run has no such scenario or trial
 */
export function parseTrialQuery(text: string, stored: StoredRun): TrialQuery {
  const ids = stored.index.scenarios.map((entry) => entry.id);
  if (ids.includes(text)) return { scenarioId: text, trial: null };
  const [, scenarioId = text, number] = /^(.*)\/(\d+)$/.exec(text) ?? [];
  if (!ids.includes(scenarioId)) {
    const remedy = didYouMean(scenarioId, ids) ?? 'clawbench show DIR lists what it has';
    throw new InvalidInputError({ message: `the run has no scenario ${JSON.stringify(scenarioId)}`, remedy });
  }
  const trial = Number(number);
  if (trial < 1 || trial > stored.spec.trialsPerScenario) {
    throw new InvalidInputError({
      message: `the run has no trial ${trial} of ${scenarioId}`,
      remedy: `Give a number from 1 to ${stored.spec.trialsPerScenario}`,
    });
  }
  return { scenarioId, trial };
}

/** Rows of all trials, or of those that did not pass. */
export async function listTrials(root: string, failedOnly: boolean): Promise<TrialRow[]> {
  const rows: TrialRow[] = [];
  for await (const trial of storedTrials(await openRun(root))) {
    const row = trialRow(trial);
    if (row !== null && !(failedOnly && row.passed)) rows.push(row);
  }
  return rows;
}

/**
 * What explains the trials that were asked for, in the order of their numbers. Trials that were never planned
 * are left out.
 *
 * @throws InvalidInputError when the folder, scenario or trial is not there
 */
export async function showTrials(root: string, query: string, failedOnly: boolean): Promise<TrialDetail[]> {
  const stored = await openRun(root);
  const { scenarioId, trial } = parseTrialQuery(query, stored);
  const entry = stored.index.scenarios.find(({ id }) => id === scenarioId);
  if (entry === undefined) return [];
  const numbers =
    trial === null ? Array.from({ length: stored.spec.trialsPerScenario }, (_, i) => i + 1) : [trial];
  const details: TrialDetail[] = [];
  for (const number of numbers) {
    const detail = await readTrialDetail(stored, await readTrial(stored, entry, number), SHOW_LIMITS);
    if (detail !== null && !(failedOnly && detail.row.passed)) details.push(detail);
  }
  return details;
}

/** A table of trials, one a line, for a terminal of 80 columns. */
export function trialList(rows: readonly TrialRow[]): string {
  if (rows.length === 0) return 'No trial to show.';
  return textTable(
    [
      { title: 'trial', max: 36 },
      { title: 'outcome', max: 17 },
      { title: 'score', align: 'right' },
      { title: 'why', max: 15 },
    ],
    rows.map((row) => [
      `${row.scenario_id}/${row.trial}`,
      row.outcome === null ? 'not ended' : OUTCOME_LABELS[row.outcome],
      row.score === null ? '–' : row.score.toFixed(4),
      whyOf(row),
    ]),
  ).join('\n');
}

/** One trial for a terminal: numbers, failed checks, transcript, changed files, attempts. */
export function trialText(detail: TrialDetail): string {
  const { row } = detail;
  const outcome = row.outcome === null ? 'not ended' : OUTCOME_LABELS[row.outcome];
  const numbers =
    row.score === null
      ? 'not graded'
      : `score ${row.score}: correctness ${String(row.correctness)}, process ${String(row.process)}, ` +
        `safety gate ${String(row.safety_gate)}, efficiency penalty ${String(row.efficiency_penalty)}`;
  return [
    `${row.scenario_id}/${row.trial}: ${outcome}`,
    ...wrapped(numbers, WIDTH),
    ...warnings(detail),
    '',
    ...checkLines(detail),
    '',
    ...transcriptLines(detail.transcript),
    '',
    ...fileLines(detail.files),
    '',
    ...attemptLines(detail),
  ].join('\n');
}

function warnings({ row, reason, scoringError, processRequiresMissing, problems }: TrialDetail): string[] {
  const missing = processRequiresMissing.join(', ');
  return [
    ...(row.failure_class === null
      ? []
      : [`Failure: ${[row.failure_class, reason, row.kill_reason].filter(Boolean).join(', ')}`]),
    ...row.safety_failures.map((failure) => `Safety: ${visibleText(failure)}`),
    ...(scoringError === null ? [] : [`Scoring error: ${scoringError}`]),
    ...(missing === '' ? [] : [`The process score is 0 because these checks did not pass: ${missing}`]),
    ...problems.map((problem) => `Problem: ${visibleText(problem)}`),
  ].flatMap((line) => wrapped(line, WIDTH));
}

function checkLines({ failedChecks, passedChecks, row }: TrialDetail): string[] {
  if (row.score === null) return ['Checks: not graded'];
  return [
    `Checks: ${failedChecks.length} failed, ${passedChecks} passed`,
    ...failedChecks.flatMap((check) => [
      `  ✗ ${visibleText(check.id)}  ${check.earned} of ${check.points} ${check.category}${check.severity === null ? '' : `, ${check.severity}`}`,
      ...(check.detail === '' ? [] : wrapped(check.detail, WIDTH, '      ')),
    ]),
  ];
}

function transcriptLines(transcript: TranscriptExcerpt | null): string[] {
  if (transcript === null) return ['Transcript: there is none'];
  const lines = [`Transcript: ${plural(transcript.lines.length, 'event')}`];
  let turn: number | null = null;
  for (const [i, line] of transcript.lines.entries()) {
    if (i === transcript.gapAt) {
      lines.push(
        `  … ${transcript.leftOut === null ? 'events' : plural(transcript.leftOut, 'event')} left out`,
      );
    }
    if (line.turn !== null && line.turn !== turn) {
      turn = line.turn;
      lines.push(`  turn ${turn}`);
    }
    const who = { user: 'user', assistant: 'agent', call: `→ ${line.tool}`, result: `← ${line.tool}` }[
      line.kind
    ];
    lines.push(`  ${who}${line.status === '' ? '' : ` (${line.status})`}`, ...indented(line.text, '      '));
  }
  if (transcript.unreadable > 0) lines.push(`  ${plural(transcript.unreadable, 'line')} could not be read`);
  return lines;
}

function fileLines(files: ChangedFiles | null): string[] {
  if (files === null) return ['Changed files: nothing was collected'];
  return [
    `Changed files: ${files.files.length + files.leftOut}`,
    ...files.files.flatMap((file) => [
      `  ${file.path}  ${file.change}${file.bytes === null ? '' : `, ${file.bytes} bytes`}${file.note === '' ? '' : `; ${file.note}`}`,
      ...file.diff.map((line) => `      ${line}`),
    ]),
    ...(files.leftOut === 0 ? [] : [`  … ${plural(files.leftOut, 'file')} more`]),
    ...files.omitted.map((line) => `  not collected: ${line}`),
  ];
}

function attemptLines({ attempts }: TrialDetail): string[] {
  return [
    `Attempts: ${attempts.length}`,
    ...attempts.map((attempt) => {
      const why = [attempt.failureClass, attempt.reason, attempt.killReason].filter((word) => word !== null);
      const time = attempt.runtimeMs === null ? '' : `, ${(attempt.runtimeMs / 1000).toFixed(1)} s`;
      const stands = attempt.decides && attempts.length > 1 ? ', stands for the trial' : '';
      return `  ${attempt.number}  ${why.length === 0 ? 'ended in order' : why.join(', ')}${time}${stands}\n     ${attempt.folder}`;
    }),
  ];
}

function indented(text: string, indent: string): string[] {
  return text === '' ? [] : text.split('\n').map((line) => `${indent}${line}`.trimEnd());
}

function whyOf(row: TrialRow): string {
  if (row.failure_class !== null) return row.kill_reason ?? row.failure_class;
  if (row.safety_failures.length > 0) return 'safety';
  return row.failed_checks.map((check) => visibleText(check.id)).join(', ');
}
