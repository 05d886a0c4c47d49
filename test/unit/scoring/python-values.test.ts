import { execFileSync, spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  codePointLength,
  jsonDump,
  lowerCase,
  pythonEquals,
  pythonStr,
  searchableText,
  valueAt,
} from '../../../src/scoring/python-values.ts';

const python = spawnSync('python3', ['--version']).status === 0;

/** Runs a Python expression over `cases`, a list of JSON values. */
function inPython<Result>(expression: string, cases: readonly unknown[]): Result[] {
  const program = `import json,sys\nprint(json.dumps([${expression} for case in json.load(sys.stdin)]))`;
  return JSON.parse(
    execFileSync('python3', ['-c', program], { input: JSON.stringify(cases), encoding: 'utf8' }),
  ) as Result[];
}

/** JSON values whose numbers read the same in both languages: Python alone tells 1.0 from 1. */
const { value: json } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>(
      null,
      true,
      false,
      0,
      -7,
      12345678901,
      0.5,
      1e-7,
      0.00015,
      0.000015,
      123456.75,
      -2.5e-10,
    ),
    fc
      .double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 })
      .filter((x) => !Number.isInteger(x)),
    fc.string({ unit: 'binary-ascii' }),
    // Long assigned characters only: what is printable depends on the Unicode version of each language.
    fc.string({ unit: fc.constantFrom(...'aZ\'"\\ éÉßİıΣσςЖжאبक日ﬁ😀\u00a0\u2028\u200d\ufeff\ue000') }),
    fc.constantFrom(
      "it's",
      'say "hi"',
      `both ' and "`,
      'a\\b',
      'tab\tline\n',
      '\u0000\u001f\u007f\u00a0\u200b',
      '😀 日本語',
      'İSTANBUL ΟΔΟΣ Straße',
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'Key', "it's", 'ü'), tie('value'), { maxKeys: 4 }),
  ),
}));

describe('values as Python prints them', () => {
  it.each([
    [null, 'none'],
    [true, 'true'],
    [0.000015, '1.5e-05'],
    [0.00015, '0.00015'],
    [1e-7, '1e-07'],
    [12.5, '12.5'],
    ['Text', 'text'],
    [[1, 'A', null], '[1, "a", null]'],
    [{ a: { b: [true, 0.5] } }, '{"a": {"b": [true, 0.5]}}'],
    [{ text: 'line\nfeed "quoted" ü' }, '{"text": "line\\nfeed \\"quoted\\" ü"}'],
  ])('%j is searched as %s', (value, text) => {
    expect(searchableText(value)).toBe(text);
  });

  it.each([
    [['a', "it's", 1, null, true], `['a', "it's", 1, None, True]`],
    [{ k: 'v\n\u00a0' }, "{'k': 'v\\n\\xa0'}"],
    [`both ' and "`, `both ' and "`],
    [[`both ' and "`], `['both \\' and "']`],
    [['\u200b😀\ue000'], "['\\u200b😀\\ue000']"],
  ])('str() of %j is %s', (value, text) => {
    expect(pythonStr(value)).toBe(text);
  });

  it('keeps a lone surrogate, which JSON.stringify would escape', () => {
    expect(jsonDump(['\ud800"\n'])).toBe('["\ud800\\"\\n"]');
  });

  it('counts code points', () => {
    expect(codePointLength('a😀é')).toBe(3);
  });

  it.skipIf(!python)('agrees with python3 on random values (needs python3)', () => {
    const cases = fc.sample(json, 1500);
    const dumped = inPython<string>('json.dumps(case, ensure_ascii=False)', cases);
    const printed = inPython<string>('str(case)', cases);
    const lowered = inPython<string>('str(case).lower()', cases);
    cases.forEach((value, index) => {
      expect(jsonDump(value)).toBe(dumped[index]);
      expect(pythonStr(value)).toBe(printed[index]);
      expect(lowerCase(pythonStr(value))).toBe(lowered[index]);
    });
  });

  it.skipIf(!python)('agrees with python3 on equality (needs python3)', () => {
    const pair = fc.oneof(
      fc.tuple(json, json),
      fc.constantFrom<[unknown, unknown]>(
        [1, true],
        [0, false],
        [[1], [true]],
        [null, 0],
        ['1', 1],
        [{ a: 1 }, { a: true }],
      ),
      json.map((value): [unknown, unknown] => [value, structuredClone(value)]),
    );
    const cases = fc.sample(pair, 800);
    const expected = inPython<boolean>('case[0] == case[1]', cases);
    cases.forEach(([left, right], index) => {
      expect([left, right, pythonEquals(left, right)]).toEqual([left, right, expected[index]]);
    });
  });
});

describe('valueAt', () => {
  const value = { a: { b: [{ c: 1 }, 2] }, 'x.y': 3, '': 4 };

  it.each([
    ['', value],
    ['a.b.0.c', 1],
    ['a.b.1', 2],
    ['a.b.2', null],
    ['a.b.-1', null],
    ['a.b.c', null],
    ['x.y', null],
    ['toString', null],
    ['a.b.0.c.d', null],
  ])('at %j', (path, expected) => {
    expect(valueAt(value, path)).toEqual(expected);
  });
});
