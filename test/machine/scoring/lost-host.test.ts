import { readdirSync, readFileSync, statSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCheckerHost, type CheckerHost } from '../../../src/scoring/checkers/checker-host.ts';
import { CpuAdmission } from '../../../src/scoring/pool/cpu-admission.ts';
import { createFixture, type Fixture } from './checker-fixture.ts';

const isRoot = process.getuid?.() === 0;
let fixture: Fixture;
let host: CheckerHost;

/** Our own children that run this program. */
function childrenRunning(program: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const parent = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1];
        return (
          Number(parent) === process.pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(program)
        );
      } catch {
        return false;
      }
    });
}

/** Processes of a user that are not dead: a killed one stays listed until its new parent looks at it. */
function processesOf(uid: number): number {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const state = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]?.[0];
      return statSync(`/proc/${name}`).uid === uid && state !== 'Z' && state !== 'X';
    } catch {
      return false;
    }
  }).length;
}

beforeAll(async () => {
  fixture = createFixture();
  fixture.write('bundleDir', {
    'daemon.py': `
import os, time
def grade(workspace, trace):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)
    os.wait()
    time.sleep(600)
`,
    'who.py': 'import os\ndef grade(workspace, trace):\n    return {"process_score": os.getuid()}\n',
  });
  host = await createCheckerHost({ admission: new CpuAdmission(1), maxWorkers: 1 });
});

afterAll(async () => {
  await host.close();
  fixture.remove();
});

describe.skipIf(!isRoot)('a fork server that is killed (needs root, for spare users)', () => {
  it('loses its grading alone, and nothing of that lives on', async () => {
    const who = await host.grade(fixture.request('who.py'));
    const uid = who.ok ? Number(who.grade.process_score) : NaN;
    const pending = host.grade(fixture.request('daemon.py'));
    await expect.poll(() => processesOf(uid), { timeout: 10_000 }).toBe(2);
    const [server] = childrenRunning('clawbench_checker_host');
    process.kill(server!, 'SIGKILL');
    expect(await pending).toMatchObject({ ok: false, error: { reason: 'CheckerCrash' } });
    // SIGKILL was sent before the answer came; dying takes the kernel a moment.
    await expect.poll(() => processesOf(uid), { timeout: 5000 }).toBe(0);
    expect(await host.grade(fixture.request('who.py'))).toMatchObject({ ok: true });
  });
});
