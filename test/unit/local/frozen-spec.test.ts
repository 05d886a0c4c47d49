import { describe, expect, it } from 'vitest';
import { benchmarkRunSpecSchema } from '../../../src/api/benchmark-run.ts';
import { frozenDifferences } from '../../../src/local/frozen-spec.ts';

const spec = (over: Record<string, unknown> = {}) =>
  benchmarkRunSpecSchema.parse({ suite: { builtin: {} }, runtime: { id: 'scripted' }, ...over });

describe('the frozen part of a spec', () => {
  it('is equal to itself after a way through JSON', () => {
    expect(frozenDifferences(JSON.parse(JSON.stringify(spec())), spec())).toEqual([]);
  });

  it('names the fields that differ, as deep as they differ', () => {
    const other = spec({
      trialsPerScenario: 5,
      timeouts: { stall: 9 },
      runtime: { id: 'scripted', behaviour: 'noop' },
    });
    expect(frozenDifferences(spec(), other)).toEqual([
      'runtime.behaviour',
      'timeouts.stall',
      'trialsPerScenario',
    ]);
  });

  it('lets the mutable fields change', () => {
    const other = spec({
      parallelism: 9,
      suspend: true,
      cancel: true,
      scoring: { revision: 2 },
      ttlSecondsAfterFinished: { failed: 1 },
      rerun: { revision: 1, classes: ['adapter'] },
    });
    expect(frozenDifferences(spec(), other)).toEqual([]);
  });

  it('counts a field that only one of them has as a difference', () => {
    expect(frozenDifferences(spec(), { ...spec(), later: 1 })).toEqual(['later']);
  });
});
