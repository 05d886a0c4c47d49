import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { depthOf, parentOf } from '../../../src/artifacts/byte-path.ts';
import { DEFAULT_COLLECTION_LIMITS } from '../../../src/artifacts/limits.ts';
import { planCollection } from '../../../src/artifacts/plan.ts';
import type { ScannedEntry } from '../../../src/artifacts/scan.ts';

const entry = (path: string, bytes: number | null): ScannedEntry => ({
  path,
  kind: bytes === null ? 'folder' : 'file',
  bytes: bytes ?? 0,
  mode: 0o644,
  dev: 1,
  ino: 1,
  mtimeMs: 0,
  sparse: false,
});
const limits = (changes: Partial<typeof DEFAULT_COLLECTION_LIMITS>) => ({
  ...DEFAULT_COLLECTION_LIMITS,
  ...changes,
});
const paths = (entries: readonly { path: string }[]) => entries.map(({ path }) => path);

/** A tree: every folder above an entry is there. */
const tree = fc
  .array(fc.tuple(fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 4 }), fc.nat(100)), {
    maxLength: 30,
  })
  .map((files) => {
    const all = new Map<string, ScannedEntry>();
    for (const [names, bytes] of files) {
      const path = `${names.join('/')}.file`;
      all.set(path, entry(path, bytes));
      for (let folder = parentOf(path); folder !== ''; folder = parentOf(folder))
        all.set(folder, entry(folder, null));
    }
    return [...all.values()];
  });

describe('planCollection', () => {
  it('takes shallow files before deep ones, so that a tree of packages pushes out no result', () => {
    const plan = planCollection(
      [entry('a', null), entry('a/1', 1), entry('a/2', 1), entry('report.md', 1)],
      limits({ files: 3 }),
      new Set(),
    );
    expect(paths(plan.files)).toEqual(['a/1', 'report.md']);
    expect(plan.leftOut).toEqual([{ path: 'a/2', reason: 'too_many_files', bytes: 1, count: 1 }]);
  });

  it('takes the files that were there before the agent first of all', () => {
    const plan = planCollection(
      [entry('0', 1), entry('1', 1), entry('z', null), entry('z/input', 1)],
      limits({ files: 2 }),
      new Set(['z', 'z/input']),
    );
    expect(paths(plan.files)).toEqual(['z/input']);
  });

  it('leaves out a file that does not fit and still takes a smaller one behind it', () => {
    const plan = planCollection(
      [entry('a', 5), entry('b', 6), entry('c', 5)],
      limits({ totalBytes: 10 }),
      new Set(),
    );
    expect(paths(plan.files)).toEqual(['a', 'c']);
    expect(plan.leftOut).toEqual([{ path: 'b', reason: 'total_bytes', bytes: 6, count: 1 }]);
  });

  it('keeps its bounds, loses no entry, has the folder of every file, and does not depend on the order', () => {
    fc.assert(
      fc.property(tree, fc.nat(20), fc.nat(300), fc.func(fc.nat()), (entries, files, totalBytes, shuffle) => {
        const bounds = limits({ files, totalBytes });
        const plan = planCollection(entries, bounds, new Set());
        const taken = [...plan.files, ...plan.folders];
        expect(taken.length).toBeLessThanOrEqual(files);
        expect(plan.files.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(totalBytes);
        expect([...paths(taken), ...paths(plan.leftOut)].sort()).toEqual(paths(entries).sort());
        const folders = new Set(paths(plan.folders));
        for (const { path } of taken) expect(depthOf(path) === 1 || folders.has(parentOf(path))).toBe(true);
        const shuffled = [...entries].sort((a, b) => shuffle(a.path) - shuffle(b.path));
        expect(planCollection(shuffled, bounds, new Set())).toEqual(plan);
      }),
    );
  });
});
