import { run, attempt } from '../system/command.ts';
import { POD_RANGE, type NodePlan } from './node-plan.ts';

/** Marks the rules that are the cluster's own and no Kubernetes program's. */
export const RULE_COMMENT = 'clawbench-devcluster';

/** Makes the node's bridge with its address; does nothing twice. */
export async function ensureNodeNetwork(node: NodePlan): Promise<void> {
  if ((await attempt('ip', ['link', 'show', node.bridge])).code !== 0) {
    await run('ip', ['link', 'add', node.bridge, 'type', 'bridge']);
    await run('ip', ['address', 'add', `${node.address}/24`, 'dev', node.bridge]);
  }
  await run('ip', ['link', 'set', node.bridge, 'up']);
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

/** Removes the node's bridge; pods' ends went with the pods. */
export async function removeNodeNetwork(node: NodePlan): Promise<void> {
  await attempt('ip', ['link', 'delete', node.bridge]);
}
