import fc from 'fast-check';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LineReader, oomKills, parseStat, treeOf, type ProcessRow } from '../../../src/attempt/shim/shim.ts';
import {
  FILE_PART_BYTES,
  encodeMessage,
  fileMessages,
  MAX_LINE_BYTES,
  parseFromShim,
} from '../../../src/attempt/shim/protocol.ts';

describe('lines of the conversation', () => {
  it('come out the same however the bytes are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ' '))),
        fc.array(fc.nat({ max: 7 })),
        (lines, cuts) => {
          const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
          const reader = new LineReader();
          const got: string[] = [];
          let at = 0;
          for (const cut of [...cuts, bytes.length]) {
            got.push(...(reader.push(bytes.subarray(at, at + cut)) ?? []));
            at += cut;
          }
          got.push(...(reader.push(bytes.subarray(at)) ?? []));
          expect(got).toEqual(lines);
        },
      ),
    );
  });

  it('are refused beyond the bound, whole or not', () => {
    expect(new LineReader(8).push(Buffer.from('123456789'))).toBeNull();
    expect(new LineReader(8).push(Buffer.from('123456789\n'))).toBeNull();
    const reader = new LineReader(8);
    expect(reader.push(Buffer.from('12345'))).toEqual([]);
    expect(reader.push(Buffer.from('6789'))).toBeNull();
    expect(new LineReader(8).push(Buffer.from('12345678\n1\n'))).toEqual(['12345678', '1']);
  });
});

describe('messages of the shim', () => {
  it.each([
    { type: 'hello', version: 'v26.0.0', protocol: 1, token: 't', containment: 'namespace' },
    { type: 'started', turn: 1, pid: 7 },
    { type: 'output', turn: 1, stream: 'stderr', base64: 'aGk=' },
    { type: 'exit', turn: 1, code: null, signal: 'SIGKILL', oomKills: 2, limit: 'memory' },
    { type: 'failed', turn: 0, message: 'ENOENT' },
    { type: 'dead', count: 1, processes: [{ pid: 3, uid: null, command: 'sleep' }], remaining: 0 },
  ] as const)('of type $type are read as they were written', (message) => {
    const line = encodeMessage(message as never);
    expect(line.endsWith('\n')).toBe(true);
    expect(parseFromShim(line.trimEnd())).toEqual({ ok: true, message });
  });

  it.each([
    ['', /not JSON/],
    ['{"type":"exit","turn":1', /not JSON/],
    ['[]', /not a message/],
    ['{"type":"collect"}', /not a message/],
    ['{"type":"exit","turn":1,"code":0,"signal":null,"oomKills":-1,"limit":null}', /oomKills/],
    ['{"type":"started","turn":1,"pid":"7"}', /pid/],
    ['{"type":"started","turn":1,"pid":7,"extra":true}', /not a message/],
  ])('are refused when they are %j', (line, problem) => {
    const parsed = parseFromShim(line);
    expect(parsed).toMatchObject({ ok: false });
    expect(parsed.ok ? '' : parsed.problem).toMatch(problem);
  });

  it('never make the harness throw', () => {
    fc.assert(fc.property(fc.string(), (line) => typeof parseFromShim(line).ok === 'boolean'));
    fc.assert(fc.property(fc.json(), (line) => typeof parseFromShim(line).ok === 'boolean'));
  });
});

describe('a file on its way to the shim', () => {
  it.each([0, 1, FILE_PART_BYTES, FILE_PART_BYTES + 1, 3 * FILE_PART_BYTES])(
    'of %d bytes arrives whole',
    (size) => {
      const content = Buffer.alloc(size, 'ab');
      const messages = [...fileMessages('/x', 0o600, content)];
      expect(messages).toHaveLength(Math.max(1, Math.ceil(size / FILE_PART_BYTES)));
      const parts = messages.map((message, at) => {
        expect(message).toMatchObject({ type: 'files', path: '/x', mode: 0o600 });
        expect('append' in message).toBe(at > 0);
        expect(encodeMessage(message).length).toBeLessThan(MAX_LINE_BYTES);
        return Buffer.from('base64' in message ? message.base64 : '', 'base64');
      });
      expect(Buffer.concat(parts).equals(content)).toBe(true);
    },
  );
});

describe('the process table', () => {
  it('is read also where a name holds spaces, brackets or line breaks', () => {
    expect(parseStat('12 (a) b (c)\n) S 1 12 12 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 77 0')).toEqual({
      pid: 12,
      ppid: 1,
      group: 12,
      session: 12,
      state: 'S',
      started: 77,
      command: 'a) b (c)\n',
    });
    expect(parseStat('')).toBeNull();
    expect(parseStat('12 (x')).toBeNull();
  });

  const row = (pid: number, ppid: number, group: number, session: number): ProcessRow => {
    return { pid, ppid, group, session, state: 'S', started: 0, command: `p${pid}` };
  };
  const shim = row(10, 1, 10, 10);
  const bystanders = [row(1, 0, 1, 1), row(2, 1, 2, 2), row(11, 2, 10, 10)];
  const pids = (rows: ProcessRow[]) => rows.map(({ pid }) => pid).sort((a, b) => a - b);

  it('gives the descendants of the shim, never the shim or bystanders, also not those in its own session', () => {
    const rows = [...bystanders, shim, row(20, 10, 20, 20), row(21, 20, 20, 20), row(22, 21, 22, 22)];
    expect(pids(treeOf(rows, 10, new Set(), () => false))).toEqual([20, 21, 22]);
  });

  it('finds who was re-parented to init through the session of a relative', () => {
    const rows = [...bystanders, shim, row(20, 10, 20, 20), row(30, 1, 31, 20)];
    expect(pids(treeOf(rows, 10, new Set(), () => false))).toEqual([20, 30]);
  });

  it('finds relatives of the dead through what an earlier look learnt', () => {
    const sessions = new Set<number>();
    treeOf([...bystanders, shim, row(20, 10, 20, 20), row(21, 20, 21, 21)], 10, sessions, () => false);
    expect(pids(treeOf([...bystanders, shim, row(40, 1, 40, 21)], 10, sessions, () => false))).toEqual([40]);
  });

  it('finds a daemon that left everything but its first environment, and its children', () => {
    const rows = [...bystanders, shim, row(50, 1, 50, 50), row(51, 50, 51, 51), row(52, 1, 52, 50)];
    expect(pids(treeOf(rows, 10, new Set(), ({ pid }) => pid === 50))).toEqual([50, 51, 52]);
  });
});

describe('kills for memory', () => {
  function fakeCgroups(files: Readonly<Record<string, string>>) {
    const folder = mkdtempSync(join(tmpdir(), 'clawbench-cgroups-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(folder, path, '..'), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return (): number => oomKills(join(folder, 'self'), join(folder, 'fs'));
  }

  it('are read from version 2, under the own path or in a container at the root', () => {
    const events = 'low 0\nhigh 0\nmax 9\noom 3\noom_kill 2\n';
    expect(fakeCgroups({ self: '0::/a/b\n', 'fs/a/b/memory.events': events })()).toBe(2);
    expect(fakeCgroups({ self: '0::/\n', 'fs/memory.events': events })()).toBe(2);
  });

  it('are read from version 1 beside an empty version 2', () => {
    const control = 'oom_kill_disable 0\nunder_oom 0\noom_kill 4\n';
    const self = '9:name=systemd:/\n4:cpu,memory:/a\n0::/\n';
    expect(fakeCgroups({ self, 'fs/memory/a/memory.oom_control': control })()).toBe(4);
    expect(fakeCgroups({ self, 'fs/memory/memory.oom_control': control })()).toBe(4);
  });

  it('are 0 where nothing counts them', () => {
    expect(fakeCgroups({})()).toBe(0);
  });
});
