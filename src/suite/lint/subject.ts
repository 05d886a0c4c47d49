import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { InvalidInputError } from '../../api/errors.ts';
import type { Scenario, ScriptStep } from '../../api/scenario.ts';
import type { ResolvedScenario } from '../resolve.ts';
import { readScript } from '../script-file.ts';
import type { SuiteFile } from '../tree.ts';

/** A text file that rules look into. */
export interface TextFile {
  readonly path: string;
  readonly text: string;
}

export interface ScriptFile {
  readonly behaviour: string;
  readonly steps: readonly ScriptStep[];
}

/** What rules see of one scenario: everything is read already. */
export interface LintSubject {
  readonly scenario: Scenario;
  /** The file's content before defaults, to tell a written field from a default. */
  readonly written: Readonly<Record<string, unknown>>;
  /** The scenario's file, relative to the suite's root. */
  readonly file: string;
  /** Field with a path -> what it led to, relative to the suite's root. */
  readonly paths: ReadonlyMap<string, string>;
  /** Path of the checker relative to the suite's root, or null. */
  readonly checker: string | null;
  /** All files an agent finds in its workspace. */
  readonly workspace: readonly SuiteFile[];
  /** Those of them that are text. */
  readonly publicTexts: readonly TextFile[];
  readonly hidden: readonly SuiteFile[];
  readonly hiddenTexts: readonly TextFile[];
  readonly setupScript: string | null;
  readonly teardownScript: string | null;
  readonly scripts: readonly ScriptFile[];
  /** Whether any scenario of the suite has scripts: then each should. */
  readonly suiteHasScripts: boolean;
}

/** Larger files hold data, not words that a prompt would have to mention. */
const MAXIMUM_TEXT_BYTES = 1024 * 1024;

export async function subjectOf(resolved: ResolvedScenario, suiteHasScripts: boolean): Promise<LintSubject> {
  const { loaded } = resolved;
  return {
    scenario: loaded.scenario,
    written: loaded.written,
    file: loaded.file,
    paths: resolved.paths,
    checker: resolved.checker?.entry ?? null,
    workspace: resolved.workspace.files,
    publicTexts: await textsOf(resolved.workspace.files),
    hidden: resolved.hidden.files,
    hiddenTexts: await textsOf(resolved.hidden.files),
    setupScript: resolved.setupScript,
    teardownScript: resolved.teardownScript,
    scripts: await scriptsOf(resolved.scripted),
    suiteHasScripts,
  };
}

/** Everything an agent can read before it begins, in lower case: prompt, names and text of its files, setup. */
export function publicWords(subject: LintSubject): string {
  return [
    subject.scenario.prompt,
    subject.setupScript ?? '',
    ...subject.workspace.map(({ path }) => path),
    ...subject.publicTexts.map(({ text }) => text),
  ]
    .join('\n')
    .toLowerCase();
}

async function textsOf(files: readonly SuiteFile[]): Promise<TextFile[]> {
  const texts: TextFile[] = [];
  for (const file of files) {
    if (file.bytes > MAXIMUM_TEXT_BYTES) continue;
    const bytes = typeof file.from === 'string' ? await readFile(file.from) : file.from;
    if (bytes.includes(0)) continue;
    try {
      texts.push({ path: file.path, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) });
    } catch {
      // Not text.
    }
  }
  return texts;
}

async function scriptsOf(files: readonly SuiteFile[]): Promise<ScriptFile[]> {
  const scripts: ScriptFile[] = [];
  for (const { path, from } of files) {
    if (typeof from !== 'string') continue;
    try {
      scripts.push({ behaviour: basename(path, '.yaml'), steps: await readScript(from) });
    } catch (error) {
      // Resolving the scenario told of it.
      if (!(error instanceof InvalidInputError)) throw error;
    }
  }
  return scripts;
}
