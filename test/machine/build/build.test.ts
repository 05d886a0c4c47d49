import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { cpSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CHECKOUT } from '../../support/cli.ts';
import { writeRunFile } from '../../support/small-suite.ts';

const PARTS = ['src', 'checkers', 'scenarios', 'hack', 'package.json', 'tsconfig.json'];

it('the built program runs the built-in suite, apart from the sources', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'build-'));
  try {
    for (const part of PARTS) cpSync(join(CHECKOUT, part), join(folder, part), { recursive: true });
    await symlink(join(CHECKOUT, 'node_modules'), join(folder, 'node_modules'));
    execFileSync(process.execPath, [join(folder, 'hack/build.ts')]);
    await rm(join(folder, 'src'), { recursive: true });

    const file = join(folder, 'run.yaml');
    const out = join(folder, 'out');
    await writeRunFile(file, { trialsPerScenario: 1 });
    const args = ['local', '-f', file, '-o', out, '--scenario', 'kiln-schedule', '--json'];
    execFileSync(process.execPath, [join(folder, 'dist/bin/clawbench.mjs'), ...args], { stdio: 'ignore' });
    const row = JSON.parse(await readFile(join(out, 'report/trials.jsonl'), 'utf8')) as { outcome: string };
    expect(row.outcome).toBe('pass');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
