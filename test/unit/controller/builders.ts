import { benchmarkRunSpecSchema, type RetrySpec } from '../../../src/api/benchmark-run.ts';
import { resolveTimeouts } from '../../../src/api/timeouts.ts';
import { trialStatusSchema, type TrialStatus } from '../../../src/api/trial-resource.ts';
import type { TrialAttempt } from '../../../src/api/trial.ts';
import type { PodFacts } from '../../../src/controller/trial/pod-facts.ts';
import type { PlanOptions, RunFacts, TrialObservation } from '../../../src/controller/trial/plan.ts';
import { report } from '../../support/fake-node.ts';

/** Where the clock of a test stands: 2026-01-01T00:00:00Z. */
export const T0 = Date.parse('2026-01-01T00:00:00Z');
export const TRIAL = 'smoke-0123456789';

export const SPEC = benchmarkRunSpecSchema.parse({
  suite: { builtin: {} },
  runtime: { id: 'scripted' },
});
export const RETRY: RetrySpec = SPEC.retry;
export const TIMEOUTS = resolveTimeouts(SPEC.timeouts, {}).timeouts;

export const at = (seconds: number): number => T0 + seconds * 1000;
export const iso = (seconds: number): string => new Date(at(seconds)).toISOString();

export function pod(over: Partial<PodFacts> = {}): PodFacts {
  const attempt = over.attempt ?? 1;
  return {
    name: `${TRIAL}-${attempt}`,
    uid: `pod-${attempt}`,
    attempt,
    createdAt: T0,
    phase: 'Running',
    reason: '',
    message: '',
    scheduling: { state: 'scheduled', at: T0 },
    nodeName: 'node',
    disruption: null,
    deletedBy: null,
    harness: { state: 'running' },
    executor: { state: 'running' },
    restarted: false,
    ...over,
  };
}

export const pending = (over: Partial<PodFacts> = {}): PodFacts =>
  pod({ phase: 'Pending', harness: { state: 'absent' }, executor: { state: 'absent' }, ...over });

/** A pod whose harness ended with a report. */
export function reported(result: Parameters<typeof report>[3] = {}, over: Partial<PodFacts> = {}): PodFacts {
  const base = pod(over);
  return {
    ...base,
    phase: over.phase ?? 'Succeeded',
    harness: {
      state: 'terminated',
      reason: 'Completed',
      exitCode: 0,
      message: JSON.stringify(report(TRIAL, base.attempt, base.uid, { endedAt: iso(60), ...result })),
      finishedAt: at(60),
    },
    executor: { state: 'terminated', reason: 'Completed', exitCode: 0, message: '', finishedAt: at(60) },
  };
}

/** A pod whose harness ended and said nothing. */
export function silent(reason: string, exitCode: number, over: Partial<PodFacts> = {}): PodFacts {
  return pod({
    phase: 'Failed',
    harness: { state: 'terminated', reason, exitCode, message: '', finishedAt: at(60) },
    executor: { state: 'terminated', reason: 'Error', exitCode: 143, message: '', finishedAt: at(61) },
    ...over,
  });
}

export function attempt(over: Partial<TrialAttempt> = {}): TrialAttempt {
  const number = over.number ?? 1;
  return {
    number,
    podName: `${TRIAL}-${number}`,
    podUID: `pod-${number}`,
    startedAt: iso(0),
    endedAt: null,
    class: null,
    reason: null,
    killReason: null,
    counted: true,
    runtimeMs: null,
    wallClockMs: null,
    artifacts: null,
    rerunRevision: null,
    ...over,
  };
}

export const failed = (number: number, reason: string, over: Partial<TrialAttempt> = {}): TrialAttempt =>
  attempt({ number, endedAt: iso(50 + number), class: 'infrastructure', reason, ...over });

export function status(over: Partial<TrialStatus> = {}): TrialStatus {
  return { ...trialStatusSchema.parse({}), ...over };
}

export const runningStatus = (over: Partial<TrialStatus> = {}): TrialStatus =>
  status({ phase: 'Running', timeouts: TIMEOUTS, attempts: [attempt()], ...over });

export const facts = (over: Partial<RunFacts> = {}): RunFacts => ({
  retry: RETRY,
  timeouts: TIMEOUTS,
  abort: null,
  gatewayDown: false,
  ...over,
});

export function observation(over: Partial<TrialObservation> = {}): TrialObservation {
  return {
    name: TRIAL,
    status: status(),
    run: facts(),
    pods: [],
    vanished: [],
    confirmedGone: false,
    podEvent: null,
    ...over,
  };
}

export const options = (seconds: number, over: Partial<PlanOptions> = {}): PlanOptions => ({
  now: at(seconds),
  random: () => 0.5,
  gracePeriodSeconds: 90,
  queuedWriteSeconds: 10,
  ...over,
});
