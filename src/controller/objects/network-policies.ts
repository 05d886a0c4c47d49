import { LABELS, runChildName, runLabel, type Component } from '../../api/names.ts';
import { PORTS } from '../../api/pod-contract.ts';
import { runChildMetadata } from '../../api/run-children.ts';
import { needsGateway, type ObjectsConfig, type RunContext } from './context.ts';
import { gatewaySelector } from './gateway.ts';
import type {
  LabelSelector,
  NetworkPolicyDraft,
  NetworkPolicyEgressRule,
  NetworkPolicyIngressRule,
  NetworkPolicyPort,
} from './kubernetes.ts';

/** Addresses of machines near by: private, shared, link-local (metadata services), loopback. */
const PRIVATE_V4 = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10'] as const;
const LOCAL_V4 = ['169.254.0.0/16', '127.0.0.0/8', '0.0.0.0/8', '224.0.0.0/4', '240.0.0.0/4'] as const;
const PRIVATE_V6 = ['fc00::/7'] as const;
/** With 64:ff9b::/96 and 64:ff9b:1::/48: translated, they would be IPv4 addresses near by. */
const LOCAL_V6 = ['fe80::/10', '::1/128', 'ff00::/8', '64:ff9b::/96', '64:ff9b:1::/48'] as const;

type PolicyConfig = Pick<
  ObjectsConfig,
  'controllerNamespace' | 'metricsNamespaces' | 'apiServerCIDRs' | 'clusterCIDRs'
>;

const API_SERVER_PORTS = [443, 6443] as const;

/** Every policy of a run: in force before the first of its pods is made. */
export function networkPolicies(run: RunContext, config: PolicyConfig): NetworkPolicyDraft[] {
  return [
    trialPolicy(run, config),
    workerPolicy(run, config),
    closedPolicy(run),
    ...(needsGateway(run) ? [gatewayPolicy(run, config)] : []),
  ];
}

/** Nobody calls a trial's pod. It calls the gateway's model port, and what `network.egress` opens. */
function trialPolicy(run: RunContext, config: PolicyConfig): NetworkPolicyDraft {
  const gateway: NetworkPolicyEgressRule[] = needsGateway(run)
    ? [{ to: [{ podSelector: { matchLabels: gatewaySelector(run) } }], ports: [tcp(PORTS.gatewayModel)] }]
    : [];
  return policy(run, 'trials', trialSelector(run), [], [...gateway, ...opened(run, config)]);
}

function opened(run: RunContext, network: PolicyConfig): NetworkPolicyEgressRule[] {
  const { egress, rules = [] } = run.spec.network;
  switch (egress) {
    case 'ModelOnly':
      return [];
    case 'Rules':
      return rules as NetworkPolicyEgressRule[]; // the API server checks what is in them
    case 'Internet':
      return internet(network);
  }
}

/** Every address but those near by: neither the cluster, nor its machines, nor their metadata services. */
function internet(network: PolicyConfig): NetworkPolicyEgressRule[] {
  const near = [...network.clusterCIDRs, ...network.apiServerCIDRs];
  const v6 = (cidr: string) => cidr.includes(':');
  return [
    {
      to: [
        {
          ipBlock: {
            cidr: '0.0.0.0/0',
            except: unique([...PRIVATE_V4, ...LOCAL_V4, ...near.filter((cidr) => !v6(cidr))]),
          },
        },
        { ipBlock: { cidr: '::/0', except: unique([...PRIVATE_V6, ...LOCAL_V6, ...near.filter(v6)]) } },
      ],
    },
    // The node's name servers are often near by.
    { ports: [{ protocol: 'UDP', port: 53 }, tcp(53)] },
  ];
}

/**
 * `prepare` and `score` reach the API server alone. Containers of a pod share its network, so this holds for the ones
 * without a token too.
 */
function workerPolicy(run: RunContext, network: PolicyConfig): NetworkPolicyDraft {
  const known = network.apiServerCIDRs;
  const cidrs = known.length > 0 ? known : [...PRIVATE_V4, ...PRIVATE_V6];
  const egress: NetworkPolicyEgressRule = {
    to: cidrs.map((cidr) => ({ ipBlock: { cidr } })),
    ports: API_SERVER_PORTS.map(tcp),
  };
  return policy(run, 'workers', componentSelector(run, ['prepare', 'score']), [], [egress]);
}

/** The probe calls nobody; a reader is reached by port-forward, which comes from inside its pod. */
function closedPolicy(run: RunContext): NetworkPolicyDraft {
  return policy(run, 'closed', componentSelector(run, ['probe', 'reader']), [], []);
}

/** The gateway may call any address, for a provider may be anywhere. */
function gatewayPolicy(run: RunContext, network: PolicyConfig): NetworkPolicyDraft {
  const namespace = (name: string) => ({ matchLabels: { 'kubernetes.io/metadata.name': name } });
  const ingress: NetworkPolicyIngressRule[] = [
    { from: [{ podSelector: trialSelector(run) }], ports: [tcp(PORTS.gatewayModel)] },
    {
      from: [
        {
          namespaceSelector: namespace(network.controllerNamespace),
          podSelector: { matchLabels: { [LABELS.COMPONENT]: 'controller' } },
        },
      ],
      ports: [tcp(PORTS.gatewayControl)],
    },
  ];
  if (network.metricsNamespaces.length > 0) {
    const from = network.metricsNamespaces.map((name) => ({ namespaceSelector: namespace(name) }));
    ingress.push({ from, ports: [tcp(PORTS.metrics)] });
  }
  return policy(run, 'gateway', { matchLabels: gatewaySelector(run) }, ingress, [{}]);
}

function policy(
  run: RunContext,
  suffix: string,
  podSelector: LabelSelector,
  ingress: NetworkPolicyIngressRule[],
  egress: NetworkPolicyEgressRule[],
): NetworkPolicyDraft {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: runChildMetadata(run, runChildName(run.name, suffix)),
    spec: { podSelector, policyTypes: ['Ingress', 'Egress'], ingress, egress },
  };
}

function trialSelector(run: Pick<RunContext, 'name'>) {
  return {
    matchLabels: { [LABELS.RUN]: runLabel(run.name) },
    matchExpressions: [{ key: LABELS.TRIAL, operator: 'Exists' }],
  };
}

function componentSelector(run: Pick<RunContext, 'name'>, components: readonly Component[]) {
  return {
    matchLabels: { [LABELS.RUN]: runLabel(run.name) },
    matchExpressions: [{ key: LABELS.COMPONENT, operator: 'In', values: [...components] }],
  };
}

function tcp(port: number): NetworkPolicyPort {
  return { protocol: 'TCP', port };
}

function unique(cidrs: readonly string[]): string[] {
  return [...new Set(cidrs)];
}
