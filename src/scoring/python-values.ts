/**
 * How a value of a trace reads as text, and when two values are equal, in the terms of Python: the text matches
 * of the paper's checks are defined on these renderings, and a space after a colon decides whether a pattern is
 * found. Values are those that JSON can express.
 *
 * One thing cannot be kept: JSON parsed by JavaScript no longer knows 1.0 from 1, and such a number prints as `1`.
 */

/** The text in which patterns are looked for: containers as JSON, everything else as `str()`. */
export function searchableText(value: unknown): string {
  return lowerCase(isContainer(value) ? jsonDump(value) : pythonStr(value));
}

/** A pattern or a prefix as it is compared: `str()` of it, in lower case. */
export function lowerCase(text: string): string {
  return text.toLowerCase();
}

/** Python's `str(value)`. */
export function pythonStr(value: unknown): string {
  return typeof value === 'string' ? value : pythonRepr(value);
}

/** Python's `json.dumps(value, ensure_ascii=False)`: a space after each comma and colon. */
export function jsonDump(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jsonDump).join(', ')}]`;
  if (isMapping(value)) {
    const entries = Object.entries(value).map(([key, item]) => `${jsonString(key)}: ${jsonDump(item)}`);
    return `{${entries.join(', ')}}`;
  }
  if (typeof value === 'string') return jsonString(value);
  if (typeof value === 'number') return pythonNumber(value);
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  return 'null';
}

/**
 * Python's `==` over JSON values: containers by content, numbers by value, and `true` equals 1 as it does there.
 */
export function pythonEquals(left: unknown, right: unknown): boolean {
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => pythonEquals(item, right[index]));
  }
  if (isMapping(left) && isMapping(right)) {
    const keys = Object.keys(left);
    return (
      keys.length === Object.keys(right).length &&
      keys.every((key) => Object.hasOwn(right, key) && pythonEquals(left[key], right[key]))
    );
  }
  return asNumber(left) === asNumber(right);
}

/** Python's `len(text)`: code points, not UTF-16 units. */
export function codePointLength(text: string): number {
  return Array.from(text).length;
}

/** True for what Python calls a dict. */
export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The value at a dotted path; an all-digit part indexes a list. Returns `fallback` where the path leads nowhere,
 * and the whole value for an empty path.
 */
export function valueAt(value: unknown, path: string, fallback: unknown = null): unknown {
  if (path === '') return value;
  let current = value;
  for (const part of path.split('.')) {
    if (Array.isArray(current) && /^[0-9]+$/.test(part) && Number(part) < current.length) {
      current = current[Number(part)];
    } else if (isMapping(current) && Object.hasOwn(current, part)) {
      current = current[part];
    } else {
      return fallback;
    }
  }
  return current;
}

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function asNumber(value: unknown): unknown {
  return typeof value === 'boolean' ? Number(value) : (value ?? null);
}

/** Python's `repr(value)`. */
function pythonRepr(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonRepr).join(', ')}]`;
  if (isMapping(value)) {
    const entries = Object.entries(value).map(([key, item]) => `${reprString(key)}: ${pythonRepr(item)}`);
    return `{${entries.join(', ')}}`;
  }
  if (typeof value === 'string') return reprString(value);
  if (typeof value === 'number') return pythonNumber(value);
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return 'None';
}

/**
 * Digits of a number as Python prints them: whole numbers as integers, others with an exponent below 1e-4 or
 * from 1e16 on, where JavaScript changes over at 1e-7 and 1e21.
 */
function pythonNumber(value: number): string {
  if (Number.isInteger(value)) return Object.is(value, -0) ? '0' : BigInt(value).toString();
  const [digits = '', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  // A number with a fraction is below 2^53, so only the lower bound can be passed.
  if (exponent >= -4) return value.toString();
  return `${digits}e-${String(-exponent).padStart(2, '0')}`;
}

/** JSON.stringify escapes lone surrogates; Python leaves them as they are. */
function jsonString(text: string): string {
  if (text.isWellFormed()) return JSON.stringify(text);
  const escaped = text.replace(/[\u0000-\u001f"\\]/g, (character) => JSON.stringify(character).slice(1, -1));
  return `"${escaped}"`;
}

const REPR_ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** Python's `repr` of a string: single quotes unless only those occur in it, unprintable characters escaped. */
function reprString(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  let result = quote;
  for (const character of text) {
    if (character === quote) result += `\\${quote}`;
    else result += REPR_ESCAPES[character] ?? (isPrintable(character) ? character : reprEscape(character));
  }
  return result + quote;
}

function isPrintable(character: string): boolean {
  return character === ' ' || !/^[\p{C}\p{Z}]$/u.test(character);
}

function reprEscape(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}
