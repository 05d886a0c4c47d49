import { readFile } from 'node:fs/promises';
import { basename, dirname, posix, relative } from 'node:path';
import { InvalidInputError, type InputProblem } from '../api/errors.ts';
import type { Scenario } from '../api/scenario.ts';
import { BEHAVIOURS } from '../api/vocabulary.ts';
import { fieldName } from '../files/problems.ts';
import { didYouMean } from '../files/suggest.ts';
import { decodeUtf8 } from '../files/yaml.ts';
import { lookUp, workspacePath, type Found } from './boundary.ts';
import { findChecker, type ResolvedChecker } from './checker.ts';
import type { LoadedScenario, ScenarioSuite } from './loaded-suite.ts';
import { readScript } from './script-file.ts';
import { readSuiteFile, readTree, sorted, writtenFile, type SuiteFile, type SuiteTree } from './tree.ts';

type Place = readonly (string | number)[];

/** A scenario with everything its fields point to. */
export interface ResolvedScenario {
  readonly loaded: LoadedScenario;
  readonly workspace: SuiteTree;
  /** Content of hidden_dir. */
  readonly hidden: SuiteTree;
  /** `<behaviour>.yaml` */
  readonly scripted: readonly SuiteFile[];
  readonly behaviours: readonly string[];
  /** Text of the scripts. */
  readonly setupScript: string | null;
  readonly teardownScript: string | null;
  readonly checker: ResolvedChecker | null;
  /** The scenario's own file. */
  readonly declaration: SuiteFile;
  /** What fields with paths led to: root-relative path by field, e.g. `workspace_files[0].source`. */
  readonly paths: ReadonlyMap<string, string>;
}

/** Resolves a scenario; what could not be resolved is among the problems and missing from the result. */
export async function resolveScenario(
  suite: ScenarioSuite,
  loaded: LoadedScenario,
): Promise<{ readonly resolved: ResolvedScenario; readonly problems: readonly InputProblem[] }> {
  const resolver = new Resolver(suite, loaded);
  const resolved = await resolver.run();
  return { resolved, problems: resolver.problems };
}

class Resolver {
  readonly problems: InputProblem[] = [];
  readonly #paths = new Map<string, string>();
  readonly #suite: ScenarioSuite;
  readonly #loaded: LoadedScenario;
  readonly #scenario: Scenario;

  constructor(suite: ScenarioSuite, loaded: LoadedScenario) {
    this.#suite = suite;
    this.#loaded = loaded;
    this.#scenario = loaded.scenario;
  }

  async run(): Promise<ResolvedScenario> {
    const { root } = this.#suite;
    const { behaviours, files } = await this.#scripted();
    return {
      loaded: this.#loaded,
      workspace: await this.#workspace(),
      hidden: await this.#folder(['hidden_dir'], this.#scenario.hidden_dir),
      scripted: files,
      behaviours,
      setupScript: await this.#script(['setup_script'], this.#scenario.setup_script),
      teardownScript: await this.#script(['teardown_script'], this.#scenario.teardown_script),
      checker: await this.#checker(),
      declaration: await readSuiteFile(posix.join(root, this.#loaded.file), 'scenario.yaml'),
      paths: this.#paths,
    };
  }

  #problem(place: Place, message: string, remedy: string): void {
    this.problems.push({
      file: this.#loaded.file,
      line: this.#loaded.lineOf(place),
      field: fieldName(place),
      message,
      remedy,
    });
  }

  async #find(place: Place, written: string): Promise<Exclude<Found, { kind: 'wrong' }> | undefined> {
    const found = await lookUp(this.#suite.root, [dirname(this.#loaded.file), '.'], written);
    if (found.kind !== 'wrong') {
      this.#paths.set(fieldName(place), relative(this.#suite.root, found.path));
      return found;
    }
    this.#problem(place, found.message, found.remedy);
    return undefined;
  }

  async #folder(place: Place, written: string | null): Promise<SuiteTree> {
    const nothing = { files: [], folders: [] };
    if (written === null) return nothing;
    const found = await this.#find(place, written);
    if (found === undefined) return nothing;
    if (found.kind === 'file') {
      this.#problem(place, `"${written}" is a file`, 'Give the folder.');
      return nothing;
    }
    return await this.#tree(place, found.path);
  }

  async #tree(place: Place, folder: string): Promise<SuiteTree> {
    const tree = await readTree(folder, isLitter);
    for (const problem of tree.problems) {
      const path = posix.join(relative(this.#suite.root, folder), problem.path);
      this.#problem(place, `${path} ${problem.message}`, problem.remedy);
    }
    return tree;
  }

  /** Later entries replace earlier ones, as the public runner copies them: the seed folder first. */
  async #workspace(): Promise<SuiteTree> {
    const seed = await this.#folder(['workspace_seed_dir'], this.#scenario.workspace_seed_dir);
    const files = new Map(seed.files.map((file) => [file.path, file]));
    const folders = new Set(seed.folders);
    for (const [index, entry] of this.#scenario.workspace_files.entries()) {
      const place = ['workspace_files', index];
      const written = 'content' in entry ? entry.path : entry.dest;
      const target = workspacePath(written);
      if (target === undefined) {
        this.#problem(
          [...place, 'content' in entry ? 'path' : 'dest'],
          `"${written}" leads out of the workspace`,
          'Write a path inside the workspace.',
        );
        continue;
      }
      const added =
        'content' in entry
          ? [writtenFile(target, entry.content)]
          : await this.#copied(place, entry.source, target);
      for (const file of added) {
        // A file given in the place of a folder takes it whole, as a folder does in the place of a file.
        for (const path of files.keys()) {
          if (path.startsWith(`${file.path}/`) || file.path.startsWith(`${path}/`)) files.delete(path);
        }
        for (const path of folders)
          if (path === file.path || path.startsWith(`${file.path}/`)) folders.delete(path);
        files.set(file.path, file);
      }
    }
    return { files: sorted([...files.values()]), folders: [...folders].sort() };
  }

  async #copied(place: Place, source: string, target: string): Promise<SuiteFile[]> {
    const found = await this.#find([...place, 'source'], source);
    if (found === undefined) return [];
    if (found.kind === 'file') return [await readSuiteFile(found.path, target)];
    const tree = await this.#tree([...place, 'source'], found.path);
    return tree.files.map((file) => ({ ...file, path: `${target}/${file.path}` }));
  }

  async #script(place: Place, written: string | null): Promise<string | null> {
    if (written === null) return null;
    const found = await this.#find(place, written);
    if (found === undefined) return null;
    if (found.kind === 'folder') {
      this.#problem(place, `"${written}" is a folder`, 'Give the script itself.');
      return null;
    }
    try {
      return decodeUtf8(await readFile(found.path), relative(this.#suite.root, found.path));
    } catch (error) {
      this.#take(error);
      return null;
    }
  }

  async #checker(): Promise<ResolvedChecker | null> {
    const written = this.#scenario.custom_check;
    if (written === null) return null;
    const found = await findChecker(this.#suite.root, written);
    if ('message' in found) {
      this.#problem(['custom_check'], found.message, found.remedy);
      return null;
    }
    return found;
  }

  async #scripted(): Promise<{ behaviours: readonly string[]; files: readonly SuiteFile[] }> {
    const { files } = await this.#folder(['scripted_dir'], this.#scenario.scripted_dir);
    const kept: SuiteFile[] = [];
    for (const file of files) {
      const behaviour = basename(file.path, '.yaml');
      if (file.path !== `${behaviour}.yaml` || !(BEHAVIOURS as readonly string[]).includes(behaviour)) {
        this.#problem(
          ['scripted_dir'],
          `${file.path} is not named after a behaviour`,
          didYouMean(behaviour, BEHAVIOURS) ?? `Name it <behaviour>.yaml: ${BEHAVIOURS.join(', ')}.`,
        );
        continue;
      }
      try {
        if (typeof file.from === 'string') await readScript(file.from, relative(this.#suite.root, file.from));
        kept.push(file);
      } catch (error) {
        this.#take(error);
      }
    }
    return { behaviours: kept.map(({ path }) => basename(path, '.yaml')), files: kept };
  }

  #take(error: unknown): void {
    if (!(error instanceof InvalidInputError)) throw error;
    this.problems.push(...error.problems);
  }
}

/** What interpreters and desktops leave behind: never part of a suite, and different on every machine. */
function isLitter(name: string): boolean {
  return name === '__pycache__' || name === '.DS_Store' || name === '.pytest_cache' || name.endsWith('.pyc');
}
