import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { requiredVersion } from '../../../hack/devcluster/build/go-build.ts';
import { GO_MODULES } from '../../../hack/devcluster/build/modules.ts';
import { copiedPaths } from '../../../hack/devcluster/images/project-images.ts';
import { withLock } from '../../../hack/devcluster/system/lock.ts';
import { endProcess, isAlive, startProcess, startTimeOf } from '../../../hack/devcluster/system/processes.ts';
import { CHECKOUT } from '../../support/cli.ts';

describe('processes', () => {
  it('ends the process that was started and no other with the same number', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'processes-'));
    try {
      const started = startProcess({ name: 'sleep', argv: ['sleep', '60'], log: join(folder, 'log') });
      const stranger = { ...started, startTime: '1' };
      expect(isAlive(stranger)).toBe(false);
      await endProcess(stranger, 0);
      expect(isAlive(started)).toBe(true);
      await endProcess(started, 5);
      expect(isAlive(started)).toBe(false);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('kills a process that ignores the request to end', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'processes-'));
    const log = join(folder, 'log');
    try {
      const argv = ['sh', '-c', 'trap "" TERM; echo deaf; while :; do sleep 0.05; done'] as const;
      const started = startProcess({ name: 'deaf', argv: [...argv], log });
      await expect.poll(() => readFile(log, 'utf8'), { timeout: 10_000 }).toContain('deaf');
      await endProcess(started, 0.2);
      expect(isAlive(started)).toBe(false);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('says which program cannot be started', () => {
    expect(() =>
      startProcess({
        name: 'nothing',
        argv: ['/no/such/program'],
        log: join(tmpdir(), 'devcluster-nothing.log'),
      }),
    ).toThrow('nothing (/no/such/program) cannot be started');
  });

  it('takes a dead process that nobody has asked about for dead', async () => {
    const child = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 5'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      const zombie = Number(
        await new Promise<string>((resolve) =>
          child.stdout.once('data', (data: Buffer) => resolve(String(data))),
        ),
      );
      await expect.poll(() => startTimeOf(zombie), { timeout: 5000 }).toBeUndefined();
    } finally {
      child.kill('SIGKILL');
    }
  });
});

describe('the lock', () => {
  it('lets one in at a time, and the next one after a failure', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'lock-'));
    const path = join(folder, 'lock');
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setTimeout(resolve, 20));
      inside -= 1;
    };
    try {
      await expect(withLock(path, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
      await Promise.all([withLock(path, work), withLock(path, work), withLock(path, work)]);
      expect(most).toBe(1);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe('builds', () => {
  it.each(GO_MODULES.filter((module) => 'versionOf' in module))(
    'reads the version of $name from its go.mod',
    async (module) => {
      const goMod = await readFile(join(CHECKOUT, 'hack/devcluster/go', module.name, 'go.mod'), 'utf8');
      expect(requiredVersion(goMod, 'versionOf' in module ? module.versionOf : '')).toMatch(
        /^v\d+\.\d+\.\d+$/,
      );
    },
  );

  it('refuses a module that a go.mod does not require', () => {
    expect(() => requiredVersion('module a\n\nrequire b v1.0.0\n', 'c')).toThrow('requires no version of c');
    expect(requiredVersion('module a\n\nrequire b v1.0.0\n', 'b')).toBe('v1.0.0');
  });

  it('finds what a Dockerfile copies from its context, and not what it copies from other stages', () => {
    const text = [
      'FROM x AS y',
      'COPY --chmod=0755 dist /opt/clawbench',
      'COPY a \\',
      '  ./b/ /c/',
      'COPY --from=y /z /z',
      'ADD root.tar /',
      'RUN echo COPY nothing',
    ].join('\n');
    expect(copiedPaths(text)).toEqual(['dist', 'a', 'b', 'root.tar']);
  });
});
