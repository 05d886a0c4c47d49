import { execFileSync, spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pythonRound } from '../../../src/scoring/python-round.ts';

/** [x, digits, Python's round(x, digits)] */
const TABLE: readonly [number, number, number][] = [
  [0.03125, 4, 0.0312],
  [0.09375, 4, 0.0938],
  [2.675, 2, 2.67],
  [1.005, 2, 1.0],
  [0.5, 0, 0],
  [1.5, 0, 2],
  [2.5, 0, 2],
  [0.125, 2, 0.12],
  [0.375, 2, 0.38],
  [-0.125, 2, -0.12],
  [-0.03125, 4, -0.0312],
  [-2.675, 2, -2.67],
  [0.00005, 4, 0.0001],
  [0.00015, 4, 0.0001],
  [0.00025, 4, 0.0003],
  [1e-9, 4, 0],
  [0.30000000000000004, 4, 0.3],
  [123456.78905, 4, 123456.7891],
  [1e22, 4, 1e22],
  [0.999949999, 4, 0.9999],
  [1 / 3, 4, 0.3333],
  [2 / 3, 4, 0.6667],
];

const python = spawnSync('python3', ['--version']).status === 0;

describe('pythonRound', () => {
  it.each(TABLE)('rounds %d to %d decimals as Python does', (x, digits, expected) => {
    expect(pythonRound(x, digits)).toBe(expected);
  });

  it('leaves what is not finite as it is', () => {
    expect(pythonRound(Infinity, 4)).toBe(Infinity);
    expect(pythonRound(NaN, 4)).toBeNaN();
  });

  it('is idempotent and stays within half a unit of the last decimal', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -1e6, max: 1e6, noNaN: true }),
        fc.integer({ min: 0, max: 8 }),
        (x, digits) => {
          const rounded = pythonRound(x, digits);
          expect(pythonRound(rounded, digits)).toBe(rounded);
          expect(Math.abs(rounded - x)).toBeLessThanOrEqual(0.5 * 10 ** -digits + 1e-9);
        },
      ),
    );
  });

  it.skipIf(!python)('agrees with python3 on random doubles and on exact ties (needs python3)', () => {
    const tie = fc.tuple(fc.integer({ min: -200_000, max: 200_000 }), fc.integer({ min: 0, max: 8 })).map(
      // Odd multiples of 2^-(digits + 1) are the doubles that lie exactly halfway.
      ([odd, digits]): [number, number] => [(2 * odd + 1) * 2 ** -(digits + 1), digits],
    );
    const anything = fc.tuple(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer({ min: 0, max: 8 }),
    );
    const unit = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.constant(4));
    const cases = fc.sample(fc.oneof(tie, anything, unit), 3000);
    const program =
      'import json,sys\nprint(json.dumps([round(float(x), n) for x, n in json.load(sys.stdin)]))';
    const output = execFileSync('python3', ['-c', program], {
      input: JSON.stringify(cases),
      encoding: 'utf8',
    });
    const expected = JSON.parse(output) as number[];
    cases.forEach(([x, digits], index) => {
      // JSON has no -0: the sign of a zero is not compared.
      expect([x, digits, pythonRound(x, digits) + 0]).toEqual([x, digits, (expected[index] ?? NaN) + 0]);
    });
  });
});
