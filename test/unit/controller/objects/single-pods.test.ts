import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MOUNTS } from '../../../../src/api/pod-contract.ts';
import { PROBE_EXITS, probePod } from '../../../../src/controller/objects/probe-pod.ts';
import { readerPod } from '../../../../src/controller/objects/reader-pod.ts';
import {
  workerRoleBinding,
  workerServiceAccount,
} from '../../../../src/controller/objects/worker-account.ts';
import { CLAIM, CONFIG, ONE_NODE_CLAIM, podOf, runOf, runtimeRun } from '../../../support/run-objects.ts';

describe('the probe of a runtime image', () => {
  const template = { nodeSelector: { pool: 'bench' }, runtimeClassName: 'sandbox' };

  it('runs the image as a trial would, on the nodes of a trial, with nothing of the volume', () => {
    const run = runtimeRun({ id: 'openclaw', podTemplate: template });
    const { spec, metadata } = probePod(run, CONFIG);
    const { executor } = podOf(run);
    const probe = spec?.containers[0];
    expect(metadata.name).toBe('sample-probe');
    expect(metadata.labels).toMatchObject({
      'app.kubernetes.io/component': 'probe',
      'clawbench.dev/run': 'sample',
    });
    expect(metadata.labels).not.toHaveProperty(['clawbench.dev/trial']);
    expect(probe).toMatchObject({
      name: 'probe',
      image: executor.image,
      securityContext: executor.securityContext,
      resources: executor.resources,
    });
    expect(probe?.env).toEqual([]);
    expect(spec).toMatchObject({ ...template, restartPolicy: 'Never', automountServiceAccountToken: false });
    expect(spec?.volumes).toEqual([]);
    expect(spec?.activeDeadlineSeconds).toBeGreaterThan(600);
    // It mounts no claim, so it must bind nobody to its node.
    expect(spec?.affinity).toBeUndefined();
  });

  it('uses the Node.js that trials are given', () => {
    const { spec } = probePod(runtimeRun({ injectNode: true }), CONFIG);
    expect(spec?.initContainers?.map(({ name }) => name)).toEqual(['copy-node']);
    expect(spec?.containers[0]?.command?.[2]).toContain(`${MOUNTS.node}/node --version`);
  });

  /** Runs the probe's script with a program `node` that does as told; gives the exit code and the message. */
  const check = (node: string) => {
    const folder = mkdtempSync(join(tmpdir(), 'clawbench-probe-'));
    try {
      writeFileSync(join(folder, 'node'), `#!/bin/sh\n${node}\n`, { mode: 0o755 });
      const log = join(folder, 'termination-log');
      const script = probePod(runOf(), CONFIG).spec?.containers[0]?.command?.[2] ?? '';
      const { status } = spawnSync('/bin/sh', ['-c', script.replaceAll('/dev/termination-log', log)], {
        env: { PATH: `${folder}:/usr/bin:/bin` },
      });
      return { status, said: readFileSync(log, 'utf8').trim() };
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

  it.each([
    { node: 'echo v26.10.0', status: 0, said: 'v26.10.0' },
    { node: 'echo v20.0.0', status: 0, said: 'v20.0.0' },
    { node: 'echo v18.19.0', status: PROBE_EXITS.oldNode, said: 'Node.js v18.19.0 is older than 20' },
    { node: 'echo nonsense', status: PROBE_EXITS.oldNode, said: 'Node.js nonsense is older than 20' },
    {
      node: 'echo bad library >&2; exit 127',
      status: PROBE_EXITS.noNode,
      said: 'cannot start node: bad library',
    },
  ])('says what it found: $said', ({ node, status, said }) => {
    expect(check(node)).toEqual({ status, said });
  });
});

describe('a reader', () => {
  it('sees the folder of its run, read-only, and ends by itself', () => {
    const run = runOf();
    const { metadata, spec } = readerPod(run, CONFIG, CLAIM, 'x1');
    const [reader] = spec?.containers ?? [];
    expect(metadata.name).toBe('sample-reader-x1');
    expect(metadata.labels).toMatchObject({ 'app.kubernetes.io/component': 'reader' });
    expect(metadata.ownerReferences).toHaveLength(1);
    expect(reader).toMatchObject({ name: 'reader', args: ['reader'], image: 'registry.test/operator:1' });
    expect(reader?.volumeMounts).toContainEqual({
      name: 'artifacts',
      mountPath: MOUNTS.run,
      subPath: run.uid,
      readOnly: true,
    });
    expect(spec).toMatchObject({
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      dnsPolicy: 'None',
    });
    expect(spec?.activeDeadlineSeconds).toBeGreaterThan(0);
    expect(readerPod(run, CONFIG, ONE_NODE_CLAIM, 'x1').spec?.affinity).toBeDefined();
  });
});

describe('the account of the workers', () => {
  it('is bound to one fixed role, in the namespace of the run', () => {
    expect(workerServiceAccount('team')).toMatchObject({
      metadata: { name: 'clawbench-worker', namespace: 'team' },
      automountServiceAccountToken: false,
    });
    expect(workerRoleBinding('team', CONFIG)).toMatchObject({
      metadata: { namespace: 'team' },
      roleRef: { kind: 'ClusterRole', name: 'clawbench-worker' },
      subjects: [{ kind: 'ServiceAccount', name: 'clawbench-worker', namespace: 'team' }],
    });
    expect(workerRoleBinding('team', { workerRoleKind: 'Role' })).toMatchObject({
      roleRef: { kind: 'Role' },
    });
    // Runs share it: it goes with none of them.
    expect(workerServiceAccount('team').metadata.ownerReferences).toBeUndefined();
  });
});
