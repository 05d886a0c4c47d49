import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { join } from 'node:path';
import { registerScenariosCommand } from '../../../src/cli/commands/scenarios.ts';
import { freezeSuite } from '../../../src/suite/freeze.ts';
import { loadSuite } from '../../../src/suite/load.ts';
import { selectScenarios } from '../../../src/suite/select.ts';
import { CHECKS, cleanUp, folderWith, problemsOf, scenario } from '../suite/suite-on-disk.ts';

cleanUp();

let printed: string[] = [];
beforeEach(() => {
  printed = [];
  vi.spyOn(console, 'log').mockImplementation((text: string) => void printed.push(text));
});
afterEach(() => {
  vi.restoreAllMocks();
  process.exitCode = undefined;
});

async function run(...argv: string[]): Promise<string> {
  const program = new Command().exitOverride();
  registerScenariosCommand(program);
  await program.parseAsync(['scenarios', ...argv], { from: 'user' });
  return printed.join('\n');
}

const SUITE = {
  'scenarios/a.yaml': scenario('a', CHECKS, 'difficulty: hard'),
  'scenarios/b.yaml': scenario('b', CHECKS, 'benchmark_status: incubating', 'time_limit: 5'),
};

describe('clawbench scenarios', () => {
  it('lists what the selectors take as an aligned table', async () => {
    const root = await folderWith(SUITE);
    const lines = (await run('list', '--suite', root)).split('\n');
    expect(lines[0]).toMatch(/^ID  DIMENSION  DIFFICULTY  GROUP/);
    expect(lines[1]).toMatch(/^a   planning   hard {8}intelligence/);
    expect(lines.slice(2)).toEqual(['', '1 scenario']);
  });

  it('lists as JSON with every selector', async () => {
    const root = await folderWith(SUITE);
    const text = await run(
      'list',
      '--suite',
      root,
      '--status',
      'all',
      '--difficulty',
      'hard,medium',
      '--exclude',
      'a',
      '-o',
      'json',
    );
    expect(JSON.parse(text)).toMatchObject({
      format: 'scenario',
      scenarios: [{ id: 'b', difficulty: 'medium' }],
    });
  });

  it('ends lint with 0 for warnings and 2 for errors', async () => {
    const root = await folderWith(SUITE);
    const text = await run('lint', '--suite', root);
    expect(text).toContain('scenarios/b.yaml:8: time_limit: warning: nothing reads time_limit (5)');
    expect(text).toContain('2 looked at: 0 errors, 1 warning');
    expect(process.exitCode).toBeUndefined();
    const broken = await folderWith({ 'c.yaml': scenario('c', CHECKS, 'hidden_dir: none') });
    printed = [];
    const { findings } = JSON.parse(await run('lint', '--suite', broken, '-o', 'json')) as {
      findings: object[];
    };
    expect(findings[0]).toMatchObject({
      scenarioId: 'c',
      line: 7,
      field: 'hidden_dir',
      rule: 'unresolved',
      severity: 'error',
    });
    expect(process.exitCode).toBe(2);
  });

  it('writes a new scenario that lints without a finding and freezes, and never over another', async () => {
    const root = await folderWith();
    await run('new', 'my-first', '--suite', root, '--dimension', 'safety', '--difficulty', 'expert');
    printed = [];
    expect(await run('lint', '--suite', root)).toBe('1 looked at: 0 errors, 0 warnings');
    const suite = await loadSuite(root);
    const target = join(await folderWith(), 'suite');
    const index = await freezeSuite({ suite, selection: selectScenarios(suite), target, scripted: true });
    expect(index.scenarios).toMatchObject([
      { id: 'my-first', dimension: 'safety', difficulty: 'expert', scripted: ['solve', 'wrong'] },
    ]);
    expect(
      await problemsOf(() => run('new', 'my-first', '--suite', root, '--dimension', 'safety')),
    ).toHaveLength(1);
    expect(await problemsOf(() => run('new', '../x', '--suite', root))).toHaveLength(1);
  });
});
