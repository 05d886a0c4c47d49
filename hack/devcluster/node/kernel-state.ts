import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { attempt, run } from '../system/command.ts';
import { RULE_COMMENT } from './network.ts';

const COMMANDS = ['iptables', 'ip6tables'] as const;

/** Settings of the kernel that the cluster's programs change, by path below /proc/sys. */
const SETTINGS = [
  'net/ipv4/ip_forward',
  'net/ipv4/conf/all/route_localnet',
  'net/bridge/bridge-nf-call-iptables',
  'net/bridge/bridge-nf-call-ip6tables',
  'net/ipv6/conf/all/forwarding',
  'vm/overcommit_memory',
  'vm/panic_on_oom',
  'kernel/panic',
  'kernel/panic_on_oops',
  'kernel/keys/root_maxkeys',
  'kernel/keys/root_maxbytes',
  'net/netfilter/nf_conntrack_tcp_be_liberal',
] as const;

/** What the kernel held before the cluster; everything beyond it goes when the cluster goes. */
export interface KernelState {
  /** `command table chain`. */
  readonly chains: readonly string[];
  readonly sets: readonly string[];
  readonly settings: Readonly<Record<string, string>>;
}

export async function readKernelState(): Promise<KernelState> {
  const chains: string[] = [];
  for (const command of COMMANDS) {
    for (const { table, chain } of await listChains(command)) chains.push(`${command} ${table} ${chain}`);
  }
  const settings: Record<string, string> = {};
  for (const name of SETTINGS) {
    const path = join('/proc/sys', name);
    if (existsSync(path)) settings[name] = readFileSync(path, 'utf8').trim();
  }
  return { chains, sets: await listSets(), settings };
}

/** Settings without which a bridge's packets pass by Services and policies. */
export async function applySettings(): Promise<void> {
  for (const name of ['net/ipv4/ip_forward', 'net/bridge/bridge-nf-call-iptables']) {
    const path = join('/proc/sys', name);
    if (existsSync(path)) await writeFile(path, '1');
  }
}

/**
 * Removes chains, rules and address sets of Kubernetes programs that were not there before the cluster, and puts
 * settings back. Chains with other names are somebody else's and stay.
 */
export async function restoreKernelState(before: KernelState): Promise<void> {
  for (const command of COMMANDS) await restoreChains(command, new Set(before.chains));
  for (const set of await listSets()) {
    if (!before.sets.includes(set) && isOurSet(set)) await attempt('ipset', ['destroy', set]);
  }
  for (const [name, value] of Object.entries(before.settings))
    await writeFile(join('/proc/sys', name), value).catch(() => undefined);
}

async function restoreChains(command: (typeof COMMANDS)[number], before: ReadonlySet<string>): Promise<void> {
  const doomed = (await listChains(command)).filter(
    ({ table, chain }) => isOurChain(chain) && !before.has(`${command} ${table} ${chain}`),
  );
  const names = new Set(doomed.map(({ table, chain }) => `${table} ${chain}`));
  // One transaction a table: rules that lead into the chains, then the chains' content, then the chains.
  const script: string[] = [];
  let table = '';
  for (const line of (await attempt(`${command}-save`, [])).stdout.split('\n')) {
    if (line.startsWith('*')) {
      table = line.slice(1);
      script.push(line);
      for (const { table: other, chain } of doomed) if (other === table) script.push(`:${chain} - [0:0]`);
    } else if (line.startsWith('-A ')) {
      const [, chain = ''] = line.split(' ');
      if (names.has(`${table} ${chain}`)) continue;
      const target = / -j (\S+)/.exec(line)?.[1] ?? '';
      if (names.has(`${table} ${target}`) || line.includes(`--comment ${RULE_COMMENT}`))
        script.push(line.replace(/^-A/, '-D'));
    } else if (line === 'COMMIT') {
      for (const { table: other, chain } of doomed) if (other === table) script.push(`-X ${chain}`);
      script.push(line);
    }
  }
  if (doomed.length > 0 || script.some((line) => line.startsWith('-D')))
    await run(`${command}-restore`, ['--noflush', '-w', '5'], { input: `${script.join('\n')}\n` });
}

interface Chain {
  readonly table: string;
  readonly chain: string;
}

async function listChains(command: (typeof COMMANDS)[number]): Promise<readonly Chain[]> {
  const chains: Chain[] = [];
  let table = '';
  for (const line of (await attempt(`${command}-save`, [])).stdout.split('\n')) {
    if (line.startsWith('*')) table = line.slice(1);
    if (line.startsWith(':')) chains.push({ table, chain: line.slice(1).split(' ')[0] ?? '' });
  }
  return chains;
}

async function listSets(): Promise<readonly string[]> {
  const { stdout } = await attempt('ipset', ['list', '-name']);
  return stdout.split('\n').filter((name) => name !== '');
}

function isOurChain(name: string): boolean {
  return /^(KUBE-|CNI-)/.test(name);
}

function isOurSet(name: string): boolean {
  return /^(inet6:)?(KUBE-|kube-router-|TMP-)/.test(name);
}
