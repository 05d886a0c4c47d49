import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attemptMetaSchema } from '../../../src/api/attempt-meta.ts';
import { attemptLayout } from '../../../src/api/run-layout.ts';
import {
  Bench,
  expectStill,
  heartbeat,
  ISOLATIONS_HERE,
  isRoot,
  quickTimeouts,
  readJson,
  until,
} from './support.ts';

const stubborn = `process.on('SIGTERM', () => undefined);`;
const busy = `setInterval(() => console.log('busy'), 20);`;
/** Leaves a grandchild in a session of its own, re-parented to init, with nothing of our environment. */
const daemon = `import { spawn } from 'node:child_process';
  const grandchild = ${JSON.stringify(`process.on('SIGTERM', () => undefined); ${heartbeat('beats')}`)};
  const child = 'import { spawn } from "node:child_process"; spawn(process.execPath, ["--input-type=module", "-e", '
    + JSON.stringify(grandchild) + '], { detached: true, stdio: "ignore", env: {} }).unref(); process.exit(0);';
  spawn(process.execPath, ['--input-type=module', '-e', child], { detached: true, stdio: 'ignore', env: {} });`;

for (const isolation of ISOLATIONS_HERE) {
  describe(`the end of a turn with isolation ${isolation}`, () => {
    let bench: Bench;
    beforeAll(async () => {
      bench = await Bench.open(isolation);
    });
    afterAll(() => bench[Symbol.asyncDispose]());

    it('takes SIGTERM where the agent heeds it, and keeps what the agent wrote then', async () => {
      const { result, attemptDir } = await bench.run(
        `${busy} process.on('SIGTERM', () => { console.log('bye'); process.exit(7); });`,
        {
          request: { timeouts: quickTimeouts({ turn: 1 }), patience: { killGraceMs: 5000, answerMs: 5000 } },
        },
      );
      expect(result).toMatchObject({ killReason: 'turn_deadline', exitCode: 7, collected: true, isolation });
      expect(result.observations).toContainEqual({
        kind: 'killed',
        reason: 'turn_deadline',
        turn: 1,
        escalated: false,
      });
      expect(result.runtimeMs).toBeGreaterThanOrEqual(1000);
      expect(result.runtimeMs).toBeLessThan(4000);
      expect(readFileSync(join(attemptLayout(attemptDir).logs, 'turn_01.stdout.log'), 'utf8')).toMatch(
        /bye\n$/,
      );
    });

    it('takes SIGKILL where the agent ignores SIGTERM', async () => {
      const { result, attemptDir } = await bench.run(`${stubborn} ${busy}`, {
        request: { timeouts: quickTimeouts({ turn: 1 }) },
      });
      expect(result).toMatchObject({ killReason: 'turn_deadline', exitCode: null, signal: 'SIGKILL' });
      const meta = attemptMetaSchema.parse(readJson(attemptLayout(attemptDir).metaJson));
      expect(meta.dispatch.map(({ event }) => event)).toEqual([
        'staged',
        'shim_connected',
        'turn_started',
        'first_progress',
        'sigterm',
        'sigkill',
        'turn_exited',
        'turn_dead',
        'settled',
        'collecting',
        'collected',
      ]);
    });

    it('kills daemons that left session, parent and environment behind, and names them', async () => {
      const { result } = await bench.run(
        `${daemon} import { existsSync } from 'node:fs';
         setInterval(() => existsSync('beats') && process.exit(0), 10);`,
        { atEnd: (executor) => expectStill(join(executor.paths.workspace, 'beats')) },
      );
      expect(result).toMatchObject({ exitCode: 0, killReason: null });
      expect(result.observations).toContainEqual({
        kind: 'leftover_processes',
        count: 1,
        commands: ['node'],
      });
    });
  });
}

describe('reasons to end a turn', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await Bench.open();
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  it.concurrent.each([
    ['startup_silence', `setInterval(() => undefined, 1000)`, { startupSilence: 1 }],
    ['stall', `console.log('hello'); setInterval(() => undefined, 1000)`, { stall: 1, startupSilence: 3 }],
    ['turn_deadline', busy, { turn: 1 }],
    ['total_deadline', busy, { turn: 5, total: 1 }],
    ['wall_deadline', busy, { wall: 1 }],
  ] as const)('%s', async (reason, program, timeouts) => {
    const { result } = await bench.run(program, { request: { timeouts: quickTimeouts(timeouts) } });
    expect(result).toMatchObject({ killReason: reason, signal: 'SIGTERM', collected: true });
  });

  it('growth of the workspace alone is a sign of life', async () => {
    const { result } = await bench.run(`${heartbeat('beats')} setTimeout(() => process.exit(0), 2500);`, {
      request: { timeouts: quickTimeouts({ startupSilence: 1, stall: 1 }) },
    });
    expect(result).toMatchObject({ killReason: null, exitCode: 0 });
  });

  it('a turn is lengthened by the time the gateway held its calls, and by no more', async () => {
    const { result } = await bench.run(busy, {
      request: {
        timeouts: quickTimeouts({ turn: 1 }),
        modelAccess: { heldMs: heldFor(1500), calls: () => [], accounted: () => Promise.resolve([]) },
      },
    });
    expect(result.killReason).toBe('turn_deadline');
    expect(result.runtimeMs).toBeGreaterThanOrEqual(2400);
    expect(result.runtimeMs).toBeLessThan(5000);
  });

  it('the second turn gets what the first one left of the total', async () => {
    const { result } = await bench.run(`${busy} setTimeout(() => process.exit(0), 1500);`, {
      request: {
        timeouts: quickTimeouts({ turn: 10, total: 3 }),
        nextMessage: () => Promise.resolve(busy),
      },
    });
    expect(result).toMatchObject({ killReason: 'total_deadline', turns: 2 });
    expect(result.runtimeMs).toBeLessThan(5000);
  });

  it('an interrupted attempt is ended and collected', async () => {
    const abort = new AbortController();
    const { result, attemptDir } = await bench.run(`${heartbeat('beats')} ${stubborn}`, {
      request: { signal: abort.signal },
      onLaunch: (executor) => {
        void until(() => fileExists(join(executor.paths.workspace, 'beats'))).then(() => abort.abort());
      },
      atEnd: (executor) => expectStill(join(executor.paths.workspace, 'beats')),
    });
    expect(result).toMatchObject({ killReason: 'interrupted', collected: true });
    expect(readFileSync(join(attemptLayout(attemptDir).workspace, 'beats'), 'utf8')).toMatch(/^\.+$/);
  });

  it('an attempt that is cancelled before its first turn runs none', async () => {
    const { result } = await bench.run(busy, { request: { signal: AbortSignal.abort('cancelled') } });
    expect(result).toMatchObject({ killReason: 'cancelled', turns: 0, runtimeMs: 0, collected: false });
    expect(result.observations).toMatchObject([{ kind: 'interrupted' }]);
  });

  it('a death by signal is told as what it was', async () => {
    const { result } = await bench.run(
      `process.kill(process.pid, 'SIGSEGV'); setTimeout(() => undefined, 5000);`,
    );
    expect(result).toMatchObject({ exitCode: null, signal: 'SIGSEGV', killReason: null });
  });
});

describe('an agent that attacks its shim', () => {
  it.skipIf(!isRoot)('cannot kill it in a namespace, where it is init (needs root)', async () => {
    await using bench = await Bench.open('container');
    const { result } = await bench.run(
      `for (const signal of ['SIGKILL', 'SIGSTOP', 'SIGSEGV']) process.kill(process.ppid, signal); console.log('tried');`,
    );
    expect(result).toMatchObject({ exitCode: 0, killReason: null, isolation: 'container' });
  });

  for (const isolation of ISOLATIONS_HERE.filter((one) => one !== 'container')) {
    it(`with isolation ${isolation} loses nothing but its own attempt, which is collected`, async () => {
      await using bench = await Bench.open(isolation);
      const { result } = await bench.run(
        `${daemon} ${busy} import { existsSync } from 'node:fs';
         setInterval(() => existsSync('beats') && process.kill(process.ppid, 'SIGKILL'), 10);`,
        { atEnd: (executor) => expectStill(join(executor.paths.workspace, 'beats')) },
      );
      expect(result.observations).toMatchObject([{ kind: 'shim_lost' }, { kind: 'transcript_missing' }]);
      expect(result).toMatchObject({ exitCode: null, collected: true, isolation });
    });

    it(`with isolation ${isolation} gains no time by stopping it`, async () => {
      await using bench = await Bench.open(isolation);
      const { result } = await bench.run(`${heartbeat('beats')} process.kill(process.ppid, 'SIGSTOP');`, {
        request: { timeouts: quickTimeouts({ turn: 1 }), patience: { killGraceMs: 100, answerMs: 1000 } },
        atEnd: (executor) => expectStill(join(executor.paths.workspace, 'beats')),
      });
      expect(result).toMatchObject({ killReason: 'turn_deadline', collected: true });
    });
  }
});

/** What a gateway reports that begins to hold calls now, for so long. */
function heldFor(ms: number): () => number {
  let start: number | null = null;
  return () => {
    start ??= performance.now();
    return Math.min(ms, performance.now() - start);
  };
}

function fileExists(path: string): boolean {
  try {
    return readFileSync(path).length > 0;
  } catch {
    return false;
  }
}
