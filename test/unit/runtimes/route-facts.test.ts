import { describe, expect, it } from 'vitest';
import { modelSpecSchema, runtimeSpecSchema } from '../../../src/api/benchmark-run.ts';
import { routeFacts } from '../../../src/runtimes/route-facts.ts';

const MODEL = modelSpecSchema.parse({
  id: 'm-1',
  api: 'openai-responses',
  baseURL: 'https://key@api.openai.com/v1',
});
const runtime = (id: string, config: Record<string, unknown> = {}) => runtimeSpecSchema.parse({ id, config });

describe('provenance of runtime and route', () => {
  it('says that the gateway is a custom endpoint, so that the built-in runtime stays', () => {
    const facts = routeFacts(runtime('pi'), MODEL, [{ id: 'codex', supports: () => true }]);
    expect(facts.runtimeSelection).toMatch(
      /^openclaw \(default\): no registered plugin harness .*custom endpoint$/,
    );
    expect(facts.modelRoute).toMatch(
      /^openai-responses at http:\/\/127\.0\.0\.1:7071\/v1, a custom endpoint: this run's gateway, which forwards to https:\/\/api\.openai\.com\/v1$/,
    );
  });

  it('says when the configuration pins the harness', () => {
    const config = { models: { providers: { bench: { agentRuntime: { id: 'openclaw' } } } } };
    expect(routeFacts(runtime('openclaw', config), MODEL).runtimeSelection).toBe(
      "openclaw (provider): the provider's entry sets agentRuntime.id",
    );
  });

  it('says when the configuration leads past the gateway', () => {
    const config = { models: { providers: { bench: { baseUrl: 'https://else.example/v1' } } } };
    const { modelRoute } = routeFacts(runtime('openclaw', config), MODEL);
    expect(modelRoute).toContain('https://else.example/v1');
    expect(modelRoute).toContain("not this run's gateway");
  });

  it('tells of other runtimes that they select nothing, and of the scripted one that it asks no model', () => {
    expect(routeFacts(runtime('nanobot'), MODEL).runtimeSelection).toMatch(
      /^nanobot, named by spec\.runtime\.id/,
    );
    expect(routeFacts(runtime('scripted'), undefined)).toEqual({
      runtimeSelection: 'scripted, named by spec.runtime.id; it asks no model',
      modelRoute: 'none: no model is asked',
    });
  });

  it('refuses an upstream that would be called in plain text', () => {
    const model = { ...MODEL, baseURL: 'http://api.openai.com/v1' };
    expect(() => routeFacts(runtime('nanobot'), model)).toThrow(/spec\.model\.baseURL: .*plain text/);
  });
});
