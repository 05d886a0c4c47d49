import type { CheckerMaterial } from './public-scorer.ts';

const FILE_NAME = /^[\w./-]+\.(json|md|txt|csv|ya?ml|py|html|log|sh)$/;
const IDENTIFIER = /^[a-z][a-z0-9_]{2,40}$/;

/** Files that a scenario seems to ask for: names in its checker or prompt that are not among its inputs. */
export function outputNames(
  material: CheckerMaterial,
  prompt: string,
  inputs: readonly string[],
): readonly string[] {
  const inPrompt = prompt.match(/[\w./-]+\.(?:json|md|txt|csv|ya?ml|py|html)/g) ?? [];
  const known = new Set(inputs.flatMap((path) => [path, path.split('/').at(-1) ?? path]));
  return [...new Set([...inPrompt, ...material.words])]
    .map((name) => name.replace(/^\.\//, ''))
    .filter(
      (name) => FILE_NAME.test(name) && !name.startsWith('/') && !name.includes('..') && !known.has(name),
    )
    .slice(0, 8);
}

/**
 * A document with every key that the checker or the prompt may ask for, each with the expected value whose name is
 * nearest to it. Right by luck in part: that is what makes scores between 0 and 1.
 */
export function guessedDocument(material: CheckerMaterial, prompt: string): Record<string, unknown> {
  const keys = new Set([
    ...material.words.filter((word) => IDENTIFIER.test(word)),
    ...(prompt.match(/[a-z][a-z0-9_]{2,40}/g) ?? []),
  ]);
  const document: Record<string, unknown> = {};
  for (const key of keys) document[key] = nearest(key, material) ?? key;
  for (const { value } of material.expectations) {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) Object.assign(document, value);
  }
  return document;
}

/** Every word of the checker, so that whatever it looks for in a text is found; `keep` leaves some out. */
export function wordsText(material: CheckerMaterial, keep: (index: number) => boolean): string {
  const kept = material.words.filter((_, index) => keep(index));
  const values = material.expectations
    .filter((_, index) => keep(index))
    .map(({ name, value }) => `## ${name}\n${JSON.stringify(value, null, 2)}`);
  return [...kept.map((word) => `- ${word}`), ...values].join('\n');
}

function nearest(key: string, { expectations }: CheckerMaterial): unknown {
  const wanted = new Set(key.split('_'));
  let best: unknown;
  let bestShare = 0.3;
  for (const { name, value } of expectations) {
    const parts = name
      .toLowerCase()
      .split('_')
      .filter((part) => part !== '' && part !== 'expected');
    const shared = parts.filter((part) => wanted.has(part)).length;
    const share = shared / Math.max(1, new Set([...wanted, ...parts]).size);
    if (share > bestShare) {
      best = value;
      bestShare = share;
    }
  }
  return best;
}
