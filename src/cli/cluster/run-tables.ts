import type { Rate } from '../../api/report-scores.ts';
import { OUTCOMES, TRIAL_PHASES } from '../../api/vocabulary.ts';
import { duration } from '../../local/progress.ts';
import { textTable, wrapped } from '../../report/text-table.ts';
import { visibleLine } from '../../report/visible-text.ts';
import { OUTCOME_LABELS } from '../../report/words.ts';
import type { RunObject, TrialObject } from './resources.ts';

const WIDTH = 80;
const NOTHING = '–';

/** A table of runs, the newest first. */
export function runTable(runs: readonly RunObject[], now: Date): string {
  if (runs.length === 0) return 'No run to show.';
  const newest = runs.toSorted((a, b) =>
    b.metadata.creationTimestamp < a.metadata.creationTimestamp ? -1 : 1,
  );
  return textTable(
    [
      { title: 'run', max: 32 },
      { title: 'phase' },
      { title: 'progress', align: 'right' },
      { title: 'pass', align: 'right' },
      { title: 'fail', align: 'right' },
      { title: 'score', align: 'right' },
      { title: 'age', align: 'right' },
      { title: 'reason', max: 24 },
    ],
    newest.map((run) => [
      run.metadata.name,
      run.status?.phase ?? 'Pending',
      run.status?.progress ?? NOTHING,
      countOf(run, 'pass'),
      failures(run),
      run.status?.scores?.overall.toFixed(4) ?? NOTHING,
      ageOf(run, now),
      visibleLine(run.status?.reason ?? ''),
    ]),
  ).join('\n');
}

/** One run: where it stands, its conditions, counts, scores and trials. */
export function runText(run: RunObject, trials: readonly TrialObject[], now: Date): string {
  const { metadata, status } = run;
  const reason = status?.reason ?? '';
  return [
    `${metadata.namespace ?? ''}/${metadata.name}: ${status?.phase ?? 'Pending'}, ${status?.progress ?? 'no trial yet'}, ${ageOf(run, now)} old`,
    ...(reason === '' ? [] : wrapped(visibleLine(reason), WIDTH)),
    ...conditionLines(run),
    ...countLines(run),
    ...(status?.scores === undefined ? [] : ['', ...scoreLines(run)]),
    '',
    ...trialLines(trials),
  ].join('\n');
}

function conditionLines(run: RunObject): string[] {
  const conditions = run.status?.conditions ?? [];
  if (conditions.length === 0) {
    return ['', 'No condition yet: no controller has looked at this run. Is the operator running?'];
  }
  return [
    '',
    ...textTable(
      [{ title: 'condition' }, { title: '' }, { title: 'reason', max: 24 }, { title: 'message', max: 60 }],
      conditions.map((one) => [one.type, one.status, one.reason, visibleLine(one.message)]),
    ),
  ];
}

function countLines(run: RunObject): string[] {
  const counts = run.status?.counts;
  if (counts === undefined) return [];
  const words = (title: string, values: Readonly<Record<string, number>>, order: readonly string[]) => {
    const names = [
      ...order.filter((name) => name in values),
      ...Object.keys(values).filter((n) => !order.includes(n)),
    ];
    const parts = names.flatMap((name) => ((values[name] ?? 0) > 0 ? [`${values[name] ?? 0} ${name}`] : []));
    return parts.length === 0 ? [] : [`${title.padEnd(10)}${parts.join(', ')}`];
  };
  return [
    '',
    `${'trials'.padEnd(10)}${counts.trials}`,
    ...words('phases', counts.byPhase, TRIAL_PHASES),
    ...words('outcomes', counts.byOutcome, OUTCOMES),
    ...words('classes', counts.byClass, []),
  ];
}

/** The headline numbers of a run that was scored, as `clawbench local` names them; [] while there are none. */
export function scoreLines(run: RunObject): string[] {
  const scores = run.status?.scores;
  if (scores === undefined) return [];
  const rate = (name: string, { weighted, unweighted }: Rate): string[] => [
    name,
    weighted.toFixed(4),
    unweighted.toFixed(4),
  ];
  const whole = (name: string, value: number): string[] => [name, value.toFixed(4), ''];
  return [
    ...textTable(
      [{ title: 'run' }, { title: 'weighted', align: 'right' }, { title: 'unweighted', align: 'right' }],
      [
        whole('overall', scores.overall),
        ...(scores.overall === scores.overall_covered
          ? []
          : [whole('overall, covered', scores.overall_covered)]),
        whole('capability', scores.capability),
        rate('pass@1', scores.pass_at_1),
        rate('any', scores.pass_any),
        rate('strict', scores.strict),
        whole('final', scores.final),
      ],
    ),
    ...(run.status?.rowStatus ? [`Row: ${run.status.rowStatus}.`] : []),
  ];
}

function trialLines(trials: readonly TrialObject[]): string[] {
  if (trials.length === 0) return ['No trial yet.'];
  return textTable(
    [
      { title: 'trial', max: 36 },
      { title: 'phase' },
      { title: 'attempts', align: 'right' },
      { title: 'outcome', max: 17 },
      { title: 'score', align: 'right' },
      { title: 'why', max: 30 },
    ],
    trials.map(({ spec, status }) => [
      `${spec.scenarioId}/${spec.trialNumber}`,
      status?.phase ?? 'Pending',
      String(status?.attempts?.length ?? 0),
      status?.outcome === undefined || status.outcome === null ? NOTHING : OUTCOME_LABELS[status.outcome],
      status?.score?.toFixed(4) ?? NOTHING,
      visibleLine([status?.class, status?.reason].filter((word) => Boolean(word)).join(': ')),
    ]),
  );
}

function countOf(run: RunObject, outcome: string): string {
  const counts = run.status?.counts;
  return counts === undefined ? NOTHING : String(counts.byOutcome[outcome] ?? 0);
}

function failures(run: RunObject): string {
  const counts = run.status?.counts;
  if (counts === undefined) return NOTHING;
  const { threshold_miss = 0, safety_failure = 0, execution_failure = 0 } = counts.byOutcome;
  return String(counts.failed ?? threshold_miss + safety_failure + execution_failure);
}

function ageOf(run: RunObject, now: Date): string {
  const seconds = (now.getTime() - Date.parse(run.metadata.creationTimestamp)) / 1000;
  return seconds < 172_800 ? duration(Math.max(0, seconds)) : `${Math.floor(seconds / 86_400)} d`;
}
