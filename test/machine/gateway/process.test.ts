import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startCli, type RunningCli } from '../../support/cli.ts';
import {
  agentToken,
  controlToken,
  endpointTo,
  freePort,
  modelOf,
  post,
  QUESTION,
  SECRET,
} from './support.ts';

const KEY = 'sk-the-providers-key';

let folder: string;
let ports: { model: number; control: number; metrics: number; health: number };
const running: RunningCli[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-process-'));
  ports = {
    model: await freePort(),
    control: await freePort(),
    metrics: await freePort(),
    health: await freePort(),
  };
});
afterEach(async () => {
  for (const { child } of running.splice(0)) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

async function start(model = modelOf()): Promise<RunningCli> {
  const flags = Object.entries(ports).flatMap(([name, port]) => [`--${name}-port`, String(port)]);
  const cli = startCli(['gateway', '--host', '127.0.0.1', ...flags], {
    CLAWBENCH_REQUEST: JSON.stringify({
      runName: 'r',
      runUID: 'u',
      model,
      journalDir: join(folder, 'gateway'),
    }),
    CLAWBENCH_GATEWAY_SECRET: SECRET,
    CLAWBENCH_API_KEY: KEY,
  });
  running.push(cli);
  await cli.said('listens');
  return cli;
}

const control = (path: string, body: unknown, token = controlToken) =>
  post(`http://127.0.0.1:${ports.control}${path}`, body, { token });
const call = (attempt = 1) =>
  post(`http://127.0.0.1:${ports.model}/v1/chat/completions`, QUESTION, { token: agentToken(attempt) });
const get = async (port: number, path: string, token = '') => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return { status: response.status, text: await response.text() };
};

describe('clawbench gateway', () => {
  it('keeps accounts and ended attempts over kill -9, and writes down no secret', async () => {
    const first = await start();
    expect((await control('/control/preflight', {})).text).toBe('{"ok":true}');
    await call(1);
    await call(1);
    await call(2);
    expect((await control('/control/ended', { trial: 't1', attempt: 2 })).status).toBe(200);
    expect((await call(2)).status).toBe(403);
    const before = await get(ports.model, '/attempts/self/calls', agentToken(1));
    first.child.kill('SIGKILL');
    await first.result;

    const second = await start();
    expect(await get(ports.model, '/attempts/self/calls', agentToken(1))).toEqual(before);
    expect((JSON.parse(before.text) as { calls: unknown[] }).calls).toMatchObject([
      { trial: 't1', attempt: 1, ordinal: 1, status: 200, error: null },
      { ordinal: 2 },
    ]);
    const refused = await call(2);
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('attempt_ended');
    await call(1);
    const after = JSON.parse((await get(ports.model, '/attempts/self/calls', agentToken(1))).text) as {
      calls: { ordinal: number }[];
    };
    expect(after.calls.map(({ ordinal }) => ordinal)).toEqual([1, 2, 3]);

    second.child.kill('SIGTERM');
    const { code, stderr } = await second.result;
    expect(code).toBe(0);
    expect(stderr).toContain('took up a journal of 3 calls');
    const journal = await readFile(join(folder, 'gateway', 'journal.jsonl'), 'utf8');
    for (const secret of [KEY, SECRET, agentToken(1), controlToken]) {
      expect(journal).not.toContain(secret);
      expect(stderr).not.toContain(secret);
    }
  });

  it('ends in order: open calls are answered, further ones are not taken', async () => {
    const gateway = await start(modelOf({ latencyMs: 1000 }));
    const open = call();
    await delay(300);
    gateway.child.kill('SIGTERM');
    await gateway.said('ending');
    await expect(call(2)).rejects.toThrow('ECONNREFUSED');
    expect((await open).status).toBe(200);
    expect((await gateway.result).code).toBe(0);
    expect(await readFile(join(folder, 'gateway', 'journal.jsonl'), 'utf8')).toContain('"status":200');
  });

  it('takes orders from the controller alone', async () => {
    await start();
    for (const path of ['/control/ended', '/control/preflight']) {
      expect((await control(path, { trial: 't1', attempt: 1 }, agentToken())).status).toBe(403);
      expect((await control(path, { trial: 't1', attempt: 1 }, 'v1.x.y')).status).toBe(401);
      expect((await post(`http://127.0.0.1:${ports.control}${path}`, {})).status).toBe(401);
    }
    expect((await control('/control/ended', { trial: 't1' })).status).toBe(400);
    expect((await call()).status).toBe(200);
    // And the controller's token makes no model calls.
    const own = await post(`http://127.0.0.1:${ports.model}/v1/chat/completions`, QUESTION, {
      token: controlToken,
    });
    expect(own.status).toBe(403);
  });

  it('tells how it is and what it did', async () => {
    await start(modelOf({ respond: { status: 429, times: 1 } }));
    await call();
    await call();
    for (const port of [ports.control, ports.metrics, ports.health]) {
      expect((await get(port, '/healthz')).status).toBe(200);
      expect((await get(port, '/readyz')).status).toBe(200);
    }
    const { text } = await get(ports.metrics, '/metrics');
    expect(text).toContain('clawbench_gateway_calls_total{end="answered",error=""} 1');
    expect(text).toContain('clawbench_gateway_calls_total{end="answered",error="rate_limit"} 1');
    expect(text).toMatch(/clawbench_gateway_tokens_total\{kind="input"\} [1-9]/);
  });

  it('says in a preflight what the provider said', async () => {
    await start(modelOf({ respond: { status: 401 } }));
    expect(JSON.parse((await control('/control/preflight', {})).text)).toMatchObject({
      ok: false,
      error: { class: 'provider', kind: 'authentication', status: 401 },
    });
  });

  it('starts with nothing wrong only: exit code 2 says what is', async () => {
    const { result } = startCli(['gateway'], {
      CLAWBENCH_REQUEST: JSON.stringify({
        runName: 'r',
        runUID: 'u',
        model: modelOf({ text: '' }),
        journalDir: folder,
      }),
      CLAWBENCH_GATEWAY_SECRET: SECRET,
    });
    const { code, stderr } = await result;
    expect(code).toBe(2);
    expect(stderr).toContain('spec.model.parameters.scripted.text');
  });
});

describe('the model endpoint of an attempt and a gateway that is restarted', () => {
  it('holds a call until the gateway is back, and takes that time off no clock', async () => {
    const first = await start();
    const endpoint = await endpointTo(ports.model, 1, { patienceMs: 20_000 });
    const ask = () => post(`${endpoint.url}/v1/chat/completions`, QUESTION);
    expect((await ask()).status).toBe(200);
    first.child.kill('SIGKILL');
    await first.result;
    const held = ask();
    await start();
    expect((await held).status).toBe(200);
    expect(endpoint.heldMs()).toBeGreaterThan(200);
    expect(endpoint.calls().map(({ result }) => result)).toEqual(['answered', 'answered']);
    expect(await endpoint.accounted()).toHaveLength(2);
    await endpoint.close();
  });
});
