import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { retrySpecSchema } from '../../../src/api/benchmark-run.ts';
import type { TrialAttempt } from '../../../src/api/trial.ts';
import { nextStep } from '../../../src/attempt/retry.ts';

type Ended = Pick<TrialAttempt, 'class' | 'reason' | 'counted' | 'rerunRevision'>;

const spec = retrySpecSchema.parse({});
const lost: Ended = { class: 'infrastructure', reason: 'PodLost', counted: true, rerunRevision: null };
const limited: Ended = { class: 'provider', reason: 'ProviderRateLimit', counted: true, rerunRevision: null };
const interrupted: Ended = {
  class: 'infrastructure',
  reason: 'Interrupted',
  counted: false,
  rerunRevision: null,
};
const disrupted: Ended = { class: 'infrastructure', reason: 'Disrupted', counted: true, rerunRevision: null };
const highest = () => 1 - Number.EPSILON;
const times = (attempt: Ended, count: number) => Array.from({ length: count }, () => attempt);

describe('nextStep', () => {
  it('begins with an attempt at once', () => {
    expect(nextStep([], spec, Math.random)).toEqual({ step: 'retry', delayMs: 0, group: null });
  });

  it('accepts what the agent did, good or bad', () => {
    expect(nextStep([{ ...lost, class: null, reason: null }], spec, Math.random)).toEqual({ step: 'accept' });
    expect(nextStep([{ ...lost, class: 'agent', reason: 'AgentCrash' }], spec, Math.random)).toEqual({
      step: 'accept',
    });
  });

  it('retries the machine twice and then gives up', () => {
    expect(nextStep(times(lost, 1), spec, highest)).toEqual({
      step: 'retry',
      delayMs: 10_000,
      group: 'infrastructure',
    });
    expect(nextStep(times(lost, 2), spec, highest)).toEqual({
      step: 'retry',
      delayMs: 20_000,
      group: 'infrastructure',
    });
    expect(nextStep(times(lost, 3), spec, highest)).toEqual({
      step: 'give_up',
      why: 'retries_exhausted',
      allowed: 2,
    });
  });

  it('counts each bound by itself', () => {
    expect(nextStep([lost, lost, limited], spec, highest)).toMatchObject({
      step: 'retry',
      delayMs: 10_000,
      group: 'provider',
    });
    expect(nextStep([lost, lost, ...times(disrupted, 9)], spec, highest)).toMatchObject({
      group: 'disruption',
    });
    expect(nextStep(times(disrupted, 11), spec, highest)).toMatchObject({ step: 'give_up', allowed: 10 });
  });

  it('never retries what another attempt would meet again', () => {
    for (const [cls, reason] of [
      ['provider', 'ProviderRefused'],
      ['provider', 'ProviderQuota'],
      ['adapter', 'AdapterError'],
      ['infrastructure', 'Cancelled'],
      ['infrastructure', 'AWordOfAnotherVersion'],
    ] as const) {
      expect(nextStep([{ ...lost, class: cls, reason }], spec, Math.random)).toMatchObject({
        step: 'give_up',
        why: 'not_retryable',
      });
    }
  });

  it('runs an interrupted attempt again at once and charges nothing for it', () => {
    expect(nextStep(times(interrupted, 40), spec, highest)).toEqual({
      step: 'retry',
      delayMs: 0,
      group: null,
    });
    expect(nextStep([...times(interrupted, 5), lost], spec, highest)).toMatchObject({ delayMs: 10_000 });
  });

  it('charges a rerun nothing for the base before it', () => {
    const again = { ...lost, rerunRevision: 1 };
    expect(nextStep([...times(lost, 3), again], spec, highest)).toMatchObject({
      step: 'retry',
      delayMs: 10_000,
    });
  });

  it('waits at least half of the doubled first wait and never above 300 seconds', () => {
    const patient = retrySpecSchema.parse({ disruption: 100 });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (count, random) => {
          const next = nextStep(times(disrupted, count), patient, () => random);
          const full = Math.min(300_000, 10_000 * 2 ** (count - 1));
          expect(next.step).toBe('retry');
          if (next.step !== 'retry') return;
          expect(next.delayMs).toBeGreaterThanOrEqual(full / 2);
          expect(next.delayMs).toBeLessThanOrEqual(full);
        },
      ),
    );
  });
});
