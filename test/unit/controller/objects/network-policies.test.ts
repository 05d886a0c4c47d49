import { BlockList, isIPv6 } from 'node:net';
import { describe, expect, it } from 'vitest';
import type {
  NetworkPolicyDraft,
  NetworkPolicyEgressRule,
} from '../../../../src/controller/objects/kubernetes.ts';
import { gatewayDeployment } from '../../../../src/controller/objects/gateway.ts';
import { networkPolicies } from '../../../../src/controller/objects/network-policies.ts';
import { prepareJob } from '../../../../src/controller/objects/prepare-job.ts';
import { probePod } from '../../../../src/controller/objects/probe-pod.ts';
import { readerPod } from '../../../../src/controller/objects/reader-pod.ts';
import { scoreJob } from '../../../../src/controller/objects/score-job.ts';
import type { RunContext } from '../../../../src/controller/objects/context.ts';
import { CLAIM, CONFIG, MODEL, podOf, runOf } from '../../../support/run-objects.ts';

type Labels = Readonly<Record<string, string>>;
type Selector = NonNullable<NetworkPolicyDraft['spec']>['podSelector'];

/** As Kubernetes selects. */
function selects(selector: Selector, labels: Labels): boolean {
  return (
    Object.entries(selector?.matchLabels ?? {}).every(([key, value]) => labels[key] === value) &&
    (selector?.matchExpressions ?? []).every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === 'Exists') return value !== undefined;
      if (operator === 'In') return value !== undefined && values.includes(value);
      throw new Error(`operator ${operator}`);
    })
  );
}

const policiesFor = (run: RunContext, labels: Labels | undefined) =>
  networkPolicies(run, CONFIG).filter(({ spec }) => selects(spec?.podSelector, labels ?? {}));
const only = (run: RunContext, labels: Labels | undefined) => {
  const [policy, ...others] = policiesFor(run, labels);
  expect(others).toEqual([]);
  expect(policy?.spec?.policyTypes).toEqual(['Ingress', 'Egress']);
  return policy!.spec!;
};

/** Whether a rule lets a call to an address and port through; peers that are pods are of no address. */
function lets(
  rules: readonly NetworkPolicyEgressRule[],
  address: string,
  port: number,
  protocol = 'TCP',
): boolean {
  const family = isIPv6(address) ? 'ipv6' : 'ipv4';
  const within = (cidr: string) => {
    const [network = '', bits = ''] = cidr.split('/');
    if ((isIPv6(network) ? 'ipv6' : 'ipv4') !== family) return false;
    const list = new BlockList();
    list.addSubnet(network, Number(bits), family);
    return list.check(address, family);
  };
  return rules.some(
    ({ to, ports }) =>
      (ports === undefined ||
        ports.some((one) => one.port === port && (one.protocol ?? 'TCP') === protocol)) &&
      (to === undefined ||
        to.some(
          ({ ipBlock }) =>
            ipBlock !== undefined && within(ipBlock.cidr) && !(ipBlock.except ?? []).some(within),
        )),
  );
}

const MODEL_RUN = runOf({ model: MODEL });
const labelsOf = (run: RunContext) => ({
  trial: podOf(run).pod.metadata.labels,
  prepare: prepareJob(run, CONFIG, CLAIM).spec?.template.metadata?.labels,
  score: scoreJob(run, CONFIG, CLAIM, 1, 1).spec?.template.metadata?.labels,
  probe: probePod(run, CONFIG).metadata.labels,
  reader: readerPod(run, CONFIG, CLAIM, 'a1').metadata.labels,
  gateway: gatewayDeployment(run, CONFIG, CLAIM).spec?.template.metadata?.labels,
});

describe('the network policies of a run', () => {
  it('hold every pod of the run by exactly one policy, and no pod of another run', () => {
    for (const labels of Object.values(labelsOf(MODEL_RUN))) only(MODEL_RUN, labels);
    const other = runOf({ model: MODEL }, 'another');
    for (const labels of Object.values(labelsOf(other))) expect(policiesFor(MODEL_RUN, labels)).toEqual([]);
  });

  it('let a trial reach the model port of the gateway of its run and nothing else', () => {
    const labels = labelsOf(MODEL_RUN);
    const { ingress, egress } = only(MODEL_RUN, labels.trial);
    expect(ingress).toEqual([]);
    expect(egress).toHaveLength(1);
    const [rule] = egress ?? [];
    expect(rule?.ports).toEqual([{ protocol: 'TCP', port: 8080 }]);
    expect(rule?.to).toHaveLength(1);
    const selector = rule?.to?.[0]?.podSelector;
    expect(selects(selector, labels.gateway ?? {})).toBe(true);
    expect(selects(selector, labels.trial ?? {})).toBe(false);
    expect(rule?.to?.[0]?.namespaceSelector).toBeUndefined();
    expect(only(runOf(), podOf(runOf()).pod.metadata.labels).egress).toEqual([]);
  });

  it.each([
    ['93.184.216.34', 443, true],
    ['93.184.216.34', 25, true],
    ['2606:2800:220:1::1', 443, true],
    ['10.1.2.3', 443, false],
    ['172.20.0.1', 443, false],
    ['192.168.1.1', 80, false],
    ['100.100.0.1', 80, false],
    ['169.254.169.254', 80, false],
    ['127.0.0.1', 80, false],
    ['198.51.100.7', 443, false],
    ['203.0.113.9', 443, false],
    ['2001:db8::1', 443, false],
    ['fd00::1', 443, false],
    ['fe80::1', 443, false],
    ['fd00:ec2::254', 80, false],
    ['64:ff9b::a00:1', 443, false],
  ])('with egress Internet: %s port %i is %s', (address, port, allowed) => {
    const run = runOf({ network: { egress: 'Internet' } });
    const { egress, ingress } = only(run, podOf(run).pod.metadata.labels);
    expect(ingress).toEqual([]);
    expect(lets(egress ?? [], address, port)).toBe(allowed);
  });

  it('with egress Internet also ask name servers near by', () => {
    const run = runOf({ network: { egress: 'Internet' } });
    const { egress = [] } = only(run, podOf(run).pod.metadata.labels);
    for (const protocol of ['UDP', 'TCP']) expect(lets(egress, '169.254.20.10', 53, protocol)).toBe(true);
    expect(lets(egress, '10.96.0.10', 53, 'UDP')).toBe(true);
  });

  it('take the rules of the run as they are, beside the gateway', () => {
    const rules = [{ to: [{ ipBlock: { cidr: '192.0.2.0/24' } }], ports: [{ protocol: 'TCP', port: 443 }] }];
    const run = runOf({ model: MODEL, network: { egress: 'Rules', rules } });
    const { egress = [] } = only(run, podOf(run).pod.metadata.labels);
    expect(egress).toHaveLength(2);
    expect(lets(egress, '192.0.2.1', 443)).toBe(true);
    expect(lets(egress, '192.0.2.1', 80)).toBe(false);
    expect(lets(egress, '93.184.216.34', 443)).toBe(false);
  });

  it.each(['prepare', 'score'] as const)('let %s reach the API server alone', (name) => {
    const { ingress, egress = [] } = only(MODEL_RUN, labelsOf(MODEL_RUN)[name]);
    expect(ingress).toEqual([]);
    expect(lets(egress, '198.51.100.7', 443)).toBe(true);
    expect(lets(egress, '198.51.100.7', 6443)).toBe(true);
    expect(lets(egress, '198.51.100.7', 80)).toBe(false);
    expect(lets(egress, '10.96.0.1', 443)).toBe(false);
    expect(lets(egress, '93.184.216.34', 443)).toBe(false);
    expect(lets(egress, '10.96.0.10', 53, 'UDP')).toBe(false);
  });

  it('take any private address for the API server where nobody says which it has', () => {
    const [, workers] = networkPolicies(runOf(), { ...CONFIG, apiServerCIDRs: [] });
    const egress = workers?.spec?.egress ?? [];
    expect(lets(egress, '10.96.0.1', 443)).toBe(true);
    expect(lets(egress, '169.254.169.254', 443)).toBe(false);
    expect(lets(egress, '93.184.216.34', 443)).toBe(false);
    expect(lets(egress, '10.96.0.1', 80)).toBe(false);
  });

  it.each(['probe', 'reader'] as const)('let %s reach nothing', (name) => {
    expect(only(MODEL_RUN, labelsOf(MODEL_RUN)[name])).toMatchObject({ ingress: [], egress: [] });
  });

  it('open each port of the gateway to those who need it', () => {
    const labels = labelsOf(MODEL_RUN);
    const { ingress = [], egress } = only(MODEL_RUN, labels.gateway);
    expect(egress).toEqual([{}]);
    const [model, control, metrics] = ingress;
    expect(ingress).toHaveLength(3);
    expect(model?.ports).toEqual([{ protocol: 'TCP', port: 8080 }]);
    expect(selects(model?.from?.[0]?.podSelector, labels.trial ?? {})).toBe(true);
    for (const name of ['prepare', 'score', 'probe', 'reader', 'gateway'] as const) {
      expect(selects(model?.from?.[0]?.podSelector, labels[name] ?? {})).toBe(false);
    }
    const inNamespace = (name: string) => ({ matchLabels: { 'kubernetes.io/metadata.name': name } });
    expect(control).toEqual({
      from: [
        {
          namespaceSelector: inNamespace('clawbench-system'),
          podSelector: { matchLabels: { 'app.kubernetes.io/component': 'controller' } },
        },
      ],
      ports: [{ protocol: 'TCP', port: 8081 }],
    });
    expect(metrics).toEqual({
      from: [{ namespaceSelector: inNamespace('monitoring') }],
      ports: [{ protocol: 'TCP', port: 9090 }],
    });
  });

  it('leave the metrics port shut where nobody may read it', () => {
    const policies = networkPolicies(MODEL_RUN, { ...CONFIG, metricsNamespaces: [] });
    const gateway = policies.find(({ metadata }) => metadata.name === 'sample-gateway');
    expect(JSON.stringify(gateway?.spec?.ingress)).not.toContain('9090');
    expect(gateway?.spec?.ingress).toHaveLength(2);
  });

  it('know no gateway where the run calls no model', () => {
    expect(networkPolicies(runOf(), CONFIG).map(({ metadata }) => metadata.name)).toEqual([
      'sample-trials',
      'sample-workers',
      'sample-closed',
    ]);
  });
});
