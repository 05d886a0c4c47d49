import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../../src/api/errors.ts';
import { discoverResources } from '../../../src/runtimes/resource-package.ts';

async function packageOf(files: Readonly<Record<string, string>>) {
  const root = await mkdtemp(join(tmpdir(), 'clawbench-package-'));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(root, dirname(path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return { root, [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }) };
}

describe('discovering the resources of a package on disk', () => {
  it('reads the manifest and falls back to folders for what it does not list', async () => {
    await using place = await packageOf({
      'package.json': JSON.stringify({ name: 'x', openclaw: { skills: ['docs/**/*.md'] } }),
      'docs/deep/one.md': '',
      'skills/ignored.md': '',
      'prompts/b.md': '',
      'prompts/a.md': '',
      'prompts/.hidden.md': '',
      'node_modules/other/prompts/c.md': '',
    });
    const found = await discoverResources(place.root);
    expect(found.skills.files).toEqual(['docs/deep/one.md']);
    expect(found.prompts.files).toEqual(['prompts/a.md', 'prompts/b.md']);
    expect(found.themes.files).toEqual([]);
  });

  it('goes by folders alone without a manifest', async () => {
    await using place = await packageOf({ 'themes/dark.json': '{}' });
    expect((await discoverResources(place.root)).themes.files).toEqual(['themes/dark.json']);
  });

  it('follows no link, so that nothing lies outside the root', async () => {
    await using outside = await packageOf({ 'skills/secret.md': 'secret' });
    await using place = await packageOf({
      'package.json': JSON.stringify({ openclaw: { prompts: ['linked.md'] } }),
      'themes/dark.json': '{}',
    });
    await symlink(join(outside.root, 'skills'), join(place.root, 'skills'));
    await symlink(join(outside.root, 'skills/secret.md'), join(place.root, 'linked.md'));
    await expect(discoverResources(place.root)).rejects.toThrow(
      /package\.json: openclaw\.prompts\[0\]: "linked\.md" names no file/,
    );
    await writeFile(join(place.root, 'package.json'), '{}');
    expect((await discoverResources(place.root)).skills.files).toEqual([]);
  });

  it.each([
    ['{', /package\.json: is not JSON/],
    ['[]', /package\.json/],
    ['{"openclaw": {"skils": []}}', /openclaw: .*skils/],
    ['{"openclaw": {"skills": "skills/*.md"}}', /openclaw\.skills: /],
    ['{"openclaw": {"skills": [""]}}', /openclaw\.skills\.0: /],
  ])('refuses the manifest %s', async (text, message) => {
    await using place = await packageOf({ 'package.json': text });
    await expect(discoverResources(place.root)).rejects.toThrow(InvalidInputError);
    await expect(discoverResources(place.root)).rejects.toThrow(message);
  });

  it('refuses a folder that is none', async () => {
    await using place = await packageOf({ file: '' });
    await expect(discoverResources(join(place.root, 'missing'))).rejects.toThrow(/is not a folder/);
  });
});
