import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { statusPatch } from '../../../src/controller/status-patch.ts';

/** RFC 7386, as an API server applies it. */
function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const base = typeof target === 'object' && target !== null && !Array.isArray(target) ? target : {};
  const merged: Record<string, unknown> = { ...base };
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(merged, field);
    else merged[field] = merge(merged[field], value);
  }
  return merged;
}

const counts = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.integer());
const statuses = fc.record(
  { phase: fc.string(), counts: fc.record({ byPhase: counts, byClass: counts }), list: fc.array(counts) },
  { requiredKeys: ['counts', 'list', 'phase'] },
);

describe('statusPatch', () => {
  it('is nothing for equal statuses, nulls and absent fields alike', () => {
    expect(
      statusPatch({ phase: 'Running', attempts: [{ number: 1 }] }, { phase: 'Running', score: null }),
    ).toBeNull();
    expect(statusPatch({ attempts: [{ number: 1 }] }, { attempts: [{ number: 1, class: null }] })).toBeNull();
  });

  it('takes a field away that is null or undefined', () => {
    expect(statusPatch({ completionTime: 'x' }, { completionTime: undefined })).toEqual({
      completionTime: null,
    });
  });

  it('brings any status to any other', () => {
    fc.assert(
      fc.property(statuses, statuses, (before, after) => {
        const patch = statusPatch(before, after);
        expect(patch === null ? before : merge(before, patch)).toEqual(after);
      }),
    );
  });
});
