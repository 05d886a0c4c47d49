import { describe, expect, it } from 'vitest';
import { gatewayRequestSchema } from '../../../../src/api/container-requests.ts';
import { ENV, MOUNTS } from '../../../../src/api/pod-contract.ts';
import {
  gatewayDeployment,
  gatewaySecret,
  gatewayService,
  readGatewaySecret,
} from '../../../../src/controller/objects/gateway.ts';
import type { RunContext } from '../../../../src/controller/objects/context.ts';
import { CLAIM, CONFIG, MODEL, ONE_NODE_CLAIM, runOf } from '../../../support/run-objects.ts';

const RUN = runOf({ model: MODEL });
const SECRET = 's'.repeat(43);
const podOf = (run: RunContext, claim = CLAIM) => gatewayDeployment(run, CONFIG, claim).spec!.template.spec!;
const containerOf = (run: RunContext) => podOf(run).containers[0]!;
const mountOf = (run: RunContext, path: string) =>
  containerOf(run).volumeMounts?.find(({ mountPath }) => mountPath === path);

describe('the gateway of a run', () => {
  it('is one pod, ended before another starts', () => {
    const { metadata, spec } = gatewayDeployment(RUN, CONFIG, CLAIM);
    expect(metadata.name).toBe('sample-gateway');
    expect(spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
    expect(spec?.template.metadata?.labels).toMatchObject(spec?.selector.matchLabels ?? { none: 'none' });
    expect(gatewayDeployment(RUN, CONFIG, CLAIM, 0).spec?.replicas).toBe(0);
    expect(podOf(RUN, ONE_NODE_CLAIM).affinity).toBeDefined();
  });

  it('alone gets the key of the provider, by reference', () => {
    const env = containerOf(RUN).env ?? [];
    expect(env).toContainEqual({
      name: ENV.API_KEY,
      valueFrom: { secretKeyRef: { name: 'provider', key: 'token' } },
    });
    expect(env).toContainEqual({
      name: ENV.GATEWAY_SECRET,
      valueFrom: { secretKeyRef: { name: 'sample-gateway', key: 'key' } },
    });
    const { apiKeySecretRef: _, ...open } = MODEL;
    expect(containerOf(runOf({ model: open })).env?.some(({ name }) => name === ENV.API_KEY)).toBe(false);
    expect(podOf(RUN).automountServiceAccountToken).toBe(false);
  });

  it('is told the model, and keeps its journal on the volume', () => {
    const text = containerOf(RUN).env?.find(({ name }) => name === ENV.REQUEST)?.value ?? '';
    const request = gatewayRequestSchema.parse(JSON.parse(text));
    expect(request).toMatchObject({ runUID: RUN.uid, model: { id: 'small' }, journalDir: MOUNTS.journal });
    expect(mountOf(RUN, MOUNTS.journal)).toMatchObject({ subPath: `${RUN.uid}/gateway`, readOnly: false });
  });

  it('reads all scripts for the scripted model only', () => {
    const scripted = runOf({ model: { id: 'any', api: 'scripted' } });
    expect(mountOf(scripted, MOUNTS.scripted)).toMatchObject({
      subPath: `${RUN.uid}/suite/scripted`,
      readOnly: true,
    });
    expect(mountOf(RUN, MOUNTS.scripted)).toBeUndefined();
  });

  it.each([
    { mode: 'record', readOnly: false },
    { mode: 'replay', readOnly: true },
  ])('mounts the cassette to $mode', ({ mode, readOnly }) => {
    const run = runOf({ model: { ...MODEL, cassette: { mode, claim: 'tapes' } } });
    expect(mountOf(run, MOUNTS.cassette)).toMatchObject({ readOnly });
    expect(podOf(run).volumes).toContainEqual({
      name: 'cassette',
      persistentVolumeClaim: { claimName: 'tapes' },
    });
    expect(mountOf(RUN, MOUNTS.cassette)).toBeUndefined();
  });

  it('serves three ports by a Service that selects it and nothing else', () => {
    const { metadata, spec } = gatewayService(RUN);
    expect(metadata.name).toMatch(/^clawbench-gateway-[0-9a-f]{10}$/);
    const ports = containerOf(RUN).ports ?? [];
    for (const { name, port, targetPort } of spec?.ports ?? []) {
      expect(ports).toContainEqual({ name: targetPort, containerPort: port });
      expect(name).toBe(targetPort);
    }
    expect(spec?.ports?.map(({ name }) => name)).toEqual(['model', 'control', 'metrics']);
    expect(spec?.selector).toEqual({
      'clawbench.dev/run': 'sample',
      'app.kubernetes.io/component': 'gateway',
    });
    expect(spec?.clusterIP).toBeUndefined();
  });

  it('has a secret that is read back as it was written', () => {
    const secret = gatewaySecret(RUN, SECRET);
    expect(secret).toMatchObject({ type: 'Opaque', immutable: true });
    expect(readGatewaySecret(secret)).toBe(SECRET);
    expect(readGatewaySecret({ data: {} })).toBeNull();
    expect(readGatewaySecret({ data: { key: Buffer.from('short').toString('base64') } })).toBeNull();
    expect(() => gatewaySecret(RUN, 'short')).toThrow(RangeError);
  });

  it('is there only for runs that call a model', () => {
    expect(() => gatewayDeployment(runOf(), CONFIG, CLAIM)).toThrow('no gateway');
  });
});
