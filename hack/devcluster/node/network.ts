import { run, attempt } from '../system/command.ts';
import { FIRST_NODE_ADDRESS, POD_RANGE, type NodePlan } from './node-plan.ts';

/** Marks the rules that are the cluster's own and no Kubernetes program's. */
export const RULE_COMMENT = 'clawbench-devcluster';

/** Makes the node's bridge with its address, and for a node in a namespace the way there; does nothing twice. */
export async function ensureNodeNetwork(node: NodePlan): Promise<void> {
  if (node.namespace !== undefined) await ensureNamespace(node, node.namespace);
  const ip = ipIn(node.namespace);
  if ((await attempt('ip', ip('link', 'show', node.bridge))).code !== 0) {
    await run('ip', ip('link', 'add', node.bridge, 'type', 'bridge'));
    await run('ip', ip('address', 'add', `${node.address}/24`, 'dev', node.bridge));
  }
  await run('ip', ip('link', 'set', node.bridge, 'up'));
}

/** Lets pods reach each other and, behind the machine's address, what the machine reaches. */
export async function ensurePodRoutes(): Promise<void> {
  await ensureRule('nat', 'POSTROUTING', ['-s', POD_RANGE, '!', '-d', POD_RANGE, '-j', 'MASQUERADE']);
  // For machines that drop forwarded packets by default; behind all other rules, so that policies come first.
  await ensureRule('filter', 'FORWARD', ['-s', POD_RANGE, '-j', 'ACCEPT']);
  await ensureRule('filter', 'FORWARD', ['-d', POD_RANGE, '-j', 'ACCEPT']);
}

async function ensureRule(table: string, chain: string, rule: readonly string[]): Promise<void> {
  const whole = [chain, '-m', 'comment', '--comment', RULE_COMMENT, ...rule];
  if ((await attempt('iptables', ['-w', '-t', table, '-C', ...whole])).code === 0) return;
  await run('iptables', ['-w', '-t', table, '-A', ...whole]);
}

/** The node's end and the machine's of the cable between them. */
function cable(node: NodePlan): { readonly outside: string; readonly inside: string; readonly name: string } {
  return {
    outside: `169.254.${100 + node.index}.1`,
    inside: `169.254.${100 + node.index}.2`,
    name: `cbdev-n${node.index}`,
  };
}

async function ensureNamespace(node: NodePlan, namespace: string): Promise<void> {
  const { outside, inside, name } = cable(node);
  const ip = ipIn(namespace);
  if ((await attempt('ip', ip('link', 'show', 'lo'))).code !== 0)
    await run('ip', ['netns', 'add', namespace]);
  await run('ip', ip('link', 'set', 'lo', 'up'));
  if ((await attempt('ip', ['link', 'show', name])).code !== 0) {
    await run('ip', ['link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace]);
    await run('ip', ['address', 'add', `${outside}/30`, 'dev', name]);
    await run('ip', ip('address', 'add', `${inside}/30`, 'dev', 'eth0'));
  }
  await run('ip', ['link', 'set', name, 'up']);
  await run('ip', ip('link', 'set', 'eth0', 'up'));
  await run('ip', ['route', 'replace', node.podRange, 'via', inside, 'dev', name, 'src', FIRST_NODE_ADDRESS]);
  await run('nsenter', [`--net=/run/netns/${namespace}`, 'sysctl', '-qw', 'net.ipv4.ip_forward=1']);
}

/** Routes inside a node's namespace; after its bridge is there, whose address its own packets carry. */
export async function ensureWayOut(node: NodePlan): Promise<void> {
  if (node.namespace === undefined) return;
  const { outside } = cable(node);
  await run(
    'ip',
    ipIn(node.namespace)('route', 'replace', 'default', 'via', outside, 'dev', 'eth0', 'src', node.address),
  );
}

/** Removes the node's bridge, its namespace and what hangs on them. */
export async function removeNodeNetwork(node: NodePlan): Promise<void> {
  if (node.namespace === undefined) {
    await attempt('ip', ['link', 'delete', node.bridge]);
    return;
  }
  await attempt('ip', ['link', 'delete', cable(node).name]);
  await attempt('ip', ['netns', 'delete', node.namespace]);
}

function ipIn(namespace: string | undefined): (...args: string[]) => string[] {
  return (...args) => (namespace === undefined ? args : ['-n', namespace, ...args]);
}
