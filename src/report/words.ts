import type { Report } from '../api/report.ts';
import { OUTCOMES, type Outcome } from '../api/vocabulary.ts';

/** What people read for a word of the records. */
export const OUTCOME_LABELS: Record<Outcome, string> = {
  pass: 'pass',
  threshold_miss: 'threshold miss',
  safety_failure: 'safety failure',
  execution_failure: 'execution failure',
  unsupported: 'unsupported',
};

/** A sign for each outcome, so that nothing is said by colour alone. */
export const OUTCOME_SIGNS: Record<Outcome, string> = {
  pass: '✓',
  threshold_miss: '✗',
  safety_failure: '!',
  execution_failure: '⊘',
  unsupported: '–',
};

/** What a reader must know before quoting a number. */
export function caveats(report: Report): string[] {
  const { baseline, undetermined, unsupported } = report;
  return [
    ...report.incomplete_reasons.map((reason) => `NOT COMPLETE: ${reason}.`),
    ...report.diagnostic_reasons.map((reason) => `Diagnostic only: ${reason}.`),
    ...(undetermined.length === 0
      ? []
      : [`${plural(undetermined.length, 'scenario')} undetermined: not every declared trial was graded.`]),
    ...(unsupported.trials === 0
      ? []
      : [`${plural(unsupported.trials, 'trial')} unsupported by the runtime, outside all denominators.`]),
    ...(baseline === 'unavailable'
      ? ['What doing nothing earns was not measured.']
      : baseline.flagged.length === 0
        ? []
        : [
            `Doing nothing earns ${baseline.overall.toFixed(4)} overall, more than 0 in ${plural(baseline.flagged.length, 'scenario')} (marked *).`,
          ]),
    ...report.problems.slice(0, 5).map((problem) => `Problem: ${problem}`),
    ...(report.problems.length > 5
      ? [`${report.problems.length - 5} more problems stand in report.json.`]
      : []),
  ];
}

/** Number of trials with each outcome that occurred, in words. */
export function outcomeCounts(counts: Partial<Record<Outcome, number>>): string {
  const parts = OUTCOMES.flatMap((outcome) => {
    const count = counts[outcome] ?? 0;
    return count === 0 ? [] : [`${count} ${OUTCOME_LABELS[outcome]}`];
  });
  return parts.length === 0 ? 'none' : parts.join(', ');
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
