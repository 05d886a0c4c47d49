import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../../src/api/errors.ts';
import { decodeUtf8, MAXIMUM_YAML_BYTES, parseYaml } from '../../../src/files/yaml.ts';

const valueOf = (text: string) => parseYaml(text, 'a.yaml').value;
const problemOf = (action: () => unknown) => {
  try {
    action();
  } catch (error) {
    if (error instanceof InvalidInputError) return error.problems[0];
    throw error;
  }
  throw new Error('nothing was refused');
};

describe('parseYaml', () => {
  it('reads plain scalars as PyYAML does', () => {
    // Each expectation was taken from yaml.safe_load of PyYAML 6.
    const cases: [string, unknown][] = [
      ['yes', true],
      ['Off', false],
      ['y', 'y'],
      ['n', 'n'],
      ['~', null],
      ['', null],
      ['nUll', 'nUll'],
      ['12', 12],
      ['-1_000', -1000],
      ['0755', 493],
      ['0o17', '0o17'],
      ['0x1F', 31],
      ['0b101', 5],
      ['08', '08'],
      ['10:30', 630],
      ['09:30', '09:30'],
      ['1:30.5', 90.5],
      ['1e3', '1e3'],
      ['1.5e+3', 1500],
      ['1.5e3', '1.5e3'],
      ['1.', 1],
      ['.5', 0.5],
      ['-.5', '-.5'],
      ['-.inf', Number.NEGATIVE_INFINITY],
      ['.nan', Number.NaN],
      ['"yes"', 'yes'],
      ["'012'", '012'],
    ];
    for (const [text, expected] of cases)
      expect([text, valueOf(`a: ${text}`)]).toEqual([text, { a: expected }]);
  });

  it('turns timestamps into ISO text', () => {
    expect(
      valueOf('[2026-04-30, 2026-4-3 1:02:03, 2026-04-30T10:00:00.50Z, 2026-04-30 10:00:00 -5, 2026-4-3]'),
    ).toEqual([
      '2026-04-30',
      '2026-04-03T01:02:03',
      '2026-04-30T10:00:00.50Z',
      '2026-04-30T10:00:00-05:00',
      '2026-4-3',
    ]);
  });

  it('merges mappings, own keys first, earlier sources before later ones', () => {
    const text = 'a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc: {<<: [*a, *b], x: 3}\nd: {"<<": 1}';
    expect(valueOf(text)).toMatchObject({ c: { x: 3, y: 1, z: 2 }, d: { '<<': 1 } });
  });

  it('names the line of keys, items, merged keys and, for what is missing, of the parent', () => {
    const { lineOf } = parseYaml('a: &a\n  x: 1\nb:\n  - 1\n  - <<: *a\n    z: 3\n', 'a.yaml');
    expect(
      [['a'], ['a', 'x'], ['b', 1], ['b', 1, 'z'], ['b', 1, 'x'], ['b', 1, 'nothing'], ['c']].map(lineOf),
    ).toEqual([1, 2, 5, 6, 2, 5, 1]);
  });

  it('keeps a key such as __proto__ an ordinary one', () => {
    const value = valueOf('{__proto__: {polluted: true}}') as object;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it('refuses a key that stands twice, with the line of the second', () => {
    expect(problemOf(() => parseYaml('a: 1\nb: 2\na: 3\n', 'a.yaml'))).toMatchObject({
      file: 'a.yaml',
      line: 3,
    });
  });

  it('refuses a syntax error with its line', () => {
    expect(problemOf(() => parseYaml('a: 1\nb: [1, 2\nc: 3\n', 'a.yaml'))).toMatchObject({
      file: 'a.yaml',
      line: 3,
    });
  });

  it('refuses a second document', () => {
    expect(problemOf(() => parseYaml('a: 1\n---\nb: 2\n', 'a.yaml'))).toMatchObject({ line: 2 });
  });

  it.each([
    ['an unknown tag', 'a: !!python/object:os.system x'],
    ['binary data', 'a: !!binary aGk='],
    ['an alias without anchor', 'a: *b'],
    ['an alias that contains itself', 'a: &a [*a]'],
    ['a mapping as a key', '{a: 1}: 2'],
    ['a merge of something else', '<<: 1'],
    ['a number that cannot be kept', 'a: 90071992547409930'],
  ])('refuses %s', (_name, text) => {
    expect(problemOf(() => parseYaml(text, 'a.yaml'))).toMatchObject({ file: 'a.yaml', line: 1 });
  });

  it('refuses an alias bomb, also one made of merges, without unfolding it', () => {
    const nine = (name: string) => `[${Array(9).fill(`*${name}`).join(', ')}]`;
    const lines = ['a0: &a0 [lol, lol, lol]'];
    for (let level = 1; level < 20; level += 1) lines.push(`a${level}: &a${level} ${nine(`a${level - 1}`)}`);
    const merges = ['m0: &m0 {k: lol}'];
    for (let level = 1; level < 40; level += 1)
      merges.push(`m${level}: &m${level} {<<: ${nine(`m${level - 1}`)}}`);
    const started = performance.now();
    for (const text of [lines.join('\n'), merges.join('\n')]) {
      expect(problemOf(() => parseYaml(text, 'a.yaml'))?.message).toContain('aliases');
    }
    expect(performance.now() - started).toBeLessThan(2000);
  });

  it('refuses deep nesting instead of overflowing the stack', () => {
    for (const text of [
      '['.repeat(100_000),
      `${'{a: '.repeat(5000)}1${'}'.repeat(5000)}`,
      `a: ${'- '.repeat(5000)}1`,
    ]) {
      expect(problemOf(() => parseYaml(text, 'a.yaml'))?.line).toBe(1);
    }
  });

  it('refuses more than 4 MiB before parsing', () => {
    const started = performance.now();
    const problem = problemOf(() => parseYaml('a: 1\n'.repeat(MAXIMUM_YAML_BYTES), 'a.yaml'));
    expect(problem?.message).toBe('is 20.0 MiB, more than the 4.0 MiB that a YAML file may have');
    expect(performance.now() - started).toBeLessThan(500);
  });

  it('reads an empty document as null', () => {
    expect([valueOf(''), valueOf('# only a comment\n')]).toEqual([null, null]);
  });

  it('names the first byte that is not UTF-8 and tolerates a byte order mark', () => {
    const bytes = Buffer.concat([Buffer.from('a: 1\nb: ä'), Buffer.from([0xff]), Buffer.from('\n')]);
    expect(problemOf(() => decodeUtf8(bytes, 'a.yaml'))).toMatchObject({
      line: 2,
      message: 'is not UTF-8: byte 10 is 0xff',
    });
    expect(valueOf(decodeUtf8(Buffer.from('\uFEFFa: 1'), 'a.yaml'))).toEqual({ a: 1 });
  });
});
