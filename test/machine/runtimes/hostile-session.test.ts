import { execFile } from 'node:child_process';
import { link, mkdir, mkdtemp, open, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readScriptedSession } from '../../../src/runtimes/scripted/session.ts';

const SECRET = `${JSON.stringify({ type: 'assistant', text: 'secret', turn: 1 })}\n`;
const EMPTY = { sessionId: null, events: [], stopReason: null, placeholder: true, nativeFiles: [] };

async function folders() {
  const root = await mkdtemp(join(tmpdir(), 'clawbench-session-'));
  const state = join(root, 'state');
  await mkdir(state);
  const secret = join(root, 'secret.jsonl');
  await writeFile(secret, SECRET);
  return {
    root,
    state,
    secret,
    session: join(state, 'session.jsonl'),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

describe('a session file that an agent replaced', () => {
  it('is absent: nothing was said', async () => {
    await using place = await folders();
    expect(await readScriptedSession(place.session)).toMatchObject(EMPTY);
  });

  it('by a link is not followed', async () => {
    await using place = await folders();
    await symlink(place.secret, place.session);
    expect(await readScriptedSession(place.session)).toMatchObject(EMPTY);
  });

  it('by a second name of another file is not read', async () => {
    await using place = await folders();
    await link(place.secret, place.session);
    expect(await readScriptedSession(place.session)).toMatchObject(EMPTY);
  });

  it('by a folder, a socket or a FIFO is not read and not waited for', async () => {
    await using place = await folders();
    await mkdir(place.session);
    expect(await readScriptedSession(place.session)).toMatchObject(EMPTY);
    await rm(place.session, { recursive: true });
    await promisify(execFile)('mkfifo', [place.session]);
    expect(await readScriptedSession(place.session)).toMatchObject(EMPTY);
    await rm(place.session);
    const server = createServer().listen(place.session);
    await new Promise((done) => server.once('listening', done));
    expect(await readScriptedSession(place.session)).toMatchObject(EMPTY);
    await new Promise((done) => server.close(done));
  });

  it('together with its folder is not followed', async () => {
    await using place = await folders();
    const elsewhere = join(place.root, 'elsewhere');
    await mkdir(elsewhere);
    await rename(place.secret, join(elsewhere, 'session.jsonl'));
    await rm(place.state, { recursive: true });
    await symlink(elsewhere, place.state);
    expect(await readScriptedSession(place.session)).toMatchObject(EMPTY);
    await rm(place.state);
    await writeFile(place.state, 'a file');
    expect(await readScriptedSession(place.session)).toMatchObject(EMPTY);
  });

  it('by terabytes is read to its bound only', async () => {
    await using place = await folders();
    await writeFile(place.session, SECRET);
    await truncate(place.session, 2 ** 40).catch(() => truncate(place.session, 2 ** 33));
    const reading = await readScriptedSession(place.session);
    expect(reading.events).toHaveLength(1);
    expect(reading.nativeFiles).toEqual([place.session]);
  });

  it('by millions of empty lines is given up early', async () => {
    await using place = await folders();
    const file = await open(place.session, 'w');
    const lines = Buffer.alloc(1024 * 1024, '{\n');
    for (let mebibyte = 0; mebibyte < 64; mebibyte += 1) await file.write(lines);
    await file.close();
    const started = performance.now();
    expect((await readScriptedSession(place.session)).events).toEqual([]);
    // All 32 million lines would take a minute.
    expect(performance.now() - started).toBeLessThan(15_000);
  });
});
