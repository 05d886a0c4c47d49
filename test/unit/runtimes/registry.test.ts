import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../../src/api/errors.ts';
import { RUNTIME_IDS } from '../../../src/api/vocabulary.ts';
import { adapterFor, resolveRuntimeId } from '../../../src/runtimes/registry.ts';
import { normalizeRuntimeId } from '../../../src/runtimes/runtime-id.ts';

describe('runtime ids', () => {
  it.each([
    ['pi', 'openclaw'],
    ['Pi', 'openclaw'],
    ['openclaw_edict', 'openclaw-edict'],
    ['OpenClaw Edict', 'openclaw-edict'],
    ['edict', 'openclaw-edict'],
    ['NanoBot', 'nanobot'],
    ['nanobot-ai', 'nanobot'],
    ['iron-claw', 'ironclaw'],
    [' scripted ', 'scripted'],
  ])('%j means %s', (id, expected) => {
    expect(resolveRuntimeId(id)).toBe(expected);
  });

  it('resolves every id of the vocabulary to itself', () => {
    expect(RUNTIME_IDS.map(resolveRuntimeId)).toEqual([...RUNTIME_IDS]);
  });

  it.each(['codex', 'codex-app-server'])('resolves %s and refuses it, because it has no adapter', (id) => {
    expect(normalizeRuntimeId(id)).toBe('codex');
    expect(() => resolveRuntimeId(id)).toThrow(/codex.* has no adapter of its own/);
  });

  it.each([
    ['openclw', /there is no runtime "openclw".*Did you mean openclaw\?/],
    ['scriptd', /Did you mean scripted\?/],
    ['nannobot', /Did you mean nanobot\?/],
    ['chatgpt', /Choose one of openclaw, /],
    ['', /Choose one of/],
    ['constructor', /Choose one of/],
    ['__proto__', /there is no runtime "__proto__"/],
  ])('refuses %j and says what there is', (id, message) => {
    expect(() => resolveRuntimeId(id)).toThrow(InvalidInputError);
    expect(() => resolveRuntimeId(id)).toThrow(message);
  });
});

describe('adapters', () => {
  it('has the scripted one', () => {
    expect(adapterFor('scripted').id).toBe('scripted');
  });

  it.each(RUNTIME_IDS.filter((id) => id !== 'scripted'))('says that there is none for %s yet', (id) => {
    expect(() => adapterFor(id)).toThrow(new RegExp(`no adapter for runtime ${id} yet. Use scripted`));
  });
});
