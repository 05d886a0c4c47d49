import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type KubeObject, keyOf, refOf } from '../../../src/kube/object.ts';
import { Store } from '../../../src/kube/store.ts';

interface Tagged extends KubeObject {
  readonly tags: readonly string[];
}
const tag = fc.constantFrom('x', 'y', 'z');
const object: fc.Arbitrary<Tagged> = fc
  .record({ name: fc.constantFrom('a', 'b', 'c'), uid: fc.nat(5), tags: fc.uniqueArray(tag) })
  .map(({ name, uid, tags }) => ({
    apiVersion: 'v1',
    kind: 'Tagged',
    metadata: { namespace: 'n', name, uid: `${name}-${uid}`, resourceVersion: '1', creationTimestamp: 'T' },
    tags,
  }));
const step = fc.oneof(
  { weight: 3, arbitrary: object.map((put) => ({ put })) },
  { weight: 1, arbitrary: fc.constantFrom('n/a', 'n/b', 'n/c').map((remove) => ({ remove })) },
);

it('finds by key, UID and index what a plain map of the same history holds, and nothing else', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const store = new Store<Tagged, 'tag'>({ tag: (item) => item.tags });
      const model = new Map<string, Tagged>();
      for (const act of steps) {
        if ('put' in act) {
          expect(store.put(act.put)).toBe(model.get(keyOf(act.put.metadata)));
          model.set(keyOf(act.put.metadata), act.put);
        } else {
          expect(store.remove(act.remove)).toBe(model.get(act.remove));
          model.delete(act.remove);
        }
      }
      expect(store.size).toBe(model.size);
      expect(new Set(store.list())).toEqual(new Set(model.values()));
      expect(store.keys().sort()).toEqual([...model.keys()].sort());
      for (const [key, item] of model) {
        expect(store.get(key)).toBe(item);
        expect(store.getByUid(item.metadata.uid)).toBe(item);
      }
      for (const name of ['a', 'b', 'c']) {
        for (let uid = 0; uid <= 5; uid += 1) {
          const held = [...model.values()].find((item) => item.metadata.uid === `${name}-${uid}`);
          expect(store.getByUid(`${name}-${uid}`)).toBe(held);
        }
      }
      for (const value of ['x', 'y', 'z']) {
        const expected = [...model.values()].filter((item) => item.tags.includes(value));
        expect(new Set(store.byIndex('tag', value))).toEqual(new Set(expected));
      }
    }),
  );
});

it('takes keys apart as they were put together', () => {
  for (const ref of [{ name: 'a' }, { namespace: 'n', name: 'a' }]) expect(refOf(keyOf(ref))).toEqual(ref);
});
