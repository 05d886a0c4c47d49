import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resolveResources } from '../../../src/runtimes/resource-package.ts';

const FILES = [
  'README.md',
  'extensions/index.ts',
  'extensions/notes.md',
  'extensions/web/helper.ts',
  'extensions/web/index.ts',
  'prompts/review.md',
  'skills/apt/SKILL.md',
  'skills/apt/extra.md',
  'skills/search.md',
  'themes/dark.json',
];

describe('resources of a package', () => {
  it('are found in the conventional folders where no manifest lists them', () => {
    const { resources, problems } = resolveResources({}, FILES);
    expect(problems).toEqual([]);
    expect(resources).toEqual({
      extensions: { source: 'convention', files: ['extensions/index.ts', 'extensions/web/index.ts'] },
      skills: { source: 'convention', files: ['skills/apt/SKILL.md', 'skills/search.md'] },
      prompts: { source: 'convention', files: ['prompts/review.md'] },
      themes: { source: 'convention', files: ['themes/dark.json'] },
    });
  });

  it('are what the manifest lists, type by type; an empty list means none', () => {
    const { resources } = resolveResources(
      { skills: ['skills/*.md', './skills/apt/extra.md', 'skills/search.md'], themes: [] },
      FILES,
    );
    expect(resources.skills).toEqual({
      source: 'manifest',
      files: ['skills/apt/extra.md', 'skills/search.md'],
    });
    expect(resources.themes).toEqual({ source: 'manifest', files: [] });
    expect(resources.prompts.source).toBe('convention');
  });

  it.each([
    [
      ['**/*.md'],
      [
        'README.md',
        'extensions/notes.md',
        'prompts/review.md',
        'skills/apt/SKILL.md',
        'skills/apt/extra.md',
        'skills/search.md',
      ],
    ],
    [['skills/{search,none}.md'], ['skills/search.md']],
    [['skills/?earch.md'], ['skills/search.md']],
    [['nothing/*.md'], []],
    [['*'], ['README.md']],
  ])('globs: %j', (skills, files) => {
    expect(resolveResources({ skills }, FILES).resources.skills.files).toEqual(files);
  });

  it.each([
    ['../secret.md', /leads out of the package/],
    ['skills/../../secret.md', /leads out of the package/],
    ['{..,skills}/*.md', /leads out of the package/],
    ['skills/..', /leads out of the package/],
    ['/etc/passwd', /is an absolute path/],
    ['C:\\skills\\a.md', /is an absolute path/],
    ['skills/a\0.md', /NUL/],
    ['{a,b}'.repeat(40), /too complicated/],
    ['*a'.repeat(40), /too complicated/],
    ['skills', /is a folder/],
    ['skills/', /is a folder/],
    ['skills/missing.md', /names no file/],
    ['.', /names no file/],
  ])('refuse the entry %j with its place', (entry, message) => {
    const { problems } = resolveResources({ prompts: ['prompts/review.md', entry] }, FILES);
    expect(problems).toMatchObject([
      { field: 'openclaw.prompts[1]', message: expect.stringMatching(message) as string },
    ]);
  });

  it('tell every wrong entry at once', () => {
    const { problems } = resolveResources({ skills: ['../a', '/b'], themes: ['c'] }, FILES);
    expect(problems.map((problem) => problem.field)).toEqual([
      'openclaw.skills[0]',
      'openclaw.skills[1]',
      'openclaw.themes[0]',
    ]);
  });

  it('are always files of the package, whatever the manifest says', () => {
    const entry = fc.oneof(
      fc.string({ maxLength: 12 }),
      fc
        .array(
          fc.constantFrom('..', '.', '/', '*', '**', 'skills', '.md', '{', '}', ',', '\\', '[', ']', '!'),
          { maxLength: 8 },
        )
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 3 }), (skills) => {
        const { resources } = resolveResources({ skills }, FILES);
        for (const file of resources.skills.files) expect(FILES).toContain(file);
      }),
    );
  });
});
