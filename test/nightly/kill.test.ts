import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { TrialRecord } from '../../src/api/trial.ts';
import { startCli } from '../support/cli.ts';
import { writeRunFile } from '../support/small-suite.ts';

const RUNS = 20;

/** Small generator of numbers in [0, 1), so that a failing run can be repeated by its seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

it.each(Array.from({ length: RUNS }, (_, i) => i + 1))(
  'the built-in suite comes to its end through kills at any moment, nothing run twice (seed %i)',
  async (seed) => {
    const folder = await mkdtemp(join(tmpdir(), 'kill-'));
    const file = join(folder, 'run.yaml');
    const out = join(folder, 'out');
    const next = random(seed);
    try {
      await writeRunFile(file, { trialsPerScenario: 1 });
      let finished: TrialRecord[] = [];
      for (let life = 1; ; life += 1) {
        const running = startCli(['local', '-f', file, '-o', out]);
        // Later lives are longer, so that every run comes to its end.
        const timer = setTimeout(() => running.child.kill('SIGKILL'), 300 + next() * 1000 * life);
        const { code, stderr } = await running.result;
        clearTimeout(timer);
        const now = await trials(out);
        for (const trial of finished) expect(now).toContainEqual(trial);
        finished = now.filter(({ phase }) => phase === 'Scored');
        if (code === null) continue;
        expect(code, stderr).toBe(0);
        break;
      }
      expect(finished.length).toBeGreaterThanOrEqual(12);
      for (const { attempts, outcome } of finished) {
        expect(outcome).toBe('pass');
        expect(attempts.filter(({ reason }) => reason !== 'Interrupted')).toHaveLength(1);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);

async function trials(out: string): Promise<TrialRecord[]> {
  const names = await readdir(join(out, 'trials')).catch(() => []);
  const texts = await Promise.all(
    names.map((name) => readFile(join(out, 'trials', name, 'trial.json'), 'utf8').catch(() => null)),
  );
  return texts.filter((text) => text !== null).map((text) => JSON.parse(text) as TrialRecord);
}
