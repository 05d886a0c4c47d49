import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errnoOf, InvalidInputError, type InputProblem } from '../api/errors.ts';
import { suiteLayout } from '../api/run-layout.ts';
import type { HiddenScenario } from '../api/scenario.ts';
import type {
  PublicScenario,
  ScenarioDigests,
  SuiteFiles,
  SuiteIndex,
  SuiteIndexEntry,
} from '../api/suite-index.ts';
import { syncFolder } from '../files/durable.ts';
import { readCheckerBundle, type CheckerBundle, type ResolvedChecker } from './checker.ts';
import { prettyCanonicalJson, scenarioDigest, suiteDigest } from './digests.ts';
import { readSuiteIndex } from './frozen.ts';
import type { LoadedSuite, ScenarioSuite } from './loaded-suite.ts';
import { resolveScenario, type ResolvedScenario } from './resolve.ts';
import type { Selection } from './select.ts';
import { digestOf, sorted, under, writtenFile, type SuiteFile } from './tree.ts';
import { writeTree } from './write-tree.ts';

export interface FreezeRequest {
  readonly suite: LoadedSuite;
  readonly selection: Selection;
  /** Folder of the frozen suite; made by this call. */
  readonly target: string;
  /** Whether to write the scripts of the scripted runtime, which hold the standard answers. */
  readonly scripted: boolean;
}

/** Present even when empty, so that they can be mounted. */
const TOP_FOLDERS = ['public', 'hidden', 'hidden/.checkers', 'scripted'];

/** Everything that will be written, planned before anything is. */
interface FreezePlan {
  readonly index: SuiteIndex;
  readonly files: readonly SuiteFile[];
  readonly folders: readonly string[];
}

/**
 * Writes a suite as runs use it: what the agent may see apart from what it must not, every byte hashed, nothing
 * pointing anywhere else (docs/architecture.md). The folder appears whole or not at all, and equal input gives
 * equal bytes: no times, sorted lists, modes 0644 and 0755 only.
 *
 * Where the target exists already it must be the same suite (then it is left as it is).
 *
 * @throws InvalidInputError with every file that is missing, leads out of the suite, is a link, ...
 * @throws InfrastructureError when the disk is full
 */
export async function freezeSuite(request: FreezeRequest): Promise<SuiteIndex> {
  const { suite, selection, target, scripted } = request;
  if (suite.format === 'task') {
    throw new InvalidInputError({
      field: 'suite.format',
      message: 'supervised tasks can be listed but not run in this version',
      remedy: 'Choose a suite of scenarios.',
    });
  }
  const plan = await planFreeze(suite, selection, scripted);
  const parent = dirname(target);
  await mkdir(parent, { recursive: true });
  const temporary = await mkdtemp(join(parent, `.${basename(target)}.tmp-`));
  try {
    await writeTree(temporary, plan.files, [...TOP_FOLDERS, ...plan.folders]);
    await moveInto(temporary, target, plan.index);
    return plan.index;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function planFreeze(
  suite: ScenarioSuite,
  selection: Selection,
  scripted: boolean,
): Promise<FreezePlan> {
  const problems: InputProblem[] = [];
  const bundles = new Map<ResolvedChecker['language'], CheckerBundle>();
  const entries: SuiteIndexEntry[] = [];
  const digests: Record<string, ScenarioDigests> = {};
  const files: SuiteFile[] = [];
  const folders: string[] = [];
  for (const loaded of selection.scenarios) {
    const { resolved, problems: own } = await resolveScenario(suite, loaded);
    problems.push(...own);
    const { checker } = resolved;
    if (checker !== null && !bundles.has(checker.language)) {
      const bundle = await readCheckerBundle(suite.root, checker.language);
      problems.push(...bundle.problems.map(({ path, ...rest }) => ({ file: path, ...rest })));
      bundles.set(checker.language, bundle);
    }
    if (problems.length > 0) continue;
    const bundle = checker === null ? undefined : bundles.get(checker.language);
    const parts = scenarioFiles(resolved, bundle?.digest ?? null);
    const { id } = loaded;
    const treeDigests: ScenarioDigests = {
      public: digestOf(parts.public),
      hidden: digestOf(parts.hidden),
      scripted: digestOf(resolved.scripted),
      checker: bundle?.digest ?? null,
    };
    digests[id] = treeDigests;
    entries.push(indexEntry(resolved, parts.workspaceDigest, treeDigests));
    files.push(...under(`public/${id}`, parts.public), ...under(`hidden/${id}`, parts.hidden));
    folders.push(`public/${id}/workspace`, `hidden/${id}/files`);
    folders.push(...resolved.workspace.folders.map((path) => `public/${id}/workspace/${path}`));
    folders.push(...resolved.hidden.folders.map((path) => `hidden/${id}/files/${path}`));
    if (scripted) files.push(...under(`scripted/${id}`, resolved.scripted));
  }
  const [first, ...rest] = problems;
  if (first !== undefined) throw new InvalidInputError([first, ...rest]);
  // The bundles of both languages may be one and the same.
  const byDigest = new Map(Array.from(bundles.values(), (bundle) => [bundle.digest, bundle] as const));
  for (const { digest, tree } of byDigest.values()) {
    const folder = `hidden/.checkers/${digest}`;
    files.push(...under(folder, tree.files));
    folders.push(folder, ...tree.folders.map((path) => `${folder}/${path}`));
  }
  const index: SuiteIndex = {
    schema_version: 1,
    format: 'scenario',
    suiteDigest: suiteDigest('scenario', entries),
    selector: { ...selection.selector },
    partial: selection.partial,
    excluded: [...selection.excluded],
    scenarios: entries,
  };
  const record: SuiteFiles = {
    schema_version: 1,
    files: sorted(files).map(({ path, executable, bytes, sha256 }) => ({
      path,
      mode: executable ? '0755' : '0644',
      bytes,
      sha256,
    })),
    scenarios: digests,
  };
  return {
    index,
    folders,
    files: [
      ...files,
      writtenFile('files.json', prettyCanonicalJson(record)),
      writtenFile('index.json', prettyCanonicalJson(index)),
    ],
  };
}

function scenarioFiles(resolved: ResolvedScenario, bundle: string | null) {
  const { loaded, workspace, hidden, checker } = resolved;
  const { scenario } = loaded;
  const workspaceDigest = digestOf(workspace.files);
  const publicScenario: PublicScenario = {
    schema_version: 1,
    id: scenario.id,
    format: 'scenario',
    surfaces: scenario.openclaw_surfaces,
    skills: [],
    turn: scenario.timeout_seconds,
    total: null,
    setupScript: resolved.setupScript,
    teardownScript: resolved.teardownScript,
    workspaceDigest,
  };
  const hiddenScenario: HiddenScenario = {
    schema_version: 1,
    scenario,
    checker:
      checker === null || bundle === null
        ? null
        : { language: checker.language, bundle, entry: checker.entry },
  };
  return {
    workspaceDigest,
    public: [
      writtenFile('prompt.md', scenario.prompt),
      writtenFile('public.json', prettyCanonicalJson(publicScenario)),
      ...under('workspace', workspace.files),
    ],
    hidden: [
      writtenFile('hidden.json', prettyCanonicalJson(hiddenScenario)),
      { ...resolved.declaration, executable: false },
      ...under('files', hidden.files),
    ],
  };
}

function indexEntry(
  { loaded: { scenario }, behaviours }: ResolvedScenario,
  workspaceDigest: string,
  digests: ScenarioDigests,
): SuiteIndexEntry {
  return {
    id: scenario.id,
    name: scenario.name,
    dimension: scenario.dimension,
    difficulty: scenario.difficulty,
    signalSource: scenario.signal_source,
    weight: scenario.weight,
    surfaces: scenario.openclaw_surfaces,
    turn: scenario.timeout_seconds,
    total: null,
    passThreshold: scenario.pass_threshold,
    supervised: false,
    scripted: [...behaviours],
    digest: scenarioDigest(digests),
    workspaceDigest,
    checkerDigest: digests.checker,
  };
}

/** The rename is the moment at which the suite exists. */
async function moveInto(temporary: string, target: string, index: SuiteIndex): Promise<void> {
  try {
    await rename(temporary, target);
    await syncFolder(dirname(target));
    return;
  } catch (error) {
    const code = errnoOf(error);
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'ENOTDIR') throw error;
  }
  const present = await readSuiteIndex(suiteLayout(target)).catch(() => undefined);
  if (present !== undefined && prettyCanonicalJson(present) === prettyCanonicalJson(index)) return;
  throw new InvalidInputError({
    file: target,
    message: present === undefined ? 'exists and is no frozen suite' : 'holds another frozen suite',
    remedy: 'Choose another folder, or remove this one.',
  });
}
