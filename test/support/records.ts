import { resolveTimeouts, timeoutsSpecSchema } from '../../src/api/timeouts.ts';
import type { TrialRecord } from '../../src/api/trial.ts';

/** A trial that nothing was done for, with the given parts in place of its own. */
export function trialFixture(over: Partial<TrialRecord> = {}): TrialRecord {
  return {
    schema_version: 1,
    name: 'run-0123456789',
    runName: 'run',
    scenarioId: 'scenario',
    trialNumber: 1,
    dimension: 'planning',
    scenarioDigest: 'd',
    phase: 'Pending',
    timeouts: resolveTimeouts(timeoutsSpecSchema.parse({}), {}).timeouts,
    attempts: [],
    rerunRevision: null,
    decidedBy: null,
    execution: null,
    class: null,
    outcome: null,
    score: null,
    reason: null,
    ...over,
  };
}
