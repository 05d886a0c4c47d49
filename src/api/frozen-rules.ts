import type { Rule } from './rules.ts';

/** Fields of a run's spec that may change while the run goes on; all others are frozen when it is made. */
export const MUTABLE_FIELDS = [
  'suspend',
  'cancel',
  'parallelism',
  'rerun',
  'ttlSecondsAfterFinished',
  'scoring.revision',
  'scoring.suite',
] as const;

/** Frozen fields, one message each. */
export const FROZEN_FIELDS = [
  'suite',
  'trialsPerScenario',
  'queueName',
  'runtime',
  'model',
  'supervision',
  'timeouts',
  'retry',
  'artifacts',
  'network',
  'exposure',
  'scoring.resources',
  'scoring.batchSize',
  'scoring.pythonImage',
] as const;

const MAY_CHANGE = MUTABLE_FIELDS.join(', ');

/** What is said to somebody who changes a frozen field. */
export function frozenMessage(field: string): string {
  return `${field} is frozen once the run exists; create a new run instead (${MAY_CHANGE} may change)`;
}

/** Rules about changes of a run's spec. */
export const changeRules: readonly Rule<unknown>[] = [
  ...FROZEN_FIELDS.map((field) => ({
    message: frozenMessage(field),
    cel: unchanged(field),
    field: field.split('.'),
  })),
  {
    message: 'scoring.revision may only rise: raise it to score the run again',
    cel: 'self.scoring.revision >= oldSelf.scoring.revision',
    field: ['scoring', 'revision'],
  },
  {
    message: 'rerun.revision may only rise, and rerun cannot be taken back: raise it to run failures again',
    cel: '!has(oldSelf.rerun) || (has(self.rerun) && self.rerun.revision >= oldSelf.rerun.revision)',
    field: ['rerun'],
  },
  {
    message: 'this rerun was asked for already: raise rerun.revision with the change',
    cel: '!has(oldSelf.rerun) || !has(self.rerun) || self.rerun.revision != oldSelf.rerun.revision || self.rerun == oldSelf.rerun',
    field: ['rerun', 'revision'],
  },
];

/** CEL: the field is as it was, or absent as it was. Objects on the way to it always exist: they have defaults. */
function unchanged(field: string): string {
  return `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field})`;
}
