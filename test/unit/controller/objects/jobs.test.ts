import { describe, expect, it } from 'vitest';
import {
  freezeRequestSchema,
  publishIndexRequestSchema,
  roundRequestSchema,
} from '../../../../src/api/container-requests.ts';
import { benchmarkRunSpecSchema } from '../../../../src/api/benchmark-run.ts';
import { ENV, MOUNTS, OPERATOR_UID, VOLUME_GID, WORKER_ACCOUNT } from '../../../../src/api/pod-contract.ts';
import type { Container, JobDraft } from '../../../../src/controller/objects/kubernetes.ts';
import { prepareJob } from '../../../../src/controller/objects/prepare-job.ts';
import { scoreJob } from '../../../../src/controller/objects/score-job.ts';
import { CLAIM, CONFIG, ONE_NODE_CLAIM, runOf } from '../../../support/run-objects.ts';

const podSpec = (job: JobDraft) => job.spec!.template.spec!;
const requestOf = (container: Container | undefined): unknown =>
  JSON.parse(container?.env?.find(({ name }) => name === ENV.REQUEST)?.value ?? 'null');
const mountOf = (container: Container | undefined, path: string) =>
  container?.volumeMounts?.find(({ mountPath }) => mountPath === path);
const parts = (job: JobDraft) => {
  const spec = podSpec(job);
  return { spec, init: spec.initContainers?.[0], main: spec.containers[0] };
};
const TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount';

const JOBS = [
  { name: 'prepare', component: 'prepare', job: (claim = CLAIM) => prepareJob(runOf(), CONFIG, claim) },
  { name: 'score', component: 'score', job: (claim = CLAIM) => scoreJob(runOf(), CONFIG, claim, 3, 12) },
] as const;

describe.each(JOBS)('the Job $name', ({ component, job }) => {
  it('gives a token to the container that writes to the API, and to no other', () => {
    const { spec, init, main } = parts(job());
    expect(spec.serviceAccountName).toBe(WORKER_ACCOUNT);
    expect(spec.automountServiceAccountToken).toBe(false);
    expect(mountOf(init, TOKEN)).toBeUndefined();
    expect(mountOf(main, TOKEN)).toMatchObject({ name: 'token', readOnly: true });
    const token = spec.volumes?.find(({ name }) => name === 'token')?.projected?.sources;
    expect(token?.map((source) => Object.keys(source)[0])).toEqual([
      'serviceAccountToken',
      'configMap',
      'downwardAPI',
    ]);
    expect(token?.[0]?.serviceAccountToken).toMatchObject({ path: 'token' });
  });

  it('is restricted, resolves no names, and is the pod of an operator, never of a trial', () => {
    const made = job();
    const { spec } = parts(made);
    expect(spec.dnsPolicy).toBe('None');
    expect(spec.securityContext).toMatchObject({
      runAsUser: OPERATOR_UID,
      fsGroup: VOLUME_GID,
      runAsNonRoot: true,
    });
    for (const container of [...(spec.initContainers ?? []), ...spec.containers]) {
      expect(container.securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(mountOf(container, '/tmp')).toBeDefined();
      expect(container.resources?.limits).toHaveProperty('ephemeral-storage');
      expect(container.resources?.limits).toHaveProperty('memory');
    }
    const labels = made.spec?.template.metadata?.labels;
    expect(labels).toMatchObject({ 'clawbench.dev/run': 'sample', 'app.kubernetes.io/component': component });
    expect(labels).not.toHaveProperty(['clawbench.dev/trial']);
    expect(made.metadata.ownerReferences).toHaveLength(1);
  });

  it('runs one pod, on the node of the claim', () => {
    expect(job().spec).toMatchObject({ completions: 1, parallelism: 1, podReplacementPolicy: 'Failed' });
    expect(podSpec(job()).restartPolicy).toBe('Never');
    expect(podSpec(job()).affinity).toBeUndefined();
    expect(podSpec(job(ONE_NODE_CLAIM)).affinity).toBeDefined();
  });
});

describe('the prepare Job', () => {
  it('lets freeze alone write the volume, and publish-index see only what it left', () => {
    const run = runOf();
    const job = prepareJob(run, CONFIG, CLAIM);
    const { init, main } = parts(job);
    expect(job.metadata.name).toBe('sample-prepare');
    expect(job.spec?.backoffLimit).toBe(2);
    expect(job.spec?.activeDeadlineSeconds).toBeGreaterThan(0);
    expect(init).toMatchObject({ name: 'freeze', args: ['prepare', 'freeze'] });
    expect(main).toMatchObject({ name: 'publish-index', args: ['prepare', 'publish-index'] });
    expect(mountOf(init, MOUNTS.volume)).toEqual({ name: 'artifacts', mountPath: MOUNTS.volume });
    expect(main?.volumeMounts?.some(({ name }) => name === 'artifacts')).toBe(false);
    expect(mountOf(init, MOUNTS.index)?.readOnly).toBeUndefined();
    expect(mountOf(main, MOUNTS.index)?.readOnly).toBe(true);
    expect(publishIndexRequestSchema.parse(requestOf(main)).runUID).toBe(run.uid);
    const request = freezeRequestSchema.parse(requestOf(init));
    expect(request).toMatchObject({ createdAt: run.createdAt, suitePath: null, archive: false });
    expect(benchmarkRunSpecSchema.parse(request.spec)).toEqual(run.spec);
  });

  it.each([
    {
      suite: { persistentVolumeClaim: { claimName: 'suites', path: 'mine/v2' } },
      volume: { persistentVolumeClaim: { claimName: 'suites' } },
      request: { suitePath: '/clawbench/suite/mine/v2', archive: false },
    },
    {
      suite: { persistentVolumeClaim: { claimName: 'suites' } },
      volume: { persistentVolumeClaim: { claimName: 'suites' } },
      request: { suitePath: '/clawbench/suite', archive: false },
    },
    {
      suite: { configMap: { name: 'suite' } },
      volume: { configMap: { name: 'suite', items: [{ key: 'suite.tar.gz', path: 'suite.tar.gz' }] } },
      request: { suitePath: '/clawbench/suite/suite.tar.gz', archive: true },
    },
    {
      suite: { image: { reference: 'suites.test/mine@sha256:1', path: 'suite/', pullPolicy: 'Always' } },
      volume: { image: { reference: 'suites.test/mine@sha256:1', pullPolicy: 'Always' } },
      request: { suitePath: '/clawbench/suite/suite', archive: false },
    },
  ])('reads $suite, read-only', ({ suite, volume, request }) => {
    const { spec, init, main } = parts(prepareJob(runOf({ suite }), CONFIG, CLAIM));
    expect(spec.volumes).toContainEqual({ name: 'suite', ...volume });
    expect(mountOf(init, MOUNTS.suite)).toEqual({ name: 'suite', mountPath: MOUNTS.suite, readOnly: true });
    expect(mountOf(main, MOUNTS.suite)).toBeUndefined();
    expect(requestOf(init)).toMatchObject(request);
  });

  it.each(['../volume', 'a/../../volume', '..', './../../etc'])(
    'never leads out of a source by %j',
    (path) => {
      for (const suite of [
        { persistentVolumeClaim: { claimName: 'suites', path } },
        { image: { reference: 'x', path } },
      ]) {
        const [source = ''] = Object.keys(suite);
        expect(() => prepareJob(runOf({ suite }), CONFIG, CLAIM)).toThrow(`spec.suite.${source}.path: `);
      }
    },
  );

  it('keeps an absolute path below its source', () => {
    const suite = { persistentVolumeClaim: { claimName: 'suites', path: '/clawbench/volume' } };
    const { init } = parts(prepareJob(runOf({ suite }), CONFIG, CLAIM));
    expect(requestOf(init)).toMatchObject({ suitePath: '/clawbench/suite/clawbench/volume' });
  });

  it('says that a specification is too long to be told', () => {
    const scenarioIds = Array.from({ length: 2000 }, (_, at) => String(at).padEnd(120, 'x'));
    expect(() => prepareJob(runOf({ suite: { builtin: {}, scenarioIds } }), CONFIG, CLAIM)).toThrow(
      /takes \d+ bytes/,
    );
  });
});

describe('the Job of a score round', () => {
  it('lets the grader read and publish write', () => {
    const run = runOf();
    const job = scoreJob(run, CONFIG, CLAIM, 3, 12);
    const { spec, init, main } = parts(job);
    expect(job.metadata.name).toBe('sample-score-3');
    expect(job.spec?.backoffLimit).toBe(0);
    expect(init).toMatchObject({ name: 'score', args: ['score-round', 'score'] });
    expect(main).toMatchObject({ name: 'publish', args: ['score-round', 'publish'] });
    expect(mountOf(init, MOUNTS.run)).toMatchObject({ subPath: run.uid, readOnly: true });
    expect(mountOf(main, MOUNTS.run)).toMatchObject({ subPath: run.uid, readOnly: false });
    expect(mountOf(init, MOUNTS.scores)?.readOnly).toBeUndefined();
    expect(mountOf(main, MOUNTS.scores)?.readOnly).toBe(true);
    for (const container of [init, main]) expect(mountOf(container, MOUNTS.round)?.readOnly).toBe(true);
    expect(spec.volumes).toContainEqual({ name: 'round', configMap: { name: 'sample-round-3' } });
    const request = roundRequestSchema.parse(requestOf(init));
    expect(request).toMatchObject({ round: 3, suitePath: null, builtinSuite: false, scoringSeconds: 60 });
    expect(requestOf(main)).toEqual(requestOf(init));
  });

  it.each([
    { timeouts: {}, trials: 12, seconds: 300 + 60 * 12 },
    { timeouts: { scoring: 7.5 }, trials: 3, seconds: 323 },
  ])('may take $seconds seconds', ({ timeouts, trials, seconds }) => {
    expect(scoreJob(runOf({ timeouts }), CONFIG, CLAIM, 1, trials).spec?.activeDeadlineSeconds).toBe(seconds);
  });

  it.each([
    { scoring: {}, config: CONFIG, image: 'registry.test/operator:1' },
    { scoring: {}, config: { ...CONFIG, pythonImage: 'chart:1' }, image: 'chart:1' },
    { scoring: { pythonImage: 'own:1' }, config: { ...CONFIG, pythonImage: 'chart:1' }, image: 'own:1' },
  ])('grades in $image and publishes in the operator', ({ scoring, config, image }) => {
    const { init, main } = parts(scoreJob(runOf({ scoring }), config, CLAIM, 1, 1));
    expect(init?.image).toBe(image);
    expect(main?.image).toBe('registry.test/operator:1');
  });

  it('shows a repaired suite to the grader alone', () => {
    const repaired = runOf({ scoring: { suite: { configMap: { name: 'repaired' } } } });
    const { init, main } = parts(scoreJob(repaired, CONFIG, CLAIM, 1, 1));
    expect(mountOf(init, MOUNTS.suite)?.readOnly).toBe(true);
    expect(mountOf(main, MOUNTS.suite)).toBeUndefined();
    expect(requestOf(init)).toMatchObject({ suitePath: '/clawbench/suite/suite.tar.gz', archive: true });
    const builtin = runOf({ scoring: { suite: { builtin: {} } } });
    expect(requestOf(parts(scoreJob(builtin, CONFIG, CLAIM, 1, 1)).init)).toMatchObject({
      builtinSuite: true,
    });
    const outside = runOf({ scoring: { suite: { image: { reference: 'x', path: '../..' } } } });
    expect(() => scoreJob(outside, CONFIG, CLAIM, 1, 1)).toThrow('spec.scoring.suite.image.path');
  });
});
