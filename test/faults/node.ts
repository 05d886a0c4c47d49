import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pod } from '../../src/kube/object.ts';

/*
 * The node is this machine, so what a kernel or an administrator does to a container can be done from here.
 */

/** Processes of a pod whose command line has all `words`. */
export function processesOf(pod: Pod, ...words: readonly string[]): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const groups = readFileSync(`/proc/${pid}/cgroup`, 'utf8');
        if (!groups.includes(pod.metadata.uid)) return false;
        const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return words.every((word) => commandLine.includes(word));
      } catch {
        return false; // it ended meanwhile
      }
    });
}

/** Kills the one process of a pod that has all `words` in its command line. */
export function killIn(pod: Pod, ...words: readonly string[]): void {
  const pids = processesOf(pod, ...words);
  const [pid] = pids;
  if (pid === undefined || pids.length !== 1) {
    throw new Error(`${pids.length} processes of ${pod.metadata.name} have ${words.join(' ')}`);
  }
  process.kill(pid, 'SIGKILL');
}

/**
 * Takes memory away from the container that a process is in, until the kernel has to kill it: a real OOM kill, as the
 * kubelet sees it.
 */
export function starveOfMemory(pid: number): void {
  const line = readFileSync(`/proc/${pid}/cgroup`, 'utf8')
    .split('\n')
    .find((group) => group.includes(':memory:') || group.startsWith('0::'));
  const path = line?.slice(line.lastIndexOf(':') + 1) ?? '';
  const v1 = join('/sys/fs/cgroup/memory', path, 'memory.limit_in_bytes');
  if (!existsSync(v1)) {
    writeFileSync(join('/sys/fs/cgroup', path, 'memory.max'), String(1 << 20));
    return;
  }
  // What is in use cannot be refused afterwards, so the limit is put just above it; the next growth is killed.
  for (const bytes of [1 << 20, 8 << 20, 16 << 20, 32 << 20, 48 << 20, 64 << 20]) {
    try {
      writeFileSync(v1, String(bytes));
      return;
    } catch {
      // more is in use than can be given back
    }
  }
  throw new Error(`the memory limit of ${path} cannot be lowered`);
}
