import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../../../src/api/errors.ts';
import {
  claimAccess,
  claimName,
  claimOwnerReferences,
  runClaim,
} from '../../../../src/controller/objects/claim.ts';
import { CONFIG, runOf } from '../../../support/run-objects.ts';

describe('the claim of a run', () => {
  it('is of the size and class of the installation where the run says nothing', () => {
    expect(runClaim(runOf(), CONFIG)).toMatchObject({
      metadata: { name: 'sample-artifacts', labels: { 'clawbench.dev/run': 'sample' } },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Gi' } } },
    });
    expect(runClaim(runOf(), CONFIG)?.spec).not.toHaveProperty('storageClassName');
    const defaultStorage = { size: '1Ti', storageClassName: 'fast', accessModes: ['ReadWriteMany' as const] };
    expect(runClaim(runOf(), { defaultStorage })?.spec).toEqual({
      accessModes: ['ReadWriteMany'],
      storageClassName: 'fast',
      resources: { requests: { storage: '1Ti' } },
    });
  });

  it('follows the template of the run', () => {
    const claim = runClaim(
      runOf({
        artifacts: {
          volumeClaimTemplate: {
            metadata: { labels: { team: 'blue' }, annotations: { note: 'x' } },
            spec: {
              accessModes: ['ReadWriteMany'],
              storageClassName: 'shared',
              resources: { requests: { storage: '3Gi' } },
            },
          },
        },
      }),
      CONFIG,
    );
    expect(claim?.metadata).toMatchObject({
      labels: { team: 'blue', 'clawbench.dev/run': 'sample' },
      annotations: { note: 'x' },
    });
    expect(claim?.spec).toMatchObject({
      accessModes: ['ReadWriteMany'],
      storageClassName: 'shared',
      resources: { requests: { storage: '3Gi' } },
    });
  });

  it('is not made where the user brings one', () => {
    const run = runOf({ artifacts: { persistentVolumeClaim: { claimName: 'mine' } } });
    expect(runClaim(run, CONFIG)).toBeNull();
    expect(claimName(run)).toBe('mine');
  });

  it('keeps the labels of the operator', () => {
    const template = {
      metadata: { labels: { 'clawbench.dev/run': 'other' } },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    };
    const run = runOf({ artifacts: { volumeClaimTemplate: template } });
    expect(runClaim(run, CONFIG)?.metadata.labels?.['clawbench.dev/run']).toBe('sample');
  });

  it.each([
    { retain: true, collected: false, owned: true },
    { retain: true, collected: true, owned: false },
    { retain: false, collected: false, owned: true },
    { retain: false, collected: true, owned: true },
  ])('retain $retain, collected $collected: owned $owned', ({ retain, collected, owned }) => {
    const run = runOf({ artifacts: { retain } });
    expect(claimOwnerReferences(run, collected)).toHaveLength(owned ? 1 : 0);
    expect(runClaim(run, CONFIG)?.metadata.ownerReferences).toHaveLength(1);
  });

  it.each([
    [['ReadWriteMany'], { refused: null, coLocate: false }],
    [['ReadWriteOnce', 'ReadWriteMany'], { refused: null, coLocate: false }],
    [['ReadWriteOnce'], { refused: null, coLocate: true }],
    [['ReadWriteOnce', 'ReadOnlyMany'], { refused: null, coLocate: true }],
  ])('binds pods to one node for %j as it must', (modes, access) =>
    expect(claimAccess(modes)).toEqual(access),
  );

  it.each([[['ReadWriteOncePod']], [['ReadOnlyMany']], [[]]])('refuses %j', (modes) => {
    expect(claimAccess(modes).refused?.remedy).toContain('ReadWriteMany');
  });

  it('refuses a template that many pods could not share', () => {
    const run = runOf();
    // Past the schema, as an object of an older version could be.
    const artifacts = { retain: true, volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOncePod'] } } };
    const spec = { ...run.spec, artifacts } as unknown as typeof run.spec;
    expect(() => runClaim({ ...run, spec }, CONFIG)).toThrow(InvalidInputError);
    expect(() => runClaim({ ...run, spec }, CONFIG)).toThrow(
      'spec.artifacts.volumeClaimTemplate.spec.accessModes',
    );
  });
});
