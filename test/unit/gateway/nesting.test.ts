import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isNestedDeeper } from '../../../src/gateway/nesting.ts';

const deeper = (text: string, limit: number) => isNestedDeeper(Buffer.from(text), limit);

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe('the nesting of a request', () => {
  it('is that of its lists and objects, whatever its texts hold', () => {
    expect(deeper('[[[]]]', 2)).toBe(true);
    expect(deeper('[[[]]]', 3)).toBe(false);
    expect(deeper('["[[[[", "\\"[[[", {"{{{": "]]"}]', 2)).toBe(false);
    expect(deeper('[[],[],[]]', 2)).toBe(false);
  });

  it('is found as a parser finds it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat({ max: 6 }), (value, limit) => {
        expect(deeper(JSON.stringify(value), limit)).toBe(depthOf(value) > limit);
      }),
    );
  });

  it('is found at once in what would take a parser minutes', () => {
    const text = Buffer.from('['.repeat(16_000_000) + ']'.repeat(16_000_000));
    const started = performance.now();
    expect(isNestedDeeper(text, 256)).toBe(true);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});
