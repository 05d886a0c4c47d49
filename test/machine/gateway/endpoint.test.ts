import { connect } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Accounts } from '../../../src/gateway/accounts.ts';
import type { AttemptEndpoint } from '../../../src/gateway/attempt-endpoint.ts';
import { ProviderBroken, type ModelBackend } from '../../../src/gateway/backend.ts';
import { CallService } from '../../../src/gateway/call-service.ts';
import { systemGatewayClock } from '../../../src/gateway/clock.ts';
import { listen } from '../../../src/gateway/http.ts';
import { GatewayJournal } from '../../../src/gateway/journal.ts';
import { GatewayMetrics } from '../../../src/gateway/metrics.ts';
import { modelServer } from '../../../src/gateway/model-server.ts';
import { startGateway, type Gateway } from '../../../src/gateway/server.ts';
import { until } from '../attempt/support.ts';
import { endpointTo, freePort, modelOf, post, QUESTION, SECRET } from './support.ts';

let folder: string;
const closing: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-endpoint-'));
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await rm(folder, { recursive: true, force: true });
});

async function gatewayOf(model = modelOf()): Promise<Gateway> {
  const gateway = await startGateway({
    model,
    secret: SECRET,
    apiKey: null,
    journalDir: folder,
    host: '127.0.0.1',
    ports: { model: 0, control: null, metrics: null, health: null },
    onNote: () => undefined,
    onFault: (error) => {
      throw error;
    },
  });
  closing.push(() => gateway.drain(0));
  return gateway;
}

/** A gateway whose provider does what the test says. */
async function gatewayBefore(backend: ModelBackend): Promise<number> {
  const { journal } = await GatewayJournal.open(join(folder, 'journal.jsonl'));
  const [clock, metrics] = [systemGatewayClock, new GatewayMetrics()];
  const redact = (text: string) => text;
  const service = new CallService({
    model: modelOf(),
    backend,
    accounts: new Accounts(),
    journal,
    metrics,
    clock,
    redact,
  });
  const onFault = () => undefined;
  const { port, stop } = await listen(
    modelServer({ service, secret: SECRET, life: 'x', clock, metrics, onFault }),
    '127.0.0.1',
    0,
  );
  closing.push(async () => {
    const stopped = stop();
    await service.drain(0);
    await stopped;
    await journal.close();
  });
  return port;
}

async function endpoint(port: number, ...more: [number?, object?]): Promise<AttemptEndpoint> {
  const opened = await endpointTo(port, more[0] ?? 1, more[1]);
  closing.push(() => opened.close());
  return opened;
}

const ask = (to: AttemptEndpoint, path = '/v1/chat/completions', body: object = QUESTION) =>
  post(`${to.url}${path}`, body);

describe('the model endpoint of an attempt', () => {
  it('speaks every format, whole and streamed, and the agent needs no token', async () => {
    const gateway = await gatewayOf();
    const to = await endpoint(gateway.ports.model);
    const responses = { model: 'm', input: 'Is it?' };
    for (const stream of [false, true]) {
      const chat = await ask(to, '/v1/chat/completions', { ...QUESTION, stream });
      const messages = await ask(to, '/v1/messages', { ...QUESTION, max_tokens: 9, stream });
      const response = await ask(to, '/v1/responses', { ...responses, stream });
      for (const { status, text, whole } of [chat, messages, response]) {
        expect({ status, whole }).toEqual({ status: 200, whole: true });
        expect(text).toContain('scripted');
      }
      if (stream) expect(chat.text).toMatch(/data: \[DONE\]\n\n$/);
    }
    const accounted = await to.accounted();
    expect(accounted.map(({ api, stream }) => `${api} ${String(stream)}`)).toEqual([
      'openai-completions false',
      'anthropic-messages false',
      'openai-responses false',
      'openai-completions true',
      'anthropic-messages true',
      'openai-responses true',
    ]);
    for (const { usage, costUsd } of accounted) {
      expect(usage?.output).toBe(11);
      expect(costUsd).toBe(0);
    }
  });

  it('passes pieces on when they come', async () => {
    let goOn: () => void = () => undefined;
    const first = new Promise<void>((resolve) => (goOn = resolve));
    const port = await gatewayBefore({
      send: () =>
        Promise.resolve({
          status: 200,
          contentType: 'text/event-stream',
          retryAfter: null,
          body: (async function* () {
            yield Buffer.from('data: {"one":1}\n\n');
            // Sent only once the agent has the first piece: nobody on the way may wait for the whole.
            await first;
            yield Buffer.from('data: {"two":2}\n\n');
          })(),
        }),
    });
    const { text } = await post(`${(await endpoint(port)).url}/v1/chat/completions`, QUESTION, {
      onPiece: (sofar) => {
        if (sofar.includes('one')) goOn();
      },
    });
    expect(text).toBe('data: {"one":1}\n\ndata: {"two":2}\n\n');
  });

  it("remembers the provider's errors with their kind, and passes Retry-After on", async () => {
    const gateway = await gatewayOf(modelOf({ respond: { status: 503, retryAfterSeconds: 3 } }));
    const to = await endpoint(gateway.ports.model);
    const { status, headers } = await ask(to);
    expect({ status, retryAfter: headers['retry-after'] }).toEqual({ status: 503, retryAfter: '3' });
    expect(to.calls()).toMatchObject([{ result: 'provider_error', error: 'overloaded', status: 503 }]);
  });

  it('takes a provider that breaks off for a broken connection, and lets the agent see it so', async () => {
    const port = await gatewayBefore({
      send: ({ request }) => {
        if (!request.stream) return Promise.reject(new ProviderBroken('no route'));
        return Promise.resolve({
          status: 200,
          contentType: 'text/event-stream',
          retryAfter: null,
          body: (async function* () {
            yield await Promise.resolve(Buffer.from('data: {"one":1}\n\n'));
            throw new ProviderBroken('reset');
          })(),
        });
      },
    });
    const to = await endpoint(port);
    expect(await ask(to, undefined, { ...QUESTION, stream: true })).toMatchObject({ whole: false });
    expect(await ask(to)).toMatchObject({ status: 502 });
    expect(to.calls()).toMatchObject([
      { result: 'provider_error', error: 'connection', status: 200 },
      { result: 'provider_error', error: 'connection', status: 502 },
    ]);
    expect((await to.accounted()).map(({ end }) => end)).toEqual(['broken', 'broken']);
  });

  it('says that the gateway was down when nobody is there, or something else', async () => {
    const nobody = await endpoint(await freePort());
    expect((await ask(nobody)).status).toBe(502);
    expect(nobody.calls()).toMatchObject([{ result: 'gateway_down' }]);
    expect(nobody.heldMs()).toBeGreaterThan(0);
    const other = await listen((_, response) => response.writeHead(200).end('hello'), '127.0.0.1', 0);
    closing.push(other.stop);
    const wrong = await endpoint(other.port);
    await ask(wrong);
    expect(wrong.calls()).toMatchObject([{ result: 'gateway_down' }]);
    const mute = await listen(() => undefined, '127.0.0.1', 0);
    closing.push(mute.stop);
    const silent = await endpoint(mute.port, 1, { patienceMs: 0 });
    const pending = ask(silent);
    // Five seconds of silence when asked for the attempt's waits, then the calls are given up.
    expect((await pending).status).toBe(502);
    expect(silent.calls()).toMatchObject([{ result: 'gateway_down' }]);
    await silent.close();
  });

  it('says so when the gateway dies in the middle of an answer', async () => {
    const gateway = await gatewayOf(modelOf({ latencyMs: 60_000 }));
    const to = await endpoint(gateway.ports.model);
    const open = ask(to);
    await until(async () => (await to.accounted().catch(() => [])).length === 0 && to.calls().length === 0);
    await delay(200);
    await gateway.drain(0);
    closing.pop();
    expect((await open).status).toBe(503);
    expect(to.calls()).toMatchObject([{ result: 'gateway_down', status: 503 }]);
    closing.length = 0;
    await to.close();
  });

  it('never blames the gateway or the provider for what the agent does', async () => {
    const gateway = await gatewayOf(modelOf({ latencyMs: 300 }));
    const to = await endpoint(gateway.ports.model);
    const { port, pathname } = new URL(`${to.url}/v1/chat/completions`);
    const raw = (head: string, body: string, thenClose: boolean) =>
      new Promise<void>((resolve) => {
        const socket = connect(Number(port), '127.0.0.1', () => {
          socket.write(`POST ${pathname} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${head}\r\n\r\n${body}`);
          if (thenClose) setTimeout(() => socket.destroy(), 100);
        });
        socket.on('error', () => undefined);
        // Read to its end: who hangs up at the first byte has abandoned the call.
        socket.resume();
        socket.once('close', () => resolve());
      });
    const whole = JSON.stringify(QUESTION);
    // Hangs up while it is answered, in the middle of its own request, breaks its own encoding.
    await raw(`content-length: ${whole.length}`, whole, true);
    await raw(`content-length: ${whole.length}`, whole.slice(0, 10), true);
    await raw('transfer-encoding: chunked', 'zz\r\nnonsense', false);
    // Headers that a gateway would refuse, had they been passed on.
    await raw(
      `content-length: ${whole.length}\r\naccept: ${'x'.repeat(15_000)}\r\nauthorization: Bearer no`,
      whole,
      false,
    );
    const deep = `{"model":"m","messages":${'['.repeat(5_000_000)}${']'.repeat(5_000_000)}}`;
    for (const body of ['', 'null', 'no json', '{"model":7}', deep]) {
      expect((await post(`${to.url}/v1/chat/completions`, body)).status).toBe(400);
    }
    for (const path of ['/attempts/self/calls', '/v1/models', '/', '/v1/chat/completions/x'])
      expect((await ask(to, path)).status).toBe(404);
    await until(() => to.calls().length === 9);
    expect(new Set(to.calls().map(({ result }) => result))).toEqual(
      new Set(['abandoned', 'refused', 'answered']),
    );
  });

  it('takes no request that is too large, told or not', async () => {
    const gateway = await gatewayOf();
    const to = await endpoint(gateway.ports.model);
    const large = 'x'.repeat(33 * 1024 * 1024);
    const told = await post(`${to.url}/v1/chat/completions`, large).catch((error: unknown) => error);
    // An answer that comes before the request is read may be lost with the connection.
    if (!(told instanceof Error)) expect(told).toMatchObject({ status: 413 });
    expect(to.calls().filter(({ result }) => result !== 'refused' && result !== 'abandoned')).toEqual([]);
  });

  it('cannot be used without its word', async () => {
    const gateway = await gatewayOf();
    const to = await endpoint(gateway.ports.model, 1, { path: 'a-word' });
    const { origin } = new URL(to.url);
    expect((await ask(to)).status).toBe(200);
    for (const path of [
      '/v1/chat/completions',
      '/another/v1/chat/completions',
      '/a-wordy/v1/chat/completions',
    ])
      expect((await post(`${origin}${path}`, QUESTION)).status).toBe(404);
    expect(await to.accounted()).toHaveLength(1);
  });

  it('knows how long the queue held its calls, and another attempt is served in its turn', async () => {
    const gateway = await gatewayOf(modelOf({ latencyMs: 400 }, { limits: { concurrency: 1 } }));
    const greedy = await endpoint(gateway.ports.model, 1);
    const other = await endpoint(gateway.ports.model, 2);
    const many = Promise.all([1, 2, 3, 4].map(() => ask(greedy)));
    await delay(100);
    const started = performance.now();
    await ask(other);
    // One that was being served, one whose turn it was, and its own.
    expect(performance.now() - started).toBeLessThan(4 * 400);
    await many;
    await until(() => other.heldMs() >= 250);
    expect(other.heldMs()).toBeLessThan(1200);
    expect((await other.accounted())[0]?.heldMs).toBeGreaterThan(250);
    // Its own calls are no reason to give an attempt more time; the other's one call is.
    expect(greedy.heldMs()).toBeLessThan(800);
  });
});
