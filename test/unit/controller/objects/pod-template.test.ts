import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../../../src/api/errors.ts';
import { operatorPlacement, readPodTemplate } from '../../../../src/controller/objects/pod-template.ts';
import { CLAIM, ONE_NODE_CLAIM, podOf, runtimeRun } from '../../../support/run-objects.ts';

const templateRun = (podTemplate: Readonly<Record<string, unknown>>) => runtimeRun({ podTemplate });

describe('spec.runtime.podTemplate', () => {
  it('places, labels and annotates the pod', () => {
    const { pod, spec } = podOf(
      templateRun({
        nodeSelector: { pool: 'bench' },
        tolerations: [{ key: 'bench', operator: 'Exists', effect: 'NoSchedule' }],
        affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
        runtimeClassName: 'sandbox',
        securityContext: {
          supplementalGroups: [3000],
          sysctls: [{ name: 'net.ipv4.tcp_syncookies', value: '1' }],
        },
        labels: { team: 'blue' },
        annotations: { note: 'ours' },
      }),
    );
    expect(spec).toMatchObject({
      nodeSelector: { pool: 'bench' },
      tolerations: [{ key: 'bench', operator: 'Exists', effect: 'NoSchedule' }],
      affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
      runtimeClassName: 'sandbox',
      securityContext: {
        supplementalGroups: [3000],
        runAsUser: 10_001,
        seccompProfile: { type: 'RuntimeDefault' },
      },
    });
    expect(pod.metadata.labels).toMatchObject({ team: 'blue', 'clawbench.dev/run': 'sample' });
    expect(pod.metadata.annotations).toEqual({ note: 'ours' });
  });

  it.each([
    ['labels', { 'app.kubernetes.io/component': 'gateway' }, 'belongs to the operator'],
    ['labels', { 'app.kubernetes.io/managed-by': 'me' }, 'belongs to the operator'],
    ['labels', { 'kueue.x-k8s.io/queue-name': 'mine' }, 'Set spec.queueName instead'],
    ['annotations', { 'clawbench.dev/anything': 'mine' }, 'belongs to the operator'],
    ['securityContext', { runAsNonRoot: false }, 'runAsNonRoot'],
    ['securityContext', { fsGroup: 0 }, 'fsGroup'],
    ['securityContext', { runAsGroup: 0 }, 'runAsGroup'],
    ['securityContext', { seccompProfile: { type: 'Unconfined' } }, 'seccompProfile'],
    ['securityContext', { appArmorProfile: { type: 'Unconfined' } }, 'appArmorProfile'],
    ['securityContext', { windowsOptions: { hostProcess: true } }, 'windowsOptions'],
    ['securityContext', { supplementalGroups: [0] }, 'supplementalGroups'],
    ['securityContext', { runAsUser: 'root' }, 'runAsUser'],
    ['affinity', { podAffinity: [] }, 'podAffinity'],
    ['affinity', { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: {} } }, 'podAffinity'],
  ])('refuses %s %j', (field, value, words) => {
    const run = templateRun({ [field]: value });
    expect(() => podOf(run)).toThrow(InvalidInputError);
    expect(() => podOf(run)).toThrow(`spec.runtime.podTemplate.${field}`);
    expect(() => podOf(run)).toThrow(words);
  });

  it.each([
    'hostNetwork',
    'hostPID',
    'volumes',
    'containers',
    'serviceAccountName',
    'hostAliases',
    'dnsPolicy',
  ])('has no field %s', (field) => {
    expect(() => templateRun({ [field]: true })).toThrow(field);
  });

  it('is told every problem at once', () => {
    const { podTemplate } = templateRun({
      labels: { 'app.kubernetes.io/component': 'gateway' },
      securityContext: { fsGroup: 0 },
    }).spec.runtime;
    const problems = (() => {
      try {
        readPodTemplate(podTemplate);
        return [];
      } catch (error) {
        return (error as InvalidInputError).problems;
      }
    })();
    expect(problems.map(({ field }) => field)).toEqual([
      'spec.runtime.podTemplate.labels',
      'spec.runtime.podTemplate.securityContext',
    ]);
  });

  it('keeps the affinity of the user beside the binding to one node', () => {
    const own = { topologyKey: 'zone', labelSelector: { matchLabels: { a: 'b' } } };
    const run = templateRun({
      affinity: {
        nodeAffinity: {},
        podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [own] },
      },
    });
    const { affinity } = podOf(run, { claim: ONE_NODE_CLAIM }).spec;
    expect(affinity?.nodeAffinity).toEqual({});
    const terms = affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
    expect(terms).toHaveLength(2);
    expect(terms?.[0]).toEqual(own);
  });

  it('holds for the pods of the operator where they share the node of the trials, and only there', () => {
    const run = templateRun({ nodeSelector: { pool: 'bench' }, runtimeClassName: 'sandbox' });
    expect(operatorPlacement(run, CLAIM)).toEqual({});
    const placement = operatorPlacement(run, ONE_NODE_CLAIM);
    expect(placement).toMatchObject({ nodeSelector: { pool: 'bench' } });
    expect(placement).not.toHaveProperty('runtimeClassName');
    expect(placement.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution).toHaveLength(1);
  });

  it('never changes what isolates the pod, whatever it says', () => {
    const word = fc.constantFrom('a', 'team/x', 'b', 'app.kubernetes.io/component', 'clawbench.dev/run');
    const strings = fc.dictionary(word, fc.string({ maxLength: 5 }), { maxKeys: 2 });
    const harmless = fc.record(
      { runAsUser: fc.nat(70_000), supplementalGroups: fc.constant([3000]) },
      { requiredKeys: [] },
    );
    const harmful = fc.dictionary(
      fc.constantFrom('runAsGroup', 'fsGroup', 'seccompProfile', 'runAsNonRoot', 'hostNetwork', 'volumes'),
      fc.oneof(fc.nat(70_000), fc.boolean(), fc.constant({ type: 'Unconfined' }), fc.constant([])),
    );
    const template = fc.record(
      {
        labels: strings,
        annotations: strings,
        nodeSelector: strings,
        securityContext: fc.oneof({ weight: 3, arbitrary: harmless }, harmful),
        affinity: fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, harmful),
        hostNetwork: fc.constant(true),
        serviceAccountName: fc.constant('default'),
        volumes: fc.constant([{ name: 'root', hostPath: { path: '/' } }]),
      },
      { requiredKeys: [] },
    );
    const plain = podOf(runtimeRun({}));
    let built = 0;
    fc.assert(
      fc.property(template, (podTemplate) => {
        const run = runtimeRun({});
        // Past the schema, as an object of an older version could be.
        const spec = { ...run.spec, runtime: { ...run.spec.runtime, podTemplate } } as typeof run.spec;
        let made: ReturnType<typeof podOf>;
        try {
          made = podOf({ ...run, spec });
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidInputError);
          return;
        }
        built += 1;
        const uid = made.executor.securityContext?.runAsUser;
        expect(made.pod.metadata.labels).toMatchObject(plain.pod.metadata.labels ?? {});
        expect(made.pod.metadata.labels).not.toHaveProperty(['app.kubernetes.io/component']);
        expect(made.spec.volumes).toEqual(plain.spec.volumes);
        for (const field of [
          'hostNetwork',
          'hostPID',
          'hostIPC',
          'automountServiceAccountToken',
          'serviceAccountName',
          'dnsPolicy',
          'activeDeadlineSeconds',
          'restartPolicy',
        ] as const) {
          expect(made.spec[field]).toEqual(plain.spec[field]);
        }
        expect(made.spec.securityContext).toMatchObject({
          runAsGroup: 65_532,
          fsGroup: 65_532,
          runAsNonRoot: uid !== 0,
          seccompProfile: { type: 'RuntimeDefault' },
        });
        expect(made.executor.securityContext).toMatchObject({
          allowPrivilegeEscalation: false,
          privileged: false,
          seccompProfile: { type: 'RuntimeDefault' },
        });
        expect(made.harness.securityContext?.runAsUser).toBe(uid);
        expect(made.executor.volumeMounts).toEqual(plain.executor.volumeMounts);
      }),
      { numRuns: 500 },
    );
    expect(built).toBeGreaterThan(20);
  });
});
