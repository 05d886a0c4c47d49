import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBytes, quantityValue } from '../../../../src/attempt/agent-limits.ts';
import { executorResources, scoringResources } from '../../../../src/controller/objects/resources.ts';
import { CONFIG, podOf, runOf, runtimeRun } from '../../../support/run-objects.ts';

const executor = (resources: unknown) => executorResources(runtimeRun({ resources }).spec, CONFIG);
const MEBI = 1024 ** 2;

describe('quantities', () => {
  it.each([
    ['512Mi', 512 * MEBI],
    ['1.5Gi', 1.5 * 1024 ** 3],
    ['250m', 0.25],
    ['2', 2],
    ['2k', 2000],
    ['1e3', 1000],
    ['2E', 2e18],
    ['1Ei', 1024 ** 6],
    ['.5', 0.5],
  ])('reads %s', (text, value) => expect(quantityValue(text)).toBeCloseTo(value, 6));

  it.each(['', 'lots', '1 Gi', '-1', '1GiB', 'Gi', '1e', '1.2.3'])('refuses %j', (text) => {
    expect(quantityValue(text)).toBeUndefined();
    expect(() => parseBytes(text, 'spec.x')).toThrow(/spec\.x: .*not a quantity/);
  });
});

describe('resources of the executor', () => {
  it('asks for little, so that eight trials fit a node of two cores', () => {
    const { spec } = podOf(runOf());
    const requested = (name: string) =>
      spec.containers.reduce(
        (sum, { resources }) => sum + (quantityValue(resources?.requests?.[name] ?? '') ?? 1e9),
        0,
      );
    expect(8 * requested('cpu')).toBeLessThanOrEqual(1);
    expect(8 * requested('memory')).toBeLessThanOrEqual(4 * 1024 ** 3);
    expect(8 * requested('ephemeral-storage')).toBeLessThanOrEqual(2 * 1024 ** 3);
  });

  it('bounds what a container may use, but not its processor', () => {
    for (const { resources } of podOf(runOf()).spec.containers) {
      expect(Object.keys(resources?.limits ?? {}).toSorted()).toEqual(['ephemeral-storage', 'memory']);
    }
    expect(quantityValue(executor(undefined).limits?.['memory'] ?? '')).toBe(2048 * MEBI);
  });

  it('takes what the run says, and keeps room above the bound of the disk that the harness watches', () => {
    const { requests, limits } = executor({
      requests: { cpu: '500m' },
      limits: { memory: '4Gi', 'ephemeral-storage': '8Gi', cpu: 2 },
    });
    expect(requests).toEqual({ cpu: '500m', memory: '128Mi', 'ephemeral-storage': '64Mi' });
    expect(limits).toEqual({ memory: '4Gi', cpu: '2', 'ephemeral-storage': String(10 * 1024 ** 3) });
  });

  it('never asks for more than it limits by default', () => {
    const { requests } = executor({ limits: { memory: '100Mi', cpu: '10m' } });
    expect(requests).toMatchObject({ memory: '100Mi', cpu: '10m' });
  });

  it('hands on resources that it does not know', () => {
    expect(executor({ limits: { 'example.com/gpu': '1' } }).limits).toMatchObject({ 'example.com/gpu': '1' });
  });

  it.each([
    [{ limits: { memory: 'much' } }, 'spec.runtime.resources.limits.memory'],
    [{ requests: { cpu: 'all' } }, 'spec.runtime.resources.requests.cpu'],
    [{ limits: { 'ephemeral-storage': '1 GB' } }, 'spec.runtime.resources.limits.ephemeral-storage'],
    [{ requests: { memory: '3Gi' } }, 'spec.runtime.resources.requests.memory'],
    [{ requests: { memory: '2Gi' }, limits: { memory: '1Gi' } }, 'spec.runtime.resources.requests.memory'],
  ])('refuses %j', (resources, field) => expect(() => executor(resources)).toThrow(field));

  it('never asks for more than it limits, whatever the run says', () => {
    const quantity = fc
      .tuple(fc.nat(5000), fc.constantFrom('m', '', 'k', 'Mi', 'Gi'))
      .map(([n, unit]) => `${n}${unit}`);
    const map = fc.dictionary(fc.constantFrom('cpu', 'memory', 'ephemeral-storage'), quantity);
    fc.assert(
      fc.property(fc.record({ requests: map, limits: map }), (resources) => {
        let made;
        try {
          made = executor(resources);
        } catch (error) {
          expect(String(error)).toContain('is more than the limit');
          return;
        }
        for (const [name, limit] of Object.entries(made.limits ?? {})) {
          const request = made.requests?.[name];
          if (request !== undefined)
            expect(quantityValue(request)).toBeLessThanOrEqual(quantityValue(limit) ?? 0);
        }
      }),
    );
  });

  it('grades with what spec.scoring.resources says', () => {
    const { limits } = scoringResources(
      runOf({ scoring: { resources: { limits: { memory: '8Gi' } } } }).spec,
    );
    expect(limits).toMatchObject({ memory: '8Gi' });
    expect(() =>
      scoringResources(runOf({ scoring: { resources: { limits: { memory: 'x' } } } }).spec),
    ).toThrow('spec.scoring.resources.limits.memory');
  });
});
