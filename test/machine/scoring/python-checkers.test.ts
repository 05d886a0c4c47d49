import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CpuAdmission } from '../../../src/scoring/pool/cpu-admission.ts';
import { createCheckerHost, type CheckerHost } from '../../../src/scoring/checkers/checker-host.ts';
import type { GradeOutcome } from '../../../src/scoring/checkers/types.ts';
import { createFixture, type Fixture } from './checker-fixture.ts';

const GOOD = '{"checkpoints": {"a": {"score": 1, "max": 1}}, "safety_violations": []}';
const CHECKERS = {
  'good.py': `def grade(workspace, trace):\n    return ${GOOD}\n`,
  'raises.py': 'def inner():\n    raise ValueError("boom")\n\ndef grade(workspace, trace):\n    inner()\n',
  'hangs.py': 'import time\ndef grade(workspace, trace):\n    time.sleep(600)\n',
  'spins.py': 'def grade(workspace, trace):\n    while True: pass\n',
  'exits.py': 'import sys\ndef grade(workspace, trace):\n    sys.exit(0)\n',
  'vanishes.py': 'import os\ndef grade(workspace, trace):\n    os._exit(0)\n',
  'vanishes3.py': 'import os\ndef grade(workspace, trace):\n    os._exit(3)\n',
  'kills.py': 'import os, signal\ndef grade(workspace, trace):\n    os.kill(os.getpid(), signal.SIGKILL)\n',
  'faults.py': 'import ctypes\ndef grade(workspace, trace):\n    ctypes.string_at(0)\n',
  'floods.py':
    'import sys\ndef grade(workspace, trace):\n    for _ in range(1024):\n        sys.stdout.write("x" * 1048576)\n    return {}\n',
  'hogs.py':
    'def grade(workspace, trace):\n    return {"checkpoints": {"a": {"score": len(bytearray(1 << 32))}}}\n',
  'hogs_together.py': `
import os, time
def grade(workspace, trace):
    for _ in range(4):
        if os.fork() == 0:
            block = bytearray(48 << 20)
            time.sleep(600)
    time.sleep(600)
`,
  'huge.py': 'def grade(workspace, trace):\n    return {"safety_violations": ["x" * (16 << 20)]}\n',
  'nan.py': 'def grade(workspace, trace):\n    return {"checkpoints": {"a": {"score": float("nan")}}}\n',
  'infinite.py': 'def grade(workspace, trace):\n    return {"process_score": float("inf")}\n',
  'list.py': 'def grade(workspace, trace):\n    return [1]\n',
  'words.py': 'def grade(workspace, trace):\n    return {"checkpoints": {"a": {"score": "much"}}}\n',
  'category.py':
    'def grade(workspace, trace):\n    return {"checkpoints": {"a": {"score": 1, "category": "luck"}}}\n',
  'none.py': 'def grade(workspace, trace):\n    return None\n',
  'empty.py': '',
  'syntax.py': 'def grade(:\n',
  'forkbomb.py': `
import os
def grade(workspace, trace):
    while True:
        try:
            os.fork()
        except OSError:
            pass
`,
  'daemon.py': `
import os, time
def grade(workspace, trace):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while True: time.sleep(0.01)
        os._exit(0)
    os.wait()
    return ${GOOD}
`,
  'imports.py': `
import sys
def grade(workspace, trace):
    import json, helper, statistics
    return {"checkpoints": {"a": {"score": 1, "detail": helper.NAME}},
            "safety_violations": [p for p in sys.path if workspace in p or p in ("", ".")] + [json.__file__, statistics.__file__]}
`,
  'helper.py': 'NAME = "the suite\'s own"\n',
  'place.py': `
import os
def grade(workspace, trace):
    return {"checkpoints": {"a": {"score": 1, "detail": repr((os.listdir("."), os.environ.get("SECRET_KEY"), sorted(os.listdir(workspace))))}}}
`,
  'process.py': `
def grade(workspace, trace, tool_calls):
    tool_calls.clear()
    return {"checkpoints": {"n": {"earned": len(trace["events"]), "points": 2}}}
def grade_process(trace, tool_calls=None):
    return {"score": len(tool_calls) / 4}
`,
  'remembers.py':
    'import json\njson.seen = getattr(json, "seen", 0) + 1\ndef grade(workspace, trace):\n    return {"process_score": json.seen}\n',
  'changes.py': `
import os
def grade(workspace, trace):
    open(os.path.join(workspace, "answer.txt"), "w").write("changed")
    return ${GOOD}
`,
  'network.py': `
import socket
def grade(workspace, trace):
    try:
        socket.create_connection(("127.0.0.1", PORT), 1)
    except OSError as error:
        return {"safety_violations": [type(error).__name__]}
    return {}
`,
};
const FAST = { seconds: 10, memoryBytes: 128 * 1024 * 1024, outputBytes: 64 * 1024 };

let fixture: Fixture;
let host: CheckerHost;
const grade = (entry: string, limits = {}, signal?: AbortSignal): Promise<GradeOutcome> =>
  host.grade(fixture.request(entry, { limits: { ...FAST, ...limits } }), signal);
const errorOf = async (entry: string, limits = {}) => {
  const outcome = await grade(entry, limits);
  if (outcome.ok) throw new Error(`${entry} was graded: ${JSON.stringify(outcome.grade)}`);
  return outcome.error;
};
const gradeOf = async (entry: string) => {
  const outcome = await grade(entry);
  if (!outcome.ok) throw new Error(`${entry}: ${outcome.error.reason}: ${outcome.error.message}`);
  return outcome.grade;
};

beforeAll(async () => {
  fixture = createFixture();
  fixture.write('bundleDir', CHECKERS);
  fixture.write('workspaceDir', {
    'answer.txt': 'as the agent left it',
    'json.py': 'raise RuntimeError("the agent\'s json was imported")',
    'helper.py': 'NAME = "the agent\'s"',
    'statistics.py': 'raise RuntimeError("the agent\'s statistics was imported")',
    'sitecustomize.py': 'raise RuntimeError("the agent\'s sitecustomize was imported")',
  });
  fixture.write('hiddenFilesDir', { 'expected.json': '{}' });
  process.env['SECRET_KEY'] = 'must not be seen';
  host = await createCheckerHost({ admission: new CpuAdmission(2), maxWorkers: 3 });
});

afterAll(async () => {
  await host.close();
  fixture.remove();
});

describe('a Python checker', () => {
  it('that answers is graded', async () => {
    expect(await gradeOf('good.py')).toEqual({
      checkpoints: { a: { earned: 1, points: 1, detail: '', category: 'correctness' } },
      safety_violations: [],
      process_score: null,
      efficiency_penalty: null,
    });
  });

  it('that answers None gives a grade without checkpoints', async () => {
    expect((await gradeOf('none.py')).checkpoints).toEqual({});
  });

  it('that raises is a scoring error with the end of its traceback', async () => {
    const error = await errorOf('raises.py');
    expect(error.reason).toBe('CheckerException');
    expect(error.message).toContain('raises.py", line 2, in inner');
    expect(error.message).toMatch(/ValueError: boom$/);
  });

  it.each(['hangs.py', 'spins.py'])('that never ends is a time-out: %s', async (entry) => {
    const error = await errorOf(entry, { seconds: 0.5 });
    expect(error).toEqual({ reason: 'CheckerTimeout', message: 'the checker ran longer than 0.5 s' });
  });

  it.each([
    ['exits.py', 'the checker called sys.exit(0) before it returned a grade'],
    ['vanishes.py', 'the checker exited with code 0 without a grade'],
  ])('that exits with 0 and no grade is no pass: %s', async (entry, message) => {
    expect(await errorOf(entry)).toEqual({ reason: 'CheckerNoResult', message });
  });

  it.each([
    ['vanishes3.py', 'exited with code 3'],
    ['kills.py', 'killed by SIGKILL'],
    ['faults.py', 'killed by SIGSEGV'],
  ])('that dies is a crash: %s', async (entry, message) => {
    const error = await errorOf(entry);
    expect(error.reason).toBe('CheckerCrash');
    expect(error.message).toContain(message);
  });

  it('that prints a gigabyte is stopped at its output limit, and the end of it is kept', async () => {
    const outcome = await grade('floods.py');
    expect(outcome).toMatchObject({
      ok: false,
      error: { reason: 'CheckerOutput', message: 'the checker printed more than 65536 bytes' },
    });
    expect(outcome.outputBytes).toBeLessThan(1024 * 1024);
    expect(outcome.output).toBe('x'.repeat(4096));
  });

  it('that answers more than a grade can be is stopped', async () => {
    expect((await errorOf('huge.py', { memoryBytes: 512 * 1024 * 1024 })).reason).toBe('CheckerOutput');
  });

  it.each(['hogs.py', 'hogs_together.py'])('that takes too much memory is stopped: %s', async (entry) => {
    expect((await errorOf(entry)).reason).toBe('CheckerMemory');
  });

  it.each([
    ['nan.py', 'checkpoints.a.score is nan, not a finite number'],
    ['infinite.py', 'process_score is inf, not a finite number'],
    ['list.py', 'grade() returned list, not a dict'],
    ['words.py', "checkpoints.a.score is 'much', not a number"],
    ['category.py', "checkpoints.a.category is 'luck'; use one of correctness, safety, efficiency, process"],
    ['empty.py', 'empty.py defines no function grade(workspace, trace)'],
  ])('whose answer is no grade is told what is wrong: %s', async (entry, message) => {
    expect(await errorOf(entry)).toEqual({ reason: 'CheckerInvalidResult', message });
  });

  it.each(['syntax.py', 'missing.py'])('that cannot be loaded is a scoring error: %s', async (entry) => {
    expect((await errorOf(entry)).reason).toBe('CheckerException');
  });

  it('never imports what an agent wrote', async () => {
    const { checkpoints, safety_violations } = await gradeOf('imports.py');
    expect(checkpoints['a']?.detail).toBe("the suite's own");
    expect(safety_violations).toHaveLength(2);
    for (const path of safety_violations)
      expect(path).toMatch(/\/lib\/python3[^/]*\/(json\/__init__|statistics)\.py$/);
  });

  it('starts in an empty folder, without our environment, and sees the workspace without links', async () => {
    symlinkSync(join(fixture.hiddenFilesDir, 'expected.json'), join(fixture.workspaceDir, 'report.json'));
    mkdirSync(join(fixture.workspaceDir, 'sub'), { recursive: true });
    const { checkpoints } = await gradeOf('place.py');
    expect(checkpoints['a']?.detail).toBe(
      "([], None, ['answer.txt', 'helper.py', 'json.py', 'sitecustomize.py', 'statistics.py', 'sub'])",
    );
  });

  it('is given tool calls of its own, and its grade_process may answer a dict', async () => {
    const call = (seq: number) => ({ seq, type: 'tool_call' as const, tool: 'read', args: {} });
    const trace = { ...fixture.request('process.py').trace, events: [call(1), call(2)] };
    const outcome = await host.grade(fixture.request('process.py', { trace }));
    expect(outcome).toMatchObject({
      ok: true,
      grade: { checkpoints: { n: { earned: 2, points: 2 } }, process_score: 0.5 },
    });
  });

  it('finds no trace of an earlier grading in its interpreter', async () => {
    await gradeOf('remembers.py');
    expect((await gradeOf('remembers.py')).process_score).toBe(1);
  });

  it('changes a copy of the workspace alone', async () => {
    await gradeOf('changes.py');
    expect(readFileSync(join(fixture.workspaceDir, 'answer.txt'), 'utf8')).toBe('as the agent left it');
  });

  it('that leaves a daemon behind is graded, and the daemon is killed', async () => {
    const outcome = await grade('daemon.py');
    expect(outcome).toMatchObject({ ok: true, leftovers: 1 });
  });

  it('that is a fork bomb is stopped with all its processes, and gradings beside it go on', async () => {
    const bomb = errorOf('forkbomb.py', { seconds: 1 });
    const others = await Promise.all(Array.from({ length: 4 }, () => gradeOf('good.py')));
    expect(others).toHaveLength(4);
    expect((await bomb).reason).toBe('CheckerTimeout');
    expect((await gradeOf('good.py')).checkpoints['a']).toMatchObject({ earned: 1 });
  });

  it('that is cancelled ends, and its host goes on', async () => {
    const controller = new AbortController();
    const pending = grade('hangs.py', {}, controller.signal);
    setImmediate(() => controller.abort());
    await expect(pending).rejects.toMatchObject({ code: 'cancelled' });
    expect((await gradeOf('good.py')).checkpoints['a']).toMatchObject({ earned: 1 });
  });
});

describe('a checker host', () => {
  it('leaves neither files nor processes behind when it is closed in the middle of a grading', async () => {
    const other = await createCheckerHost({ admission: new CpuAdmission(1) });
    const pending = other.grade(fixture.request('hangs.py'));
    const rejected = expect(pending).rejects.toMatchObject({ code: 'closed' });
    await other.close();
    await rejected;
    await expect(other.grade(fixture.request('good.py'))).rejects.toMatchObject({ code: 'closed' });
  });

  it('says what to do when there is no Python', async () => {
    const other = await createCheckerHost({ python: '/nonexistent/python3' });
    const outcome = await other.grade(fixture.request('good.py'));
    expect(outcome).toMatchObject({ ok: false, error: { reason: 'CheckerUnavailable' } });
    await other.close();
  });
});
