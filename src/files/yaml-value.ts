import {
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  Scalar,
  type Alias,
  type LineCounter,
  type Node,
  type ParsedNode,
  type YAMLMap,
} from 'yaml';

/** Nested deeper than any file of ours; bounds every recursion over a document. */
export const MAXIMUM_DEPTH = 64;

/** Characters plus nodes that a document may unfold to when every alias is written out. */
export const MAXIMUM_EXPANDED_SIZE = 16 * 1024 * 1024;

/** A finding of the reader: what is wrong at which offset. */
export class YamlValueError extends Error {
  override readonly name = 'YamlValueError';
  readonly offset: number;
  readonly remedy: string | undefined;

  constructor(message: string, offset: number, remedy?: string) {
    super(message);
    this.offset = offset;
    this.remedy = remedy;
  }
}

interface Built {
  readonly value: unknown;
  /** Size when written out, see MAXIMUM_EXPANDED_SIZE. */
  readonly size: number;
}

type Place = readonly (string | number)[];

/**
 * Turns a composed document into plain values. It does itself what the package's `toJS` does, because that
 * compares every key of a mapping with every other, and does not bound merges (`<<`).
 */
export class YamlValueBuilder {
  readonly #anchors = new Map<string, Node>();
  readonly #built = new Map<Node, Built>();
  readonly #open = new Set<Node>();

  build(root: ParsedNode | null): unknown {
    return root === null ? null : this.#node(root, 0).value;
  }

  /** The node that an alias stands for; undefined for an unknown one. */
  targetOf(alias: Alias): Node | undefined {
    return this.#anchors.get(alias.source);
  }

  #node(node: Node, depth: number): Built {
    if (depth > MAXIMUM_DEPTH) throw tooDeep(node);
    if (isAlias(node)) return this.#alias(node);
    if ('anchor' in node && typeof node.anchor === 'string') this.#anchors.set(node.anchor, node);
    this.#open.add(node);
    const built = this.#plain(node, depth);
    this.#open.delete(node);
    if (built.size > MAXIMUM_EXPANDED_SIZE) {
      throw new YamlValueError(
        'unfolds to more than 16 MiB when its aliases are written out',
        offsetOf(node),
        'Use fewer aliases (*name) or write the values out.',
      );
    }
    this.#built.set(node, built);
    return built;
  }

  #alias(alias: Alias): Built {
    const target = this.#anchors.get(alias.source);
    if (target === undefined) {
      throw new YamlValueError(`the alias *${alias.source} has no anchor before it`, offsetOf(alias));
    }
    const built = this.#built.get(target);
    if (built === undefined || this.#open.has(target)) {
      throw new YamlValueError(`the alias *${alias.source} contains itself`, offsetOf(alias));
    }
    return built;
  }

  #plain(node: Node, depth: number): Built {
    if (isScalar(node)) {
      const { value } = node;
      return { value, size: 1 + (typeof value === 'string' ? value.length : 0) };
    }
    if (isSeq(node)) {
      const items: unknown[] = [];
      let size = 1;
      for (const item of node.items) {
        const built = this.#item(item, depth);
        items.push(built.value);
        size += built.size;
      }
      return { value: items, size };
    }
    if (isMap(node)) return this.#map(node, depth);
    throw new YamlValueError('is of a kind that is not supported', offsetOf(node));
  }

  #item(item: unknown, depth: number): Built {
    if (item === null || item === undefined) return { value: null, size: 1 };
    return this.#node(item as Node, depth + 1);
  }

  #map(node: YAMLMap, depth: number): Built {
    const own = new Map<string, unknown>();
    const merged = new Map<string, unknown>();
    let size = 1;
    for (const pair of node.items) {
      const key = keyText(pair.key, node);
      const built = this.#item(pair.value, depth);
      size += built.size + key.length;
      if (isMergeKey(pair.key)) {
        mergeInto(merged, built.value, offsetOf(pair.key as Node));
      } else if (own.has(key)) {
        throw new YamlValueError(
          `the key "${key}" stands twice in one mapping`,
          keyOffset(pair.key, node),
          'Remove one.',
        );
      } else {
        own.set(key, built.value);
      }
    }
    for (const [key, value] of own) {
      merged.delete(key);
      merged.set(key, value);
    }
    // defineProperty keeps a key such as __proto__ an ordinary one.
    const object: Record<string, unknown> = {};
    for (const [key, value] of merged) {
      Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
    }
    return { value: object, size };
  }
}

/**
 * 1-based line of the thing at `path`: of the key of a mapping's entry, of the item in a list. Where the path
 * leads into nothing (a missing field), the line of the deepest part that exists.
 */
export function lineOfPath(
  root: ParsedNode | null,
  path: Place,
  lines: LineCounter,
  targetOf: (alias: Alias) => Node | undefined,
): number {
  let node: Node | null | undefined = root;
  let offset = root === null ? 0 : offsetOf(root);
  for (const part of path) {
    if (isAlias(node)) node = targetOf(node);
    if (isSeq(node)) {
      const item: unknown = typeof part === 'number' ? node.items[part] : undefined;
      if (item === undefined || item === null) break;
      node = item as Node;
      offset = offsetOf(node);
    } else if (isMap(node)) {
      const entry = entryOf(node, String(part), targetOf);
      if (entry === undefined) break;
      offset = entry.offset;
      node = entry.value;
    } else break;
  }
  return lines.linePos(offset).line;
}

function entryOf(
  map: YAMLMap,
  key: string,
  targetOf: (alias: Alias) => Node | undefined,
  depth = 0,
): { offset: number; value: Node | null } | undefined {
  if (depth > MAXIMUM_DEPTH) return undefined;
  for (const pair of map.items) {
    if (!isMergeKey(pair.key) && keyText(pair.key, map) === key) {
      return { offset: keyOffset(pair.key, map), value: pair.value as Node | null };
    }
  }
  for (const pair of map.items) {
    if (!isMergeKey(pair.key)) continue;
    const value = isAlias(pair.value) ? targetOf(pair.value) : pair.value;
    const sources = isSeq(value) ? value.items : [value];
    for (const source of sources) {
      const resolved = isAlias(source) ? targetOf(source) : source;
      const found = isMap(resolved) ? entryOf(resolved, key, targetOf, depth + 1) : undefined;
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** Only a plain `<<` merges; a quoted one is an ordinary key, as in PyYAML. */
function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.type === Scalar.PLAIN && key.source === '<<' && key.value === '<<';
}

function keyText(key: unknown, map: YAMLMap): string {
  if (key === null || key === undefined) return 'null';
  if (!isScalar(key)) {
    throw new YamlValueError('a key must be plain text', isPair(key) ? offsetOf(map) : keyOffset(key, map));
  }
  return String(key.value);
}

function mergeInto(target: Map<string, unknown>, source: unknown, offset: number): void {
  for (const part of Array.isArray(source) ? (source as unknown[]) : [source]) {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) {
      throw new YamlValueError('<< takes a mapping or a list of mappings', offset);
    }
    for (const [key, value] of Object.entries(part)) if (!target.has(key)) target.set(key, value);
  }
}

function keyOffset(key: unknown, map: YAMLMap): number {
  return isScalar(key) || isMap(key) || isSeq(key) || isAlias(key) ? offsetOf(key) : offsetOf(map);
}

function offsetOf(node: Node): number {
  return node.range?.[0] ?? 0;
}

function tooDeep(node: Node): YamlValueError {
  return new YamlValueError(`is nested deeper than ${MAXIMUM_DEPTH} levels`, offsetOf(node), 'Flatten it.');
}
