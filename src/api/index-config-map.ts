import { indexPartSchema, type IndexPart } from './container-requests.ts';
import { runChildName } from './names.ts';
import { runChildMetadata, type RunIdentity } from './run-children.ts';
import type { SuiteIndex } from './suite-index.ts';

/** The key of an index ConfigMap. */
export const INDEX_KEY = 'index.json';

/** Bytes of JSON in one part; the API server refuses a ConfigMap of more than 1 MiB in all. */
const PART_BYTES = 700 * 1024;

export type IndexedScenario = IndexPart['scenarios'][number];

interface ConfigMapData {
  readonly metadata?: { readonly name?: string };
  readonly data?: Readonly<Record<string, string>>;
}

/**
 * ConfigMaps `<run>-index-<k>` of a frozen suite: what a controller needs to plan trials, without names and
 * answers, in as many parts as it takes.
 */
export function indexConfigMaps(run: RunIdentity, index: SuiteIndex, partBytes = PART_BYTES) {
  const parts = split(index.scenarios.map(indexed), partBytes);
  return parts.map((scenarios, part) => {
    const content: IndexPart = { part, parts: parts.length, suiteDigest: index.suiteDigest, scenarios };
    return {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: runChildMetadata(run, runChildName(run.name, `index-${part}`)),
      // A suite is frozen once: another index under the same name would be another suite.
      immutable: true,
      data: { [INDEX_KEY]: JSON.stringify(content) },
    };
  });
}

export type IndexReading =
  | {
      readonly state: 'complete';
      readonly suiteDigest: string;
      readonly scenarios: readonly IndexedScenario[];
    }
  /** Parts are still being written. */
  | { readonly state: 'incomplete'; readonly missing: readonly number[] }
  /** What is there cannot be an index: somebody else wrote it, or two preparations did. */
  | { readonly state: 'invalid'; readonly message: string };

/** Puts the parts of an index together, in whatever order they come. */
export function readIndex(configMaps: readonly ConfigMapData[]): IndexReading {
  const parts = new Map<number, IndexPart>();
  for (const { metadata, data } of configMaps) {
    const part = parsePart(data?.[INDEX_KEY]);
    if (typeof part === 'string') {
      return { state: 'invalid', message: `ConfigMap ${metadata?.name ?? ''}, key ${INDEX_KEY}: ${part}` };
    }
    if (parts.has(part.part)) return { state: 'invalid', message: `part ${part.part} is there twice` };
    parts.set(part.part, part);
  }
  const [first] = parts.values();
  if (first === undefined) return { state: 'incomplete', missing: [0] };
  for (const { part, parts: total, suiteDigest } of parts.values()) {
    if (total !== first.parts || suiteDigest !== first.suiteDigest || part >= total) {
      return { state: 'invalid', message: `part ${part} is of another index than part ${first.part}` };
    }
  }
  const numbers = Array.from({ length: first.parts }, (_, number) => number);
  const missing = numbers.filter((number) => !parts.has(number));
  if (missing.length > 0) return { state: 'incomplete', missing };
  return {
    state: 'complete',
    suiteDigest: first.suiteDigest,
    scenarios: numbers.flatMap((number) => parts.get(number)?.scenarios ?? []),
  };
}

function indexed(entry: SuiteIndex['scenarios'][number]): IndexedScenario {
  const { id, dimension, weight, turn, total, digest, surfaces, supervised } = entry;
  return { id, dimension, weight, turn, total, digest, surfaces, supervised };
}

/** At least one part, also of an empty suite. */
function split(scenarios: readonly IndexedScenario[], partBytes: number): IndexedScenario[][] {
  const parts: IndexedScenario[][] = [[]];
  let bytes = 0;
  for (const scenario of scenarios) {
    const size = Buffer.byteLength(JSON.stringify(scenario)) + 1;
    const last = parts.at(-1) ?? [];
    if (last.length > 0 && bytes + size > partBytes) {
      parts.push([scenario]);
      bytes = size;
    } else {
      last.push(scenario);
      bytes += size;
    }
  }
  return parts;
}

function parsePart(text: string | undefined): IndexPart | string {
  if (text === undefined) return 'is missing';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'is not JSON';
  }
  const parsed = indexPartSchema.safeParse(value);
  return parsed.success ? parsed.data : parsed.error.issues.map((issue) => issue.message).join('; ');
}
