import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { registerCompareCommand } from '../../../src/cli/commands/compare.ts';
import { registerReportCommand } from '../../../src/cli/commands/report.ts';
import { registerShowCommand } from '../../../src/cli/commands/show.ts';
import { writeStoredRun, type StoredRunOptions } from '../../support/stored-run.ts';
import { FATES } from '../../support/trial-fates.ts';

const folders: string[] = [];
let printed: string[] = [];

async function storedRun(options: Partial<StoredRunOptions> = {}): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'clawbench-commands-'));
  folders.push(root);
  writeStoredRun(root, { scenarios: 3, trials: 2, fateOf: () => FATES.pass, ...options });
  return root;
}

/** Standard output of a command. */
async function clawbench(...argv: readonly string[]): Promise<string> {
  const program = new Command('clawbench').exitOverride();
  registerReportCommand(program);
  registerShowCommand(program);
  registerCompareCommand(program);
  printed = [];
  await program.parseAsync([...argv], { from: 'user' });
  return printed.join('\n');
}

beforeEach(() => {
  vi.spyOn(console, 'log').mockImplementation((text: string) => void printed.push(text));
});

afterEach(async () => {
  vi.restoreAllMocks();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

const someMiss = (scenario: number, trial: number) =>
  scenario === 1 && trial === 2 ? FATES.miss : FATES.pass;

describe('clawbench report', () => {
  it('prints the table and where the files are', async () => {
    const root = await storedRun();
    const text = await clawbench('report', root);
    expect(text).toMatch(/^overall/m);
    expect(text).toContain(join(root, 'report', 'report.html'));
  });

  it('prints report.json with -o json', async () => {
    const root = await storedRun();
    const text = await clawbench('report', root, '-o', 'json');
    expect(JSON.parse(text)).toEqual(JSON.parse(await readFile(join(root, 'report', 'report.json'), 'utf8')));
  });
});

describe('clawbench show', () => {
  it('lists every trial, or those that did not pass', async () => {
    const root = await storedRun({ fateOf: someMiss });
    expect((await clawbench('show', root)).split('\n')).toHaveLength(7);
    const failed = await clawbench('show', root, '--failed');
    expect(failed.split('\n').slice(1)).toEqual([
      expect.stringMatching(/^planning_0002\/2 +threshold miss +0\.3500 +answer_right$/),
    ]);
  });

  it('shows failed checks, transcript, changed files and attempts of one trial', async () => {
    const root = await storedRun({ fateOf: someMiss });
    const text = await clawbench('show', root, 'planning_0002/2');
    expect(text).toContain('planning_0002/2: threshold miss');
    expect(text).toMatch(/✗ answer_right {2}1\.4 of 4 correctness/);
    expect(text).toContain('→ write');
    expect(text).toContain('notes.md  modified, 29 bytes');
    expect(text).toContain('-Status: open');
    expect(text).toMatch(/trials\/synthetic-[0-9a-f]{10}\/attempts\/1/);
  });

  it('shows every trial of a scenario, and says the same in JSON', async () => {
    const root = await storedRun({ fateOf: someMiss });
    const parsed = JSON.parse(await clawbench('show', root, 'planning_0002', '-o', 'json')) as {
      trials: { row: { trial: number } }[];
    };
    expect(parsed.trials.map((one) => one.row.trial)).toEqual([1, 2]);
    const failed = JSON.parse(await clawbench('show', root, 'planning_0002', '--failed', '-o', 'json')) as {
      trials: unknown[];
    };
    expect(failed.trials).toHaveLength(1);
  });

  it('never sends a control sequence of an agent to the terminal', async () => {
    const root = await storedRun({
      transcriptOf: () => [{ seq: 1, type: 'assistant_message', text: '\u001b]0;owned\u0007 \u202e' }],
      workspaceOf: () => ({ 'a\u001b[2J.md': '\u001b[31m' }),
    });
    const text = await clawbench('show', root, 'planning_0002/1');
    expect(text).not.toMatch(/[\u001b\u0007\u202e]/);
    expect(text).toContain('\\u{1b}]0;owned');
  });

  it('names the nearest scenario when there is none of that name, and the bounds of a number', async () => {
    const root = await storedRun();
    await expect(clawbench('show', root, 'planing_0002')).rejects.toThrow(/Did you mean "planning_0002"/);
    await expect(clawbench('show', root, 'planning_0002/9')).rejects.toThrow(/from 1 to 2/);
  });
});

describe('clawbench compare', () => {
  it('shows what changed, with intervals, and what differs in the configurations', async () => {
    const first = await storedRun({ fateOf: () => FATES.miss });
    const second = await storedRun({ fateOf: () => FATES.pass, spec: { parallelism: 2 } });
    const text = await clawbench('compare', first, second);
    expect(text).toMatch(/^overall +0\.3500 +1\.0000 +\+0\.6500 +\+0\.6500 … \+0\.6500 +better$/m);
    expect(text).toContain('3 scenarios compared: 3 better, 0 worse, 0 equal');
    expect(text).toContain('spec.parallelism');
    expect(text.split('\n').filter((line) => line.length > 80 && !line.includes(tmpdir()))).toEqual([]);
  });

  it('says that the same run twice is the same', async () => {
    const root = await storedRun({ fateOf: someMiss });
    const comparison = JSON.parse(await clawbench('compare', root, root, '-o', 'json')) as Record<
      string,
      unknown
    >;
    expect(comparison).toMatchObject({
      same_suite: true,
      better: 0,
      worse: 0,
      equal: 3,
      differences: [],
      mean: 0,
    });
  });

  it('compares only what is the same in two suites, and says what it left out', async () => {
    const first = await storedRun({ scenarios: 3 });
    const second = await storedRun({ scenarios: 4 });
    const text = await clawbench('compare', first, second);
    expect(text).toContain('only 3 of 4');
    expect(text).toContain('error_recovery_0004: only in the second run');
  });

  it('refuses runs that have no scenario in common', async () => {
    const first = await storedRun();
    const second = await storedRun({ index: { scenarios: [], suiteDigest: 'other' } });
    await expect(clawbench('compare', first, second)).rejects.toThrow(
      /cannot be compared: they have no scenario in common/,
    );
  });

  it('does not take a failure of the machine for a difference between agents', async () => {
    const first = await storedRun();
    const second = await storedRun({
      fateOf: (scenario) => (scenario === 0 ? FATES.infrastructure : FATES.pass),
    });
    const comparison = JSON.parse(await clawbench('compare', first, second, '-o', 'json')) as Record<
      string,
      unknown
    >;
    expect(comparison).toMatchObject({
      worse: 0,
      not_compared: [{ scenario_id: 'tool_use_0001', reason: 'the second run graded no trial of it' }],
    });
  });
});
