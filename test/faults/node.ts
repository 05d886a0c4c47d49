import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
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
 * kubelet sees it. Returns when the process is gone.
 */
export async function starveOfMemory(pid: number): Promise<void> {
  const line = readFileSync(`/proc/${pid}/cgroup`, 'utf8')
    .split('\n')
    .find((group) => group.includes(':memory:') || group.startsWith('0::'));
  const path = line?.slice(line.lastIndexOf(':') + 1) ?? '';
  const v1 = join('/sys/fs/cgroup/memory', path);
  for (let round = 0; round < 600; round += 1) {
    if (!existsSync(`/proc/${pid}`)) return;
    try {
      if (existsSync(v1)) {
        // What is in use cannot be refused afterwards: caches are dropped, and not a page more is allowed.
        writeFileSync(join(v1, 'memory.force_empty'), '0');
        const used = Number(readFileSync(join(v1, 'memory.usage_in_bytes'), 'utf8'));
        writeFileSync(join(v1, 'memory.limit_in_bytes'), String(used + 4096));
      } else {
        writeFileSync(join('/sys/fs/cgroup', path, 'memory.max'), String(1 << 20));
      }
    } catch {
      // more is in use by now, or the group is gone with the process
    }
    await delay(50);
  }
  throw new Error(`process ${pid} lives on although its memory was taken away`);
}

/** The one process of this machine whose command line has all `words`. */
export function processOf(...words: readonly string[]): number {
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return words.every((word) => commandLine.includes(word));
      } catch {
        return false;
      }
    });
  const [pid] = pids;
  if (pid === undefined || pids.length !== 1)
    throw new Error(`${pids.length} processes have ${words.join(' ')}`);
  return pid;
}
