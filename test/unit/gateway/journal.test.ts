import { appendFile, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ModelCallRecord } from '../../../src/api/model-calls.ts';
import { Accounts, costOf } from '../../../src/gateway/accounts.ts';
import { GatewayJournal } from '../../../src/gateway/journal.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-journal-'));
  path = join(folder, 'gateway', 'journal.jsonl');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const record = (ordinal: number, more: Partial<ModelCallRecord> = {}): ModelCallRecord => ({
  trial: 't',
  attempt: 1,
  role: 'agent',
  ordinal,
  startedAt: '2026-01-01T00:00:00.000Z',
  heldMs: 0,
  durationMs: 5,
  api: 'openai-completions',
  stream: false,
  end: 'answered',
  status: 200,
  error: null,
  usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 },
  costUsd: 0.25,
  ...more,
});

describe('the journal of the gateway', () => {
  it('is read again with everything that was appended, in order', async () => {
    const { journal, entries } = await GatewayJournal.open(path);
    expect(entries).toEqual([]);
    // Many at once: they are flushed together.
    await Promise.all(
      Array.from({ length: 50 }, (_, i) => journal.append({ type: 'call', call: record(i + 1) })),
    );
    await journal.append({ type: 'ended', trial: 't', attempt: 1, at: '2026-01-01T00:00:01.000Z' });
    await journal.close();
    const again = await GatewayJournal.open(path);
    expect(again.entries.map((entry) => (entry.type === 'call' ? entry.call.ordinal : entry.type))).toEqual([
      ...Array.from({ length: 50 }, (_, i) => i + 1),
      'ended',
    ]);
    expect(again.unreadable).toBe(0);
    await again.journal.close();
  });

  it('survives being cut off at any byte, and what comes after stands by itself', async () => {
    const { journal } = await GatewayJournal.open(path);
    await journal.append({ type: 'call', call: record(1) });
    await journal.append({ type: 'call', call: record(2) });
    await journal.close();
    const whole = await readFile(path);
    const firstLine = whole.indexOf(0x0a) + 1;
    for (let length = firstLine; length < whole.length; length += 17) {
      await writeFile(path, whole);
      await truncate(path, length);
      const cut = await GatewayJournal.open(path);
      expect(cut.entries).toHaveLength(1);
      await cut.journal.append({ type: 'call', call: record(3) });
      await cut.journal.close();
      const { journal: last, entries } = await GatewayJournal.open(path);
      expect(entries.map((entry) => entry.type === 'call' && entry.call.ordinal)).toEqual([1, 3]);
      await last.close();
    }
  });

  it('passes over lines that are not its own, and says how many', async () => {
    const { journal } = await GatewayJournal.open(path);
    await journal.append({ type: 'call', call: record(1) });
    await journal.close();
    await appendFile(path, '{"v":1,"type":"call"}\nrubbish\n{"v":9}\n');
    const { journal: again, entries, unreadable } = await GatewayJournal.open(path);
    expect({ entries: entries.length, unreadable }).toEqual({ entries: 1, unreadable: 3 });
    await again.close();
  });

  it('promises nothing more once it could not write', async () => {
    const { journal } = await GatewayJournal.open(path);
    await journal.close();
    await expect(journal.append({ type: 'call', call: record(1) })).rejects.toMatchObject({
      reason: 'JournalUnavailable',
    });
    expect(journal.failure).not.toBeNull();
  });

  it('says why it cannot be had', async () => {
    await writeFile(join(folder, 'gateway'), 'a file');
    await expect(GatewayJournal.open(path)).rejects.toMatchObject({ reason: 'JournalUnavailable' });
  });
});

describe('accounts', () => {
  it('go on after a restart where they stopped', () => {
    const accounts = new Accounts([
      { type: 'preflight', at: '', status: 200, ok: true },
      { type: 'call', call: record(1) },
      // A call that came first may end last.
      { type: 'call', call: record(3, { error: 'rate_limit', status: 429, usage: null, costUsd: null }) },
      { type: 'call', call: record(1, { attempt: 2 }) },
      { type: 'ended', trial: 't', attempt: 2, at: '' },
    ]);
    expect(accounts.totals).toEqual({ calls: 3, errors: 1, tokens: 30, costUsd: 0.5 });
    expect(accounts.begin('t', 1)).toEqual({ ordinal: 4, runOrdinal: 5 });
    expect(accounts.callsOf('t', 1)).toHaveLength(2);
    expect([accounts.hasEnded('t', 1), accounts.hasEnded('t', 2)]).toEqual([false, true]);
    expect(accounts.callsOf('t', 2)).toEqual([]);
  });

  it('know no cost where a price is missing', () => {
    const usage = { input: 1_000_000, output: 500_000, cacheRead: 2_000_000, cacheWrite: 0 };
    expect(costOf(usage, { inputPerMillion: 3, outputPerMillion: 10, cacheReadPerMillion: 0.5 })).toBeCloseTo(
      9,
    );
    expect(costOf(usage, { inputPerMillion: 3, outputPerMillion: 10 })).toBeCloseTo(14);
    expect(costOf(usage, { inputPerMillion: 3 })).toBeNull();
    expect(costOf(usage, undefined)).toBeNull();
    expect(costOf(null, { inputPerMillion: 3, outputPerMillion: 10 })).toBeNull();
  });
});
