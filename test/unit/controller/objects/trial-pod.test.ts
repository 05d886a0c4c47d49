import { describe, expect, it } from 'vitest';
import { harnessRequestSchema } from '../../../../src/api/container-requests.ts';
import { runtimeSpecSchema } from '../../../../src/api/benchmark-run.ts';
import { ENV, MOUNTS, VOLUME_GID } from '../../../../src/api/pod-contract.ts';
import {
  CONFIG,
  MODEL,
  ONE_NODE_CLAIM,
  podInput,
  podOf,
  runOf,
  runtimeRun,
} from '../../../support/run-objects.ts';

type Mounts = readonly { mountPath: string; subPath?: string; readOnly?: boolean; name: string }[];
const at = (container: { volumeMounts?: Mounts }, path: string) =>
  container.volumeMounts?.find(({ mountPath }) => mountPath === path);
const valueOf = (container: { env?: { name: string; value?: string }[] }, name: string) =>
  container.env?.find((variable) => variable.name === name)?.value;
const requestOf = (container: { env?: { name: string; value?: string }[] }) =>
  harnessRequestSchema.parse(JSON.parse(valueOf(container, ENV.REQUEST) ?? ''));

describe('the pod of an attempt', () => {
  it('is named, labelled and owned so that it is found and never adopted', () => {
    const run = runOf();
    const { metadata } = podOf(run).pod;
    const trial = podInput(run).trial.name;
    expect(metadata.name).toBe(`${trial}-2`);
    expect(metadata.namespace).toBe('team');
    expect(metadata.labels).toEqual({
      'app.kubernetes.io/managed-by': 'clawbench',
      'clawbench.dev/run': 'sample',
      'clawbench.dev/trial': trial,
      'clawbench.dev/attempt': '2',
    });
    expect(metadata.ownerReferences).toEqual([
      expect.objectContaining({
        kind: 'BenchmarkRun',
        uid: run.uid,
        controller: true,
        blockOwnerDeletion: true,
      }),
    ]);
  });

  it('has two ordinary containers without probes, and is never started again', () => {
    const { spec } = podOf(runOf());
    expect(spec.containers.map(({ name }) => name)).toEqual(['harness', 'executor']);
    expect(spec.initContainers).toBeUndefined();
    expect(spec.restartPolicy).toBe('Never');
    for (const container of spec.containers) {
      expect(container).not.toHaveProperty('startupProbe');
      expect(container).not.toHaveProperty('readinessProbe');
      expect(container).not.toHaveProperty('livenessProbe');
    }
  });

  it.each([
    { timeouts: {}, seconds: 600 + (2 * 1800 + 600) + 120 + 150 },
    { timeouts: { start: 30, wall: 100, collect: 10 }, seconds: 30 + 100 + 10 + 150 },
    {
      timeouts: { start: 30, wall: 100.5, collect: 10, scale: 0.5 },
      seconds: Math.ceil(30 + 50.25 + 10 + 150),
    },
  ])('ends by itself after every clock of the harness: $timeouts', ({ timeouts, seconds }) => {
    expect(podOf(runOf({ timeouts })).spec.activeDeadlineSeconds).toBe(seconds);
  });

  it('gives collection the configured grace period', () => {
    expect(podOf(runOf()).spec.terminationGracePeriodSeconds).toBe(90);
    const config = { ...CONFIG, gracePeriodSeconds: 33 };
    expect(podOf(runOf(), { config }).spec.terminationGracePeriodSeconds).toBe(33);
  });

  it('carries no token, no names of services, and nothing of the host', () => {
    const { spec } = podOf(runOf());
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      hostNetwork: false,
      hostPID: false,
      hostIPC: false,
      shareProcessNamespace: false,
    });
    expect(spec.serviceAccountName).toBeUndefined();
    expect(JSON.stringify(spec)).not.toContain('serviceAccountToken');
  });

  it('lets the executor see nothing of the volume', () => {
    const { spec, executor } = podOf(runOf({ model: MODEL }));
    const claims = spec.volumes?.filter((volume) => volume.persistentVolumeClaim !== undefined) ?? [];
    expect(claims.map(({ name }) => name)).toEqual(['artifacts']);
    const names = (executor.volumeMounts ?? []).map(({ name }) => name);
    expect(names).toEqual(['work', 'state', 'home', 'program', 'tmp-executor']);
    expect(at(executor, MOUNTS.program)?.readOnly).toBe(true);
    for (const path of [MOUNTS.work, MOUNTS.state, MOUNTS.home])
      expect(at(executor, path)?.readOnly).toBe(false);
  });

  it('lets the harness see the public scenario and its own trial, by subPath only', () => {
    const run = runOf();
    const { harness } = podOf(run);
    const trial = podInput(run).trial.name;
    const parts = (harness.volumeMounts ?? []).filter(({ name }) => name === 'artifacts');
    expect(parts).toEqual([
      {
        name: 'artifacts',
        mountPath: MOUNTS.public,
        subPath: `${run.uid}/suite/public/planning-1`,
        readOnly: true,
      },
      {
        name: 'artifacts',
        mountPath: MOUNTS.scripted,
        subPath: `${run.uid}/suite/scripted/planning-1`,
        readOnly: true,
      },
      { name: 'artifacts', mountPath: MOUNTS.trial, subPath: `${run.uid}/trials/${trial}`, readOnly: false },
    ]);
    expect(JSON.stringify(harness)).not.toContain('hidden');
  });

  it('gives the answers of scenarios to the scripted runtime alone', () => {
    expect(at(podOf(runtimeRun({ id: 'openclaw' })).harness, MOUNTS.scripted)).toBeUndefined();
  });

  it('shares four emptyDirs and no /tmp, each bounded above what the harness watches', () => {
    const { spec, harness, executor } = podOf(runOf());
    const tmp = (container: typeof harness) => at(container, '/tmp')?.name;
    expect(tmp(harness)).toBe('tmp-harness');
    expect(tmp(executor)).toBe('tmp-executor');
    const watched = requestOf(harness).limits.diskBytes ?? 0;
    expect(watched).toBe(1024 ** 3);
    const dirs = (spec.volumes ?? []).filter(({ emptyDir }) => emptyDir !== undefined);
    expect(dirs).toHaveLength(6);
    for (const { name, emptyDir } of dirs) {
      expect(emptyDir?.sizeLimit).toBeDefined();
      if (['work', 'state', 'home'].includes(name))
        expect(Number(emptyDir?.sizeLimit)).toBeGreaterThan(watched);
    }
    expect(Number(executor.resources?.limits?.['ephemeral-storage'])).toBeGreaterThan(watched);
  });

  it('tells the harness what it needs, and nothing of how pods are placed', () => {
    const run = runOf({
      runtime: {
        id: 'scripted',
        behaviour: 'solve',
        env: { TZ: 'UTC' },
        podTemplate: { labels: { a: 'b' } },
      },
    });
    const { harness } = podOf(run);
    const request = requestOf(harness);
    expect(request).toMatchObject({
      trial: podInput(run).trial.name,
      attempt: 2,
      scenarioId: 'planning-1',
      modelId: null,
      gatewayUrl: null,
      limits: { memoryBytes: null, pids: 512 },
      runtimeImage: 'registry.test/scripted:1',
    });
    expect(request.runtime).not.toHaveProperty('podTemplate');
    expect(runtimeSpecSchema.parse(request.runtime)).toMatchObject({
      behaviour: 'solve',
      env: { TZ: 'UTC' },
    });
    expect(harness.args).toEqual(['harness']);
    expect(harness.image).toBe('registry.test/operator:1');
    const fields = harness.env?.flatMap(({ name, valueFrom }) =>
      valueFrom?.fieldRef === undefined ? [] : [[name, valueFrom.fieldRef.fieldPath]],
    );
    expect(fields).toEqual([
      [ENV.POD_UID, 'metadata.uid'],
      [ENV.POD_NAME, 'metadata.name'],
      [ENV.POD_NAMESPACE, 'metadata.namespace'],
      [ENV.NODE_NAME, 'spec.nodeName'],
    ]);
    expect(harness).toMatchObject({
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
    });
  });

  it('resolves aliases of a runtime', () => {
    const { harness, executor } = podOf(runtimeRun({ id: 'open-claw' }));
    expect(requestOf(harness).runtime['id']).toBe('openclaw');
    expect(executor.image).toBe('registry.test/openclaw:1');
  });

  it('starts the shim as first process of the executor, once it is whole, with nothing secret', () => {
    const { executor } = podOf(
      runOf({ model: MODEL, runtime: { id: 'scripted', env: { MARK: 'value-of-the-agent' } } }),
    );
    expect(executor.command?.slice(0, 2)).toEqual(['sh', '-c']);
    expect(executor.command?.[2]).toMatch(
      /^until \[ -s (\S+\/shim\.mjs) \]; do .*; exec node --no-warnings \1 serve$/,
    );
    expect(executor.env).toEqual([
      { name: 'CLAWBENCH_SHIM_ADDRESS', value: '127.0.0.1:7070' },
      { name: 'CLAWBENCH_SHIM_PATIENCE', value: '600' },
    ]);
    expect(JSON.stringify(executor)).not.toContain('v1.secret.token');
    // The agent's own environment comes from the harness with each turn.
    expect(JSON.stringify(executor)).not.toContain('value-of-the-agent');
  });

  it('names the gateway without a name server, and gives its token to the harness alone', () => {
    const run = runOf({ model: MODEL });
    const { spec, harness } = podOf(run);
    const [alias] = spec.hostAliases ?? [];
    expect(alias?.ip).toBe('10.96.0.20');
    expect(requestOf(harness).gatewayUrl).toBe(`http://${alias?.hostnames?.[0] ?? ''}:8080`);
    expect(valueOf(harness, ENV.GATEWAY_TOKEN)).toBe('v1.secret.token');
    expect(requestOf(harness).modelId).toBe('small');
    expect(spec.dnsPolicy).toBe('None');
    expect(spec.dnsConfig?.nameservers).toEqual(['127.0.0.1']);
    expect(podOf(runOf()).spec.hostAliases).toBeUndefined();
    expect(JSON.stringify(spec)).not.toContain('"provider"');
  });

  it.each([
    { network: { egress: 'ModelOnly' }, policy: 'None' },
    { network: { egress: 'Internet' }, policy: 'Default' },
    { network: { egress: 'Rules', rules: [] }, policy: 'Default' },
  ])('resolves names where the run opens the network: $network', ({ network, policy }) => {
    expect(podOf(runOf({ network })).spec.dnsPolicy).toBe(policy);
  });

  it('runs both containers as the user of a runtime that is not root, restricted', () => {
    const { spec, harness, executor } = podOf(runOf());
    expect(spec.securityContext).toMatchObject({
      fsGroup: VOLUME_GID,
      fsGroupChangePolicy: 'OnRootMismatch',
    });
    expect(harness.securityContext).toMatchObject({ runAsUser: 10_001, runAsGroup: VOLUME_GID });
    expect(harness.securityContext?.readOnlyRootFilesystem).toBe(true);
    expect(executor.securityContext).toMatchObject({ runAsUser: 10_001, runAsGroup: 10_001 });
    for (const { securityContext } of [harness, executor]) {
      expect(securityContext).toMatchObject({
        runAsNonRoot: true,
        privileged: false,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(securityContext?.capabilities?.add).toBeUndefined();
    }
  });

  it('lets a root image install packages and do no more', () => {
    const { harness, executor } = podOf(runtimeRun({ id: 'openclaw' }));
    expect(executor.securityContext).toMatchObject({
      runAsUser: 0,
      runAsGroup: 0,
      runAsNonRoot: false,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'], add: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETUID', 'SETGID'] },
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(harness.securityContext).toMatchObject({
      runAsUser: 0,
      runAsGroup: VOLUME_GID,
      capabilities: { drop: ['ALL'], add: ['DAC_OVERRIDE', 'FOWNER'] },
    });
  });

  it('runs as the user that the run names, harness and executor alike', () => {
    const { spec, harness, executor } = podOf(
      runtimeRun({ id: 'openclaw', podTemplate: { securityContext: { runAsUser: 1234 } } }),
    );
    expect(spec.securityContext?.runAsUser).toBe(1234);
    expect(harness.securityContext?.runAsUser).toBe(1234);
    expect(executor.securityContext?.runAsUser).toBe(1234);
    expect(executor.securityContext?.capabilities?.add).toBeUndefined();
  });

  it('copies Node.js for an image without one, before anything else runs', () => {
    const { spec, executor, container } = podOf(runtimeRun({ injectNode: true }));
    const copy = container('copy-node');
    expect(spec.initContainers?.map(({ name }) => name)).toEqual(['copy-node']);
    expect(copy.image).toBe('registry.test/operator:1');
    expect(copy.command?.[2]).toContain(`${MOUNTS.node}/node`);
    expect(at(copy, MOUNTS.node)?.readOnly).toBeUndefined();
    expect(at(executor, MOUNTS.node)?.readOnly).toBe(true);
    expect(executor.command?.[2]).toContain(`exec ${MOUNTS.node}/node --no-warnings`);
  });

  it('is bound to the node of the other pods that mount the claim, where it must be', () => {
    expect(podOf(runOf()).spec.affinity).toBeUndefined();
    const { affinity } = podOf(runOf(), { claim: ONE_NODE_CLAIM }).spec;
    expect(affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution).toEqual([
      {
        topologyKey: 'kubernetes.io/hostname',
        labelSelector: {
          matchLabels: { 'clawbench.dev/run': 'sample' },
          matchExpressions: [{ key: 'app.kubernetes.io/component', operator: 'NotIn', values: ['probe'] }],
        },
      },
    ]);
  });

  it('queues with Kueue where the run names a queue', () => {
    const { pod } = podOf(runOf({ queueName: 'benchmarks' }));
    expect(pod.metadata.labels?.['kueue.x-k8s.io/queue-name']).toBe('benchmarks');
  });

  it('pulls images as the installation says', () => {
    const config = { ...CONFIG, defaultImagePullPolicy: 'Never' as const, imagePullSecrets: ['pull'] };
    const { spec } = podOf(runtimeRun({ injectNode: true }), { config });
    expect(spec.imagePullSecrets).toEqual([{ name: 'pull' }]);
    const policies = [...(spec.initContainers ?? []), ...spec.containers].map((one) => one.imagePullPolicy);
    expect(new Set(policies)).toEqual(new Set(['Never']));
  });

  it('says which image is missing', () => {
    expect(() => podOf(runtimeRun({ id: 'nanobot' }))).toThrow(/spec\.runtime\.image: .*nanobot/);
    expect(podOf(runtimeRun({ id: 'nanobot', image: 'mine:1' })).executor.image).toBe('mine:1');
  });

  it('refuses a request that no program can be started with', () => {
    const config = { text: 'x'.repeat(140_000) };
    expect(() => podOf(runtimeRun({ id: 'openclaw', config }))).toThrow(/takes \d+ bytes/);
  });
});
