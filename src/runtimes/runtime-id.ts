import { InvalidInputError } from '../api/errors.ts';
import { RUNTIME_IDS, type RuntimeId } from '../api/vocabulary.ts';
import { nearest } from '../files/suggest.ts';

/** Other names of runtimes: legacy ids of the runtime specification, and what people write. */
const ALIASES: Readonly<Record<string, string>> = {
  pi: 'openclaw',
  'codex-app-server': 'codex',
  'open-claw': 'openclaw',
  edict: 'openclaw-edict',
  'nanobot-ai': 'nanobot',
  'nano-bot': 'nanobot',
  'iron-claw': 'ironclaw',
  'nano-claw': 'nanoclaw',
};

/**
 * The id that an alias stands for; any other word is returned in lower case, with `-` for `_` and blanks.
 * Knows nothing of which runtimes exist: runtime selection uses it for plugin harnesses too.
 */
export function normalizeRuntimeId(id: string): string {
  const spelt = id
    .trim()
    .toLowerCase()
    .replace(/[_\s]+/g, '-');
  return Object.hasOwn(ALIASES, spelt) ? (ALIASES[spelt] ?? spelt) : spelt;
}

/**
 * The runtime that `spec.runtime.id` names, aliases resolved.
 *
 * @throws InvalidInputError for `codex`, which is known but cannot be benchmarked by itself, and for an unknown id
 */
export function resolveRuntimeId(id: string): RuntimeId {
  const normalized = normalizeRuntimeId(id);
  const known = RUNTIME_IDS.find((candidate) => candidate === normalized);
  if (known !== undefined) return known;
  if (normalized === 'codex') {
    const named = id === 'codex' ? 'codex' : `${id} (codex)`;
    throw new InvalidInputError({
      field: 'spec.runtime.id',
      message: `runtime ${named} is a plugin harness inside OpenClaw and has no adapter of its own`,
      remedy: `Choose one of ${RUNTIME_IDS.join(', ')}.`,
    });
  }
  const suggestion = nearest(normalized, [...RUNTIME_IDS, ...Object.keys(ALIASES)]);
  throw new InvalidInputError({
    field: 'spec.runtime.id',
    message: `there is no runtime ${JSON.stringify(id)}`,
    remedy:
      suggestion === undefined
        ? `Choose one of ${RUNTIME_IDS.join(', ')}.`
        : `Did you mean ${normalizeRuntimeId(suggestion)}? The runtimes are ${RUNTIME_IDS.join(', ')}.`,
  });
}
