import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INDEX_KEY, indexConfigMaps, readIndex } from '../../../../src/api/index-config-map.ts';
import { readRoundConfigMap, roundConfigMap } from '../../../../src/controller/objects/round-config-map.ts';
import { indexOf, roundOf, runOf } from '../../../support/run-objects.ts';

const RUN = runOf();
const MEBI = 1024 ** 2;

describe('index ConfigMaps', () => {
  it('hold what plans trials, without names and answers', () => {
    const [map, ...others] = indexConfigMaps(RUN, indexOf(3));
    expect(others).toEqual([]);
    expect(map).toMatchObject({ metadata: { name: 'sample-index-0', namespace: 'team' }, immutable: true });
    expect(map?.metadata.ownerReferences).toHaveLength(1);
    expect(map?.data[INDEX_KEY]).not.toContain('that nobody needs');
    expect(map?.data[INDEX_KEY]).not.toContain('passThreshold');
  });

  it('stay below what the API server takes, at any size of suite', () => {
    const maps = indexConfigMaps(RUN, indexOf(9000));
    expect(maps.length).toBeGreaterThan(1);
    for (const { data } of maps) expect(Buffer.byteLength(data[INDEX_KEY])).toBeLessThan(MEBI);
  });

  it('are put together again in whatever order they come', () => {
    fc.assert(
      fc.property(
        fc.nat(40),
        fc.integer({ min: 1, max: 2000 }),
        fc.infiniteStream(fc.nat()),
        (count, bytes, order) => {
          const index = indexOf(count);
          const maps = indexConfigMaps(RUN, index, bytes);
          const shuffled = maps
            .map((map) => ({ map, key: Number(order.next().value) }))
            .toSorted((a, b) => a.key - b.key)
            .map(({ map }) => map);
          const reading = readIndex(shuffled);
          expect(reading).toMatchObject({ state: 'complete', suiteDigest: 'sha256:suite' });
          if (reading.state === 'complete')
            expect(reading.scenarios.map(({ id }) => id)).toEqual(index.scenarios.map(({ id }) => id));
        },
      ),
      { numRuns: 100 },
    );
  });

  it('are waited for until all are there', () => {
    const maps = indexConfigMaps(RUN, indexOf(10), 500);
    expect(maps.length).toBeGreaterThan(2);
    expect(readIndex([])).toEqual({ state: 'incomplete', missing: [0] });
    expect(readIndex(maps.filter((_, at) => at !== 1))).toEqual({ state: 'incomplete', missing: [1] });
  });

  it.each([
    [
      'another index',
      [
        ...indexConfigMaps(RUN, indexOf(4), 300).slice(0, 1),
        ...indexConfigMaps(RUN, indexOf(9), 300).slice(1, 2),
      ],
    ],
    ['a part twice', [...indexConfigMaps(RUN, indexOf(1)), ...indexConfigMaps(RUN, indexOf(1))]],
    ['no index', [{ metadata: { name: 'x' }, data: {} }]],
    ['no JSON', [{ metadata: { name: 'x' }, data: { [INDEX_KEY]: '{' } }]],
    ['other JSON', [{ metadata: { name: 'x' }, data: { [INDEX_KEY]: '{"part": 0}' } }]],
  ])('say that they are invalid: %s', (_, maps) =>
    expect(readIndex(maps)).toMatchObject({ state: 'invalid' }),
  );
});

describe('the ConfigMap of a round', () => {
  it('is read back as it was written, and never changed', () => {
    const map = roundConfigMap(RUN, 2, roundOf(3));
    expect(map).toMatchObject({ metadata: { name: 'sample-round-2' }, immutable: true });
    expect(readRoundConfigMap(map)).toEqual(roundOf(3));
    expect(() => readRoundConfigMap({ data: {} })).toThrow();
  });

  it('takes the largest batch that a run may ask for, and says when a list is longer', () => {
    expect(() => roundConfigMap(RUN, 1, roundOf(2000))).not.toThrow();
    expect(() => roundConfigMap(RUN, 1, roundOf(4000))).toThrow(RangeError);
  });
});
