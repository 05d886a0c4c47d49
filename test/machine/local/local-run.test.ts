import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import {
  chmod,
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TrialRecord } from '../../../src/api/trial.ts';
import { CHECKOUT, cli, startCli } from '../../support/cli.ts';
import { writeRunFile, writeSmallSuite } from '../../support/small-suite.ts';

const ROOT_ONLY = process.getuid?.() !== 0;

let folder: string;
let suite: string;
let file: string;
let out: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'local-run-'));
  suite = join(folder, 'suite');
  file = join(folder, 'run.yaml');
  out = join(folder, 'out');
  await writeSmallSuite(suite);
  await writeRunFile(file);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const local = (...more: string[]) => ['local', '-f', file, '-o', out, '--suite', suite, ...more];

async function trials(): Promise<TrialRecord[]> {
  const names = await readdir(join(out, 'trials'));
  return Promise.all(
    names.map(
      async (name) =>
        JSON.parse(await readFile(join(out, 'trials', name, 'trial.json'), 'utf8')) as TrialRecord,
    ),
  );
}

interface SmallReport {
  readonly complete: boolean;
  readonly row_status: string;
  readonly scores: { readonly pass_at_1: unknown };
}

describe('clawbench local', () => {
  it('runs a suite to a report in which every trial passed', async () => {
    const { code, stdout, stderr } = await cli(local('--json'));
    expect(stderr).toContain('[4/4]');
    expect(code).toBe(0);
    const report = JSON.parse(stdout) as SmallReport;
    expect(report).toMatchObject({ complete: true, row_status: 'clean_base' });
    expect((await trials()).map(({ outcome, score }) => ({ outcome, score }))).toEqual(
      Array.from({ length: 4 }, () => ({ outcome: 'pass', score: 1 })),
    );
  });

  it('does nothing twice: the same command again finds everything finished', async () => {
    await cli(local());
    const before = await trials();
    const { code, stderr } = await cli(local());
    expect(code).toBe(0);
    expect(stderr).toContain('4 of them already finished');
    expect(await trials()).toEqual(before);
  });

  it('goes on after kill -9, at whatever moment, and runs no finished attempt again', async () => {
    let finished: TrialRecord[] = [];
    // Each life is longer than the one before: kills fall into validation, freezing, staging, turns and scoring.
    for (let lifeMs = 250; ; lifeMs += 250) {
      const running = startCli(local('--parallelism', '2'));
      const timer = setTimeout(() => running.child.kill('SIGKILL'), lifeMs);
      const { code } = await running.result;
      clearTimeout(timer);
      const now = await trials().catch(() => []);
      for (const trial of finished) expect(now).toContainEqual(trial);
      finished = now.filter(({ phase }) => phase === 'Scored');
      if (code === null) continue;
      expect(code).toBe(0);
      break;
    }
    expect(finished).toHaveLength(4);
    for (const { attempts, outcome } of finished) {
      expect(outcome).toBe('pass');
      const lost = attempts.filter(({ reason }) => reason === 'Interrupted');
      expect(attempts.length - lost.length).toBe(1);
      expect(lost.every(({ counted }) => !counted)).toBe(true);
    }
  });

  it.each(['start', 'resume', 'rerun'] as const)('keeps answers from agents on a %s', async (way) => {
    await rm(suite, { recursive: true });
    const answers = join(suite, 'scenarios/s1/scripted/solve.yaml');
    await writeSmallSuite(suite, {
      scenarios: 1,
      before: [
        {
          shell: `cat ${answers} ${join(CHECKOUT, 'package.json')} ${join(out, 'run.json')} > leak.txt; true`,
        },
        // Long enough to be cut off where the run is to be resumed; two refused trials fail and are rerun.
        { wait: way === 'resume' ? 2 : 0 },
      ],
    });
    // Open to every user: only what the run does for its agents may keep them out.
    await chmod(folder, 0o755);
    if (way === 'rerun') {
      const config = { provider429: { refusals: 1 } };
      await writeRunFile(file, {
        runtime: { id: 'scripted', behaviour: 'provider429', config },
        retry: { provider: 0, backoffSeconds: 0 },
      });
      expect((await cli(local())).code).toBe(1);
      expect((await cli(['rerun', out, '--class', 'provider'])).code).toBe(0);
    } else {
      const first = startCli(local());
      await first.said('2 trials');
      if (way === 'resume') {
        await waitFor(async () => (await trials().catch(() => [])).some(({ phase }) => phase === 'Running'));
        first.child.kill('SIGKILL');
        await first.result;
        expect((await cli(local())).code).toBe(0);
      } else {
        expect((await first.result).code).toBe(0);
      }
    }
    const record = JSON.parse(await readFile(join(out, 'run.json'), 'utf8')) as {
      facts: { isolation: string };
    };
    // Without a container nothing hides a folder that is open to all; the run says so on its standard error.
    if (record.facts.isolation !== 'container') return;
    for (const { name, decidedBy } of await trials()) {
      const leak = join(out, 'trials', name, 'attempts', String(decidedBy), 'workspace/leak.txt');
      expect(await readFile(leak, 'utf8')).toBe('');
    }
  });

  it('ends in order on Ctrl-C: collected, recorded, reported as incomplete, exit code 130', async () => {
    await rm(suite, { recursive: true });
    await writeSmallSuite(suite, {
      before: [{ write: { path: 'begun.txt', content: 'begun' } }, { wait: 60 }],
    });
    // The agent's folder lies where the test can see it, and where the agent's own user can get to.
    await chmod(folder, 0o711);
    const running = startCli(local('--parallelism', '1', '--json'), { TMPDIR: folder });
    await running.said('4 trials');
    await waitFor(async () => {
      const files = await readdir(folder, { recursive: true }).catch(() => []);
      return files.some((path) => path.endsWith('workspace/begun.txt'));
    });
    running.child.kill('SIGINT');
    const { code, stdout } = await running.result;
    expect(code).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({ complete: false });
    const [interrupted] = (await trials()).filter(({ attempts }) => attempts.length > 0);
    expect(interrupted?.attempts).toMatchObject([
      { class: 'infrastructure', reason: 'Interrupted', counted: false, artifacts: { collected: true } },
    ]);
  });

  it('refuses a second invocation in the same folder while one works there', async () => {
    await rm(suite, { recursive: true });
    await writeSmallSuite(suite, { before: [{ wait: 60 }] });
    const running = startCli(local());
    await running.said('4 trials');
    const second = await cli(local());
    expect(second.code).toBe(2);
    expect(second.stderr).toContain(`process ${running.child.pid ?? 0} is working on this run`);
    running.child.kill('SIGINT');
    await running.result;
  });

  it('counts and estimates with --dry-run, and writes nothing', async () => {
    const { code, stdout } = await cli(local('--dry-run'));
    expect(code).toBe(0);
    expect(stdout).toContain('trials       4 (2 each, 4 at once)');
    await expect(stat(out)).rejects.toThrow('ENOENT');
  });

  it('refuses to go on with another spec, naming the field', async () => {
    await cli(local());
    const { code, stderr } = await cli(local('--trials', '3'));
    expect(code).toBe(2);
    expect(stderr).toContain('spec.trialsPerScenario: differs from the run that was started in this folder');
  });

  it('refuses a folder that holds something else', async () => {
    await mkdir(out);
    await writeFile(join(out, 'thesis.txt'), 'years of work');
    const { code, stderr } = await cli(local());
    expect(code).toBe(2);
    expect(stderr).toContain('holds other files (thesis.txt) and no run');
  });

  it('refuses a folder that cannot be one', async () => {
    await writeFile(out, 'a file');
    const taken = await cli(local());
    expect(taken).toMatchObject({
      code: 2,
      stderr: `${out}: is a file, or lies below one. Give a folder with -o.\n`,
    });
    const inside = await cli(['local', '-f', file, '-o', join(out, 'below'), '--suite', suite]);
    expect(inside.code).toBe(2);
    expect(inside.stderr).toContain('is a file, or lies below one');
  });

  it.skipIf(!existsSync('/proc/self'))(
    'refuses a folder that the system does not let be (needs /proc)',
    async () => {
      const { code, stderr } = await cli(['local', '-f', file, '-o', '/proc/run', '--suite', suite]);
      expect(code).toBe(2);
      expect(stderr).toContain('/proc/run: cannot be made');
    },
  );

  it.each(['uid', 'none'])('says in the record when isolation is only %s', async (isolation) => {
    await cli(local('--isolation', isolation, '--trials', '1'));
    const record = JSON.parse(await readFile(join(out, 'run.json'), 'utf8')) as {
      facts: { isolation: string };
    };
    // Another user is to be had for root alone.
    expect(record.facts.isolation).toBe(ROOT_ONLY ? 'none' : isolation);
    expect((await trials()).map(({ outcome }) => outcome)).toEqual(['pass', 'pass']);
  });

  it.each([
    ['a misspelt field', { trialsPerScenarios: 3 }, 'trialsPerScenario'],
    ['a wrong type', { parallelism: 'four' }, 'spec.parallelism'],
    ['an unknown runtime', { runtime: { id: 'clippy' }, model: { id: 'm', api: 'scripted' } }, 'clippy'],
    ['an empty selection', { suite: { builtin: {}, tags: ['nothing-has-it'] } }, 'nothing-has-it'],
    ['an unknown scenario', { suite: { builtin: {}, scenarioIds: ['s9'] } }, 's9'],
    [
      'a behaviour without a script',
      { runtime: { id: 'scripted', behaviour: 'wrong' } },
      'scripted/s1/wrong.yaml',
    ],
  ])('refuses %s by name before anything is written', async (_what, spec, named) => {
    await writeRunFile(file, spec);
    const { code, stderr } = await cli(local());
    expect(code).toBe(2);
    expect(stderr).toContain(named);
    expect(stderr).not.toMatch(/^ {4}at /m);
    await expect(stat(out)).rejects.toThrow('ENOENT');
  });

  it('reruns failures of a class and says so in the report', async () => {
    await writeRunFile(file, {
      runtime: {
        id: 'scripted',
        behaviours: { s1: 'provider429' },
        config: { provider429: { refusals: 1 } },
      },
      retry: { provider: 0, backoffSeconds: 0 },
    });
    expect((await cli(local())).code).toBe(1);
    const { code, stdout } = await cli(['rerun', out, '--class', 'provider', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ complete: true, row_status: 'clean_after_rerun' });
    const rerun = (await trials()).filter(({ scenarioId }) => scenarioId === 's1');
    for (const { attempts } of rerun) {
      expect(attempts.map((attempt) => attempt.class)).toEqual(['provider', null]);
    }
  });

  it('works from a checkout and into a folder that only their owner may enter', async () => {
    const checkout = join(folder, 'private');
    await mkdir(checkout, { mode: 0o700 });
    for (const name of ['src', 'checkers', 'scenarios', 'package.json']) {
      await cp(join(CHECKOUT, name), join(checkout, name), { recursive: true });
    }
    await symlink(join(CHECKOUT, 'node_modules'), join(checkout, 'node_modules'));
    const node = join(checkout, 'node');
    await copyFile(process.execPath, node);
    await chmod(folder, 0o711);
    const main = join(checkout, 'src/cli/main.ts');
    const args = ['-f', file, '-o', out, '--scenario', 'access-log-report', '--trials', '1', '--json'];
    const report = execFileSync(node, [main, 'local', ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    expect(JSON.parse(report)).toHaveProperty('scores');
    expect((await trials()).map(({ outcome }) => outcome)).toEqual(['pass']);
    expect((await stat(out)).mode & 0o777).toBe(0o700);
  });

  it.skipIf(ROOT_ONLY)(
    'keeps what it has when the disk is full, and goes on once there is space (needs root)',
    async () => {
      await rm(suite, { recursive: true });
      await writeSmallSuite(suite, {
        scenarios: 4,
        before: [{ shell: 'head -c 400000 /dev/urandom > noise.bin' }],
      });
      await mkdir(out);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', out]);
      try {
        const { code, stderr } = await cli(local());
        expect(code).toBe(1);
        expect(stderr).toMatch(/DiskFull|no space left/i);
        expect(stderr).not.toMatch(/^ {4}at /m);
        execFileSync('mount', ['-o', 'remount,size=64m', out]);
        expect((await cli(local())).code).toBe(0);
        expect((await trials()).every(({ outcome }) => outcome === 'pass')).toBe(true);
      } finally {
        execFileSync('umount', [out]);
      }
    },
  );
});

async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  const until = Date.now() + 15_000;
  while (!(await condition())) {
    if (Date.now() > until) throw new Error('the condition did not come true within 15 s');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
