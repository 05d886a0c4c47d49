import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tripped, type EndedAttempt } from '../../../src/attempt/breaker.ts';

const down: EndedAttempt = { class: 'infrastructure', reason: 'ShimMissing' };
const orderly: EndedAttempt = { class: null, reason: null };
const stalled: EndedAttempt = { class: 'agent', reason: 'Stall' };

const times = (count: number, attempt: EndedAttempt): EndedAttempt[] =>
  Array.from({ length: count }, () => attempt);

describe('the breaker', () => {
  it('trips when the last ten attempts share one class and reason', () => {
    expect(tripped(times(10, down), 4)).toEqual({
      class: 'infrastructure',
      reason: 'ShimMissing',
      attempts: 10,
    });
  });

  it('waits for as many attempts as run at once, when those are more than ten', () => {
    expect(tripped(times(15, down), 16)).toBeNull();
    expect(tripped(times(16, down), 16)).not.toBeNull();
  });

  it('is kept closed by one success, another reason or another class between', () => {
    for (const other of [orderly, { ...down, reason: 'DiskFull' }, { ...down, class: 'adapter' as const }]) {
      expect(tripped([...times(5, down), other, ...times(9, down)], 4)).toBeNull();
    }
  });

  it('forgets what came before the last ten', () => {
    expect(tripped([orderly, stalled, ...times(10, down)], 4)).not.toBeNull();
  });

  it('never trips for what agents cause', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 1, max: 40 }), (count, parallelism) => {
        expect(tripped(times(count, stalled), parallelism)).toBeNull();
      }),
    );
  });
});
