import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { until } from '../../support/fake-clock.ts';
import type { Fault, ModelApi } from '../../support/model-api.ts';
import { ImpossibleChange, type ReflectorHarness, startReflector, stateOf } from './reflector-harness.ts';

const FAULTS: readonly Fault[] = [
  'error500',
  'unavailable503',
  'reset',
  'not-json',
  'gone-http',
  'gone-event',
  'empty-watch',
  'cut-mid-line',
  'split-bytes',
];

type Step = (h: ReflectorHarness) => void | Promise<void>;
const onApi =
  (act: (api: ModelApi) => void): Step =>
  (h) =>
    act(h.api);
const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: name.map((n) => onApi((api) => void api.put(n))) },
  { weight: 3, arbitrary: name.map((n) => onApi((api) => api.remove(n))) },
  {
    weight: 3,
    arbitrary: name.map((n) =>
      onApi((api) => {
        api.remove(n);
        api.put(n);
      }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom('end', 'reset', 'mid-line', 'error-event', 'deafen')
      .map((how) => onApi((api) => api.endWatches(how))),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(...FAULTS).map((fault) => onApi((api) => void api.faults.push(fault))),
  },
  { weight: 1, arbitrary: fc.constant(onApi((api) => api.compact())) },
  { weight: 1, arbitrary: fc.constant(onApi((api) => api.bookmark())) },
  { weight: 1, arbitrary: fc.constant<Step>((h) => h.server.cut()) },
  {
    weight: 4,
    arbitrary: fc.integer({ min: 0, max: 8 }).map(
      (ms): Step =>
        () =>
          setTimeout(ms),
    ),
  },
);

it('ends equal to the server after any history with any faults, and tells only changes that can be', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 40 }),
      fc.integer({ min: 1, max: 4 }),
      async (steps, page) => {
        const h = await startReflector(
          (api) => ['a', 'b', 'c'].forEach((n) => api.put(n)),
          { idleMs: 80 },
          page,
        );
        try {
          for (const act of steps) await act(h);
          h.api.faults.length = 0;
          const server = () => JSON.stringify(stateOf(h.api.objects.values()));
          await until(
            () => JSON.stringify(stateOf(h.reflector.store.list())) === server(),
            'the state of the server',
            5000,
          );
          const uids = [...h.api.objects.values()].map(({ metadata }) => [metadata.name, metadata.uid]);
          expect([...h.followed].sort()).toEqual(uids.sort());
          expect(h.errors.filter((error) => error instanceof ImpossibleChange)).toEqual([]);
        } finally {
          await h.stop();
        }
      },
    ),
    { numRuns: 150 },
  );
});
