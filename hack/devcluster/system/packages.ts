import { existsSync } from 'node:fs';
import { DevclusterError } from '../errors.ts';
import { attempt, run } from './command.ts';

/** Debian packages that the cluster uses, each with what it is for. */
const PACKAGES = {
  iproute2: 'bridges and routes',
  iptables: 'Services and NetworkPolicies',
  ipset: 'NetworkPolicies',
  conntrack: 'Services',
  socat: 'port-forward',
  'util-linux': 'locks, namespaces',
  openssl: 'certificates',
  'libseccomp-dev': 'building runc',
  'pkg-config': 'building runc',
  gcc: 'building runc',
  'libc6-dev': 'building runc',
  'ca-certificates': 'fetching Go modules',
  buildah: 'images',
  debootstrap: 'the base image',
  'busybox-static': 'the shell of the volume provisioner',
} as const;

/** Installs the packages that are missing and says so. @throws DevclusterError when this is not root on Debian */
export async function ensurePackages(say: (line: string) => void): Promise<void> {
  if (process.getuid?.() !== 0)
    throw new DevclusterError(
      'the development cluster runs a node, so it needs root: run it as root on a Debian machine, or use kind ' +
        '(docs/how-to/development-cluster.md)',
    );
  if (!existsSync('/usr/bin/dpkg-query') || !existsSync('/usr/bin/apt-get'))
    throw new DevclusterError(
      'the development cluster installs what it needs by apt-get, and there is none: use Debian, or kind ' +
        '(docs/how-to/development-cluster.md)',
    );
  const missing = await missingPackages();
  if (missing.length === 0) return;
  say(`installing Debian packages: ${missing.join(', ')}`);
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update', '-qq'], { env });
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...missing], { env });
}

async function missingPackages(): Promise<readonly string[]> {
  const names = Object.keys(PACKAGES);
  const { stdout } = await attempt('dpkg-query', ['-W', '-f', '${Package} ${Status}\n', ...names]);
  const installed = new Set(
    stdout
      .split('\n')
      .filter((line) => line.endsWith(' install ok installed'))
      .map((line) => line.split(' ')[0]),
  );
  return names.filter((name) => !installed.has(name));
}
