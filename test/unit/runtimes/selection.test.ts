import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../../src/api/errors.ts';
import { classifyRoute, describeRoute, type ModelRoute } from '../../../src/runtimes/model-route.ts';
import { effectiveRoute } from '../../../src/runtimes/selection-config.ts';
import {
  selectAgentRuntime,
  type PluginHarness,
  type SelectionInput,
} from '../../../src/runtimes/selection.ts';

const PLATFORM: ModelRoute = { api: 'openai-responses', baseUrl: 'https://api.openai.com/v1', authored: [] };
const CHATGPT: ModelRoute = {
  api: 'openai-chatgpt-responses',
  baseUrl: 'https://chatgpt.com/backend-api',
  authored: [],
};
const CUSTOM: ModelRoute = { api: 'openai-responses', baseUrl: 'https://models.example/v1', authored: [] };

const eager = (id: string): PluginHarness => ({ id, supports: () => true });
const picky = (id: string): PluginHarness => ({ id, supports: () => false });

function select(change: Partial<SelectionInput> = {}) {
  return selectAgentRuntime({
    config: {},
    modelRef: 'openai/gpt-x',
    route: PLATFORM,
    harnesses: [eager('codex')],
    ...change,
  });
}

function policy(provider: string | undefined, model?: string): Record<string, unknown> {
  const entry = (id: string | undefined) => (id === undefined ? {} : { agentRuntime: { id } });
  return {
    models: {
      providers: { openai: { ...entry(provider), models: [{ id: 'gpt-x', ...entry(model) }] } },
    },
  };
}

describe('runtime policy of the configuration', () => {
  it.each([
    // provider, model -> harness, source
    [undefined, undefined, 'codex', 'auto'],
    ['default', undefined, 'codex', 'auto'],
    ['auto', undefined, 'codex', 'auto'],
    ['', '  ', 'codex', 'auto'],
    ['openclaw', undefined, 'openclaw', 'provider'],
    ['pi', undefined, 'openclaw', 'provider'],
    [undefined, 'openclaw', 'openclaw', 'model'],
    [undefined, 'pi', 'openclaw', 'model'],
    [undefined, 'codex-app-server', 'codex', 'model'],
    ['codex', 'openclaw', 'openclaw', 'model'],
    ['openclaw', 'codex', 'codex', 'model'],
    ['openclaw', '', 'openclaw', 'provider'],
    // A model's own word lifts its provider's pin.
    ['openclaw', 'default', 'codex', 'auto'],
    ['openclaw', 'auto', 'codex', 'auto'],
    ['default', 'openclaw', 'openclaw', 'model'],
  ])('provider %j and model %j give %s from %s', (provider, model, harness, source) => {
    expect(select({ config: policy(provider, model) })).toMatchObject({ harness, source });
  });

  it('counts for its own provider and model only', () => {
    const config = policy('openclaw', 'openclaw');
    expect(select({ config, modelRef: 'openai/other' })).toMatchObject({ source: 'provider' });
    expect(select({ config, modelRef: 'else/gpt-x' })).toMatchObject({ source: 'auto' });
    expect(select({ config, modelRef: '__proto__/gpt-x' })).toMatchObject({ source: 'auto' });
  });

  it('finds a model whose name holds slashes', () => {
    const config = {
      models: { providers: { hub: { models: [{ id: 'org/m-1', agentRuntime: { id: 'openclaw' } }] } } },
    };
    expect(select({ config, modelRef: 'hub/org/m-1' })).toMatchObject({ source: 'model' });
  });

  it('never replaces a pinned harness that is not registered or does not support the route', () => {
    expect(() => select({ config: policy('codex'), harnesses: [] })).toThrow(
      /models\.providers\.openai\.agentRuntime\.id: no harness codex is registered.*openclaw/,
    );
    expect(() => select({ config: policy(undefined, 'codex'), harnesses: [picky('codex')] })).toThrow(
      /openai\.models\[0\]\.agentRuntime\.id: harness codex does not support openai-responses at https/,
    );
  });

  it('takes a pinned harness on any route that it supports', () => {
    expect(select({ config: policy('codex'), route: CUSTOM })).toMatchObject({
      harness: 'codex',
      source: 'provider',
    });
  });

  it.each([
    ['noslash', {}, /"noslash" is not a model reference/],
    ['/x', {}, /not a model reference/],
    ['x/', {}, /not a model reference/],
    ['a/b', { models: { providers: [] } }, /spec\.runtime\.config\.models\.providers/],
    ['a/b', { models: { providers: { a: { agentRuntime: { id: 7 } } } } }, /providers\.a\.agentRuntime\.id/],
    ['a/b', { models: { providers: { a: { agentRuntime: 'codex' } } } }, /providers\.a\.agentRuntime/],
  ])('refuses %j with %j', (modelRef, config, message) => {
    expect(() => select({ modelRef, config })).toThrow(InvalidInputError);
    expect(() => select({ modelRef, config })).toThrow(message);
  });
});

describe('auto', () => {
  it.each<[string, ModelRoute, readonly PluginHarness[], string, string]>([
    ['the official Platform Responses route', PLATFORM, [eager('codex')], 'codex', 'auto'],
    ['the official ChatGPT Responses route', CHATGPT, [eager('codex')], 'codex', 'auto'],
    ['an official route, codex under its alias', PLATFORM, [eager('codex-app-server')], 'codex', 'auto'],
    ['an official route that codex does not support', PLATFORM, [picky('codex')], 'openclaw', 'default'],
    ['an official route without a harness', PLATFORM, [], 'openclaw', 'default'],
    ['a custom endpoint', CUSTOM, [eager('codex')], 'openclaw', 'default'],
    ['a custom endpoint that a plugin serves', CUSTOM, [eager('codex'), eager('other')], 'other', 'auto'],
    ['a built-in that is registered too', CUSTOM, [eager('openclaw'), eager('pi')], 'openclaw', 'default'],
    ['two that support it', CUSTOM, [picky('first'), eager('second'), eager('third')], 'second', 'auto'],
  ])('on %s', (_, route, harnesses, harness, source) => {
    const selection = select({ route, harnesses });
    expect(selection).toMatchObject({ harness, source });
    expect(selection.reason).toContain(route.baseUrl);
  });

  it.each<[string, Partial<ModelRoute>]>([
    ['headers were authored', { authored: ['headers'] }],
    ['parameters were authored', { authored: ['params'] }],
    ['the address was authored', { authored: ['baseUrl'] }],
    ['the adapter is for completions', { api: 'openai-completions' }],
    ['the protocol is another', { api: 'anthropic-messages' }],
    ['the protocol belongs to the other official route', { api: 'openai-chatgpt-responses' }],
    ['the path is another', { baseUrl: 'https://api.openai.com/v2' }],
    ['the path is missing', { baseUrl: 'https://api.openai.com' }],
    ['the path goes on', { baseUrl: 'https://api.openai.com/v1/responses' }],
    ['the port is another', { baseUrl: 'https://api.openai.com:8443/v1' }],
    ['there is a user', { baseUrl: 'https://me@api.openai.com/v1' }],
    ['there is a query', { baseUrl: 'https://api.openai.com/v1?beta=1' }],
    ['there is a fragment', { baseUrl: 'https://api.openai.com/v1#x' }],
    ['the host only begins like it', { baseUrl: 'https://api.openai.com.proxy.example/v1' }],
    ['the host only ends like it', { baseUrl: 'https://eu.api.openai.com/v1' }],
    ['the host ends in a dot', { baseUrl: 'https://api.openai.com./v1' }],
    ['it is a local proxy', { baseUrl: 'http://127.0.0.1:7071/v1' }],
  ])('never selects codex by itself when %s', (_, change) => {
    expect(select({ route: { ...PLATFORM, ...change } })).toMatchObject({
      harness: 'openclaw',
      source: 'default',
    });
  });

  it.each(['https://api.openai.com/v1/', 'https://api.openai.com:443/v1', 'HTTPS://API.OpenAI.com/v1'])(
    'takes %s for the same address',
    (baseUrl) => {
      expect(select({ route: { ...PLATFORM, baseUrl } })).toMatchObject({ harness: 'codex' });
    },
  );
});

describe('addresses that are refused', () => {
  it.each([
    'http://api.openai.com/v1',
    'http://API.OPENAI.COM./v1',
    'http://api.openai.com:443/v1',
    'http://chatgpt.com/backend-api',
    'http://user:key@chatgpt.com/other',
  ])('%s would send the key in plain text, whatever is pinned', (baseUrl) => {
    const route = { ...PLATFORM, baseUrl };
    expect(() => select({ route })).toThrow(/must not be called in plain text.*https:\/\//);
    expect(() => select({ route, config: policy('openclaw') })).toThrow(InvalidInputError);
    expect(() => select({ route: { ...route, api: 'openai-completions' } })).toThrow(InvalidInputError);
  });

  it.each(['', 'api.openai.com/v1', 'ftp://host/v1', 'file:///etc/passwd', 'https://'])(
    '%j is none',
    (baseUrl) => {
      expect(() => select({ route: { ...PLATFORM, baseUrl } })).toThrow(/not an http or https address/);
    },
  );
});

describe('a prefix', () => {
  const name = fc.oneof(
    fc.constantFrom(
      'openai',
      'codex',
      'openai-codex',
      'pi',
      'chatgpt',
      'gpt-5-codex',
      'toString',
      '__proto__',
    ),
    fc.stringMatching(/^[a-zA-Z0-9_.-]{1,20}$/),
  );
  const route = fc.record({
    api: fc.constantFrom(
      'openai-responses',
      'openai-chatgpt-responses',
      'openai-completions',
      'anthropic-messages',
    ),
    baseUrl: fc.constantFrom(
      'https://api.openai.com/v1',
      'https://chatgpt.com/backend-api/codex',
      'https://models.example/v1',
      'http://127.0.0.1:7071/v1',
    ),
    authored: fc.subarray(['headers', 'params', 'baseUrl']),
  });
  const harness = fc
    .record({
      id: fc.constantFrom('codex', 'codex-app-server', 'openclaw', 'other'),
      supported: fc.boolean(),
    })
    .map(({ id, supported }): PluginHarness => ({ id, supports: () => supported }));

  it('never changes what is selected', () => {
    fc.assert(
      fc.property(
        route,
        fc.array(harness, { maxLength: 3 }),
        name,
        name,
        name,
        name,
        (r, harnesses, a, b, c, d) => {
          const one = select({ route: r, harnesses, modelRef: `${a}/${b}` });
          const other = select({ route: r, harnesses, modelRef: `${c}/${d}` });
          expect(one).toEqual(other);
        },
      ),
    );
  });

  it('selects codex on the official routes that nobody changed, and on no other', () => {
    fc.assert(
      fc.property(route, name, name, (r, provider, model) => {
        const { harness: selected } = select({ route: r, modelRef: `${provider}/${model}` });
        const official =
          r.authored.length === 0 &&
          ((r.api === 'openai-responses' && r.baseUrl === 'https://api.openai.com/v1') ||
            (r.api === 'openai-chatgpt-responses' && r.baseUrl === 'https://chatgpt.com/backend-api/codex'));
        expect(selected).toBe(official ? 'codex' : 'openclaw');
      }),
    );
  });
});

describe('the effective route', () => {
  const base = { api: 'openai-responses', baseUrl: 'https://api.openai.com/v1' };

  it('is the base where the configuration says nothing', () => {
    expect(effectiveRoute({}, 'openai/m', base)).toEqual({ ...base, authored: [] });
  });

  it('prefers the entry of the model to that of the provider', () => {
    const config = {
      models: {
        providers: {
          openai: {
            api: 'openai-completions',
            baseUrl: 'https://a.example/v1',
            models: [{ id: 'm', api: 'anthropic-messages', baseUrl: 'https://b.example' }],
          },
        },
      },
    };
    expect(effectiveRoute(config, 'openai/m', base)).toMatchObject({
      api: 'anthropic-messages',
      baseUrl: 'https://b.example',
    });
    expect(effectiveRoute(config, 'openai/n', base)).toMatchObject({
      api: 'openai-completions',
      baseUrl: 'https://a.example/v1',
    });
  });

  it.each([
    [{ headers: { 'x-team': 'a' } }, ['headers']],
    [{ params: { temperature: 0 } }, ['params']],
    [{ headers: { a: 'b' }, params: { c: 1 } }, ['headers', 'params']],
    [{ baseUrl: 'https://api.openai.com/v2' }, ['baseUrl']],
    [{ authHeader: true }, ['authHeader']],
    [{ headers: {}, params: null }, []],
    [{ baseUrl: base.baseUrl, name: 'OpenAI' }, []],
  ])('of %j lists %j as authored', (entry, authored) => {
    const ofProvider = { models: { providers: { openai: entry } } };
    const ofModel = { models: { providers: { openai: { models: [{ id: 'm', ...entry }] } } } };
    expect(effectiveRoute(ofProvider, 'openai/m', base).authored).toEqual(authored);
    expect(effectiveRoute(ofModel, 'openai/m', base).authored).toEqual(authored);
  });
});

describe('a description of a route', () => {
  it.each<[ModelRoute, RegExp]>([
    [PLATFORM, /^openai-responses at https:\/\/api\.openai\.com\/v1, the official Platform Responses route$/],
    [CHATGPT, /official ChatGPT Responses route$/],
    [{ ...PLATFORM, authored: ['headers', 'params'] }, /an official route with authored headers, params$/],
    [{ ...PLATFORM, api: 'openai-completions' }, /a completions adapter$/],
    [CUSTOM, /a custom endpoint$/],
  ])('%j', (route, text) => {
    expect(describeRoute(route)).toMatch(text);
  });

  it('keeps secrets of an address to itself', () => {
    const baseUrl = 'https://user:secret@models.example/v1?key=secret#secret';
    expect(classifyRoute({ ...CUSTOM, baseUrl })).toBe('custom-endpoint');
    expect(describeRoute({ ...CUSTOM, baseUrl })).toBe(
      'openai-responses at https://models.example/v1, a custom endpoint',
    );
  });
});
