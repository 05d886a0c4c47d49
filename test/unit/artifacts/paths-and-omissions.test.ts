import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytePath, recordPath, recordedBytePath, toBytes } from '../../../src/artifacts/byte-path.ts';
import { summariseOmissions } from '../../../src/artifacts/omissions.ts';

describe('recorded paths', () => {
  it('keep the exact bytes of every name', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 20 }), (bytes) => {
        const path = bytePath(bytes);
        expect([...toBytes(path)]).toEqual([...bytes]);
        expect(recordedBytePath(recordPath(path))).toBe(path);
        expect(recordedBytePath(recordPath(path, 'workspace'))).toBe(`workspace/${path}`);
      }),
    );
  });

  it('show UTF-8 as it is and other bytes as escapes beside their base64', () => {
    expect(recordPath(bytePath('r\u00e9sum\u00e9/\u{1f600}.md'))).toEqual({
      path: 'r\u00e9sum\u00e9/\u{1f600}.md',
    });
    expect(recordPath(bytePath('\ufeffbom'))).toEqual({ path: '\ufeffbom' });
    const odd = Buffer.from([0x61, 0xff, 0xc3, 0xa9, 0xc3]);
    expect(recordPath(bytePath(odd))).toEqual({
      path: 'a\\xff\u00e9\\xc3',
      pathBase64: odd.toString('base64'),
    });
  });
});

describe('the record of what was left out', () => {
  const left = (path: string, bytes: number | null = 1, count = 1) =>
    ({ path, reason: 'symlink', bytes, count }) as const;

  it('names the first entries of a reason and sums up the others under the folder that holds them', () => {
    const all = ['x/b/2', 'a', 'x/b/1', 'x/c'].map((path) => left(path));
    expect(summariseOmissions(all, 1, 'workspace')).toEqual([
      { path: 'workspace/a', reason: 'symlink', bytes: 1, count: 1 },
      { path: 'workspace/x', reason: 'symlink', bytes: 3, count: 3 },
    ]);
  });

  it('does not know a size that one of them does not know', () => {
    expect(summariseOmissions([left('a'), left('b', null), left('c', 1, 5)], 1, '')).toEqual([
      { path: 'a', reason: 'symlink', bytes: 1, count: 1 },
      { path: '.', reason: 'symlink', bytes: null, count: 6 },
    ]);
  });

  it('never loses an entry and never has more lines than it may', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string(), fc.nat(9)), { maxLength: 50 }),
        fc.integer({ min: 1, max: 9 }),
        (all, lines) => {
          const record = summariseOmissions(
            all.map(([path, count]) => left(path, 1, count + 1)),
            lines,
            'workspace',
          );
          expect(record.length).toBeLessThanOrEqual(lines + 1);
          expect(record.reduce((sum, { count }) => sum + count, 0)).toBe(
            all.reduce((sum, [, c]) => sum + c + 1, 0),
          );
        },
      ),
    );
  });
});
