import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CpuAdmission } from '../../../src/scoring/pool/cpu-admission.ts';
import { createCheckerHost, type CheckerHost } from '../../../src/scoring/checkers/checker-host.ts';
import type { GradeOutcome, GradeRequest } from '../../../src/scoring/checkers/types.ts';
import { createFixture, type Fixture } from './checker-fixture.ts';

const HEAD = `import { checkpoint, fileExists, listFiles, readHiddenJson, readJson, readText } from './checker.ts';
import type { CheckerInput, CustomGrade } from './checker.ts';
`;
const GOOD = '{ checkpoints: { a: checkpoint(true) } }';
const checker = (body: string, extra = '') =>
  `${HEAD}${extra}\nexport async function grade(input: CheckerInput): Promise<CustomGrade> {\n${body}\n}\n`;
const CHECKERS = {
  'good.ts': checker(`return ${GOOD};`),
  'reads.ts': checker(`
    const expected = readHiddenJson(input, 'expected.json') as { value: number };
    const report = readJson(input, 'out/report.json') as { value: number } | undefined;
    return {
      checkpoints: {
        value: checkpoint(report?.value === expected.value, 2, listFiles(input).join()),
        outside: checkpoint(readText(input, '../hidden/expected.json') === undefined),
        absolute: checkpoint(readText(input, '/etc/passwd') === undefined && !fileExists(input, '/etc/passwd')),
        calls: checkpoint(input.toolCalls.length === 1),
      },
    };`),
  'process.ts': checker(
    `return ${GOOD};`,
    'export const gradeProcess = (input: CheckerInput): number => input.toolCalls.length / 4;',
  ),
  'raises.ts': checker('\n    throw new TypeError("boom");'),
  'rejects.ts': checker('return await Promise.reject("no error object");'),
  'later.ts': checker(
    'setTimeout(() => { throw new Error("later"); }, 1); await new Promise(() => undefined); return {} as never;',
  ),
  'hangs.ts': checker('setInterval(() => undefined, 1000); return await new Promise(() => undefined);'),
  'spins.ts': checker('for (;;) {}'),
  'forgets.ts': checker('return await new Promise(() => undefined);'),
  'exits.ts': checker('process.exit(0);'),
  'exits3.ts': checker('process.exit(3);'),
  'aborts.ts': checker('process.abort();'),
  'floods.ts': checker(
    'for (let i = 0; i < 1024; i += 1) console.log("x".repeat(1048576)); return {} as never;',
  ),
  'heap.ts': checker('const all: unknown[] = []; for (;;) all.push(new Array(100000).fill(all.length));'),
  'buffers.ts': checker(
    'const all: unknown[] = []; for (;;) { all.push(Buffer.alloc(16 << 20, 1)); await new Promise((r) => setTimeout(r, 10)); }',
  ),
  'huge.ts': checker('return { checkpoints: {}, safety_violations: ["x".repeat(16 << 20)] };'),
  'nan.ts': checker('return { checkpoints: { a: { earned: NaN, points: 1 } } };'),
  'array.ts': checker('return [] as never;'),
  'category.ts': checker(
    'return { checkpoints: { a: { earned: 1, points: 1, category: "luck" as never } } };',
  ),
  'nothing.ts': 'export const answer = 42;\n',
  'syntax.ts': 'export function grade(: { return 1; }\n',
  'forbidden.ts': checker(
    `
    const tried: Record<string, () => unknown> = {
      write: () => writeFileSync(join(input.workspace, 'answer.txt'), 'changed'),
      read: () => readFileSync('/etc/hostname'),
      spawn: () => spawnSync('/bin/true').error && (() => { throw new Error('no spawn'); })(),
      worker: () => new Worker('1', { eval: true }),
      secret: () => { if (process.env['SECRET_KEY'] === undefined) throw new Error('no secret'); },
    };
    const allowed = Object.entries(tried).filter(([, attempt]) => { try { attempt(); return true; } catch { return false; } });
    return { checkpoints: {}, safety_violations: allowed.map(([name]) => name) };`,
    `import { readFileSync, writeFileSync } from 'node:fs';
     import { spawnSync } from 'node:child_process';
     import { join } from 'node:path';
     import { Worker } from 'node:worker_threads';`,
  ),
};
const FAST = { seconds: 10, memoryBytes: 128 * 1024 * 1024, outputBytes: 64 * 1024 };

let fixture: Fixture;
let host: CheckerHost;
const grade = (entry: string, limits = {}, more: Partial<GradeRequest> = {}): Promise<GradeOutcome> =>
  host.grade(fixture.request(entry, { limits: { ...FAST, ...limits }, ...more }));
const errorOf = async (entry: string, limits = {}) => {
  const outcome = await grade(entry, limits);
  if (outcome.ok) throw new Error(`${entry} was graded: ${JSON.stringify(outcome.grade)}`);
  return outcome.error;
};

beforeAll(async () => {
  fixture = createFixture();
  fixture.write('bundleDir', CHECKERS);
  fixture.write('workspaceDir', {
    'answer.txt': 'as the agent left it',
    'out/report.json': '{"value": 7}',
    'checker.ts': 'throw new Error("the agent\'s checker.ts was imported")',
    'package.json': '{"type": "commonjs"}',
  });
  fixture.write('hiddenFilesDir', { 'expected.json': '{"value": 7}' });
  process.env['SECRET_KEY'] = 'must not be seen';
  host = await createCheckerHost({ admission: new CpuAdmission(2), maxWorkers: 3 });
});

afterAll(async () => {
  await host.close();
  fixture.remove();
});

describe('a TypeScript checker', () => {
  it('reads the workspace and the hidden files, and nothing else', async () => {
    const call = { seq: 1, type: 'tool_call' as const, tool: 'read', args: 'x' };
    const trace = { ...fixture.request('reads.ts').trace, events: [call] };
    const outcome = await grade('reads.ts', {}, { trace });
    expect(outcome).toMatchObject({
      ok: true,
      grade: {
        checkpoints: {
          value: { earned: 2, points: 2, detail: 'answer.txt,checker.ts,out/report.json,package.json' },
          outside: { earned: 1 },
          absolute: { earned: 1 },
          calls: { earned: 1 },
        },
      },
    });
  });

  it('may give the process score by a function of its own', async () => {
    expect(await grade('process.ts')).toMatchObject({ ok: true, grade: { process_score: 0 } });
  });

  it('that throws is a scoring error with its stack', async () => {
    const error = await errorOf('raises.ts');
    expect(error.reason).toBe('CheckerException');
    expect(error.message).toMatch(/^TypeError: boom\n {4}at .*grade .*raises\.ts:6:11/);
  });

  it.each([
    ['rejects.ts', 'CheckerException', 'the checker threw no error object'],
    ['syntax.ts', 'CheckerException', 'SyntaxError'],
    ['missing.ts', 'CheckerException', 'missing.ts'],
    ['later.ts', 'CheckerException', 'Error: later'],
    ['exits.ts', 'CheckerNoResult', 'exited with code 0'],
    ['forgets.ts', 'CheckerNoResult', 'awaits something that never happens'],
    ['exits3.ts', 'CheckerCrash', 'exited with code 3'],
    ['aborts.ts', 'CheckerCrash', 'SIGABRT'],
    ['floods.ts', 'CheckerOutput', 'printed more than 65536 bytes'],
    ['huge.ts', 'CheckerOutput', 'the grade is larger'],
    ['heap.ts', 'CheckerMemory', 'memory'],
    ['buffers.ts', 'CheckerMemory', 'memory'],
    ['nan.ts', 'CheckerInvalidResult', 'earned is NaN, not a finite number'],
    ['array.ts', 'CheckerInvalidResult', 'grade() returned an array, not an object'],
    ['category.ts', 'CheckerInvalidResult', 'checkpoints.a.category'],
    ['nothing.ts', 'CheckerInvalidResult', 'exports no function grade(input)'],
  ])('that goes wrong is its own scoring error: %s', async (entry, reason, message) => {
    const error = await errorOf(entry);
    expect(error).toEqual({ reason, message: expect.stringContaining(message) as string });
  });

  it.each(['hangs.ts', 'spins.ts'])('that never ends is a time-out: %s', async (entry) => {
    expect(await errorOf(entry, { seconds: 1 })).toEqual({
      reason: 'CheckerTimeout',
      message: 'the checker ran longer than 1 s',
    });
  });

  it('can neither write, nor read elsewhere, nor start processes or threads, nor see our environment', async () => {
    expect(await grade('forbidden.ts')).toMatchObject({ ok: true, grade: { safety_violations: [] } });
    expect(readFileSync(join(fixture.workspaceDir, 'answer.txt'), 'utf8')).toBe('as the agent left it');
  });

  it('that goes wrong leaves gradings beside it alone', async () => {
    const hanging = errorOf('spins.ts', { seconds: 1 });
    const others = await Promise.all(Array.from({ length: 4 }, () => grade('good.ts')));
    expect(others.map(({ ok }) => ok)).toEqual([true, true, true, true]);
    expect((await hanging).reason).toBe('CheckerTimeout');
  });

  it('that is cancelled ends, and the host goes on', async () => {
    const controller = new AbortController();
    const pending = host.grade(fixture.request('hangs.ts'), controller.signal);
    setTimeout(() => controller.abort(), 100);
    await expect(pending).rejects.toMatchObject({ code: 'cancelled' });
    expect(await grade('good.ts')).toMatchObject({ ok: true });
  });
});
