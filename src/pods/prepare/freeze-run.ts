import { chmod, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { agentLimits } from '../../attempt/agent-limits.ts';
import { runFacts, type PlaceFacts } from '../../attempt/run-facts.ts';
import { benchmarkRunSpecSchema, type BenchmarkRunSpec } from '../../api/benchmark-run.ts';
import { freezeRequestSchema, type FreezeRequest } from '../../api/container-requests.ts';
import { errnoOf, InvalidInputError } from '../../api/errors.ts';
import { INDEX_KEY, indexConfigMaps } from '../../api/index-config-map.ts';
import { trialName } from '../../api/names.ts';
import { UNAVAILABLE } from '../../api/report.ts';
import { runLayout, type RunLayout } from '../../api/run-layout.ts';
import { runRecordSchema, type RunRecord } from '../../api/run.ts';
import { STEP_REPORT_VERSION, type PrepareReport } from '../../api/step-report.ts';
import type { SuiteIndex } from '../../api/suite-index.ts';
import { readJsonRecord, writeFileDurably, writeJsonDurably } from '../../files/durable.ts';
import { problemsOf } from '../../files/problems.ts';
import { checkRuntime, checkScenarios, selectForRun } from '../../runtimes/preflight.ts';
import { freezeSuite } from '../../suite/freeze.ts';
import { mountsOf } from '../mounts.ts';
import { readRequest, type Environment } from '../request.ts';
import { tellingHowItEnds } from '../step-message.ts';
import { loadMountedSuite } from '../suite-source.ts';

/** Group and owner alone, and what is made in it belongs to the group too. */
const SHARED_FOLDER_MODE = 0o2770;

/**
 * The container `freeze` of the prepare Job: everything that can be wrong with a run is found here, before its first
 * trial; then the suite is frozen on the run's volume, the trials get their folders, and run.json is written, last.
 * Run again, it finds what it did.
 *
 * @throws InvalidInputError for a wrong request, specification or suite; InfrastructureError `DiskFull`
 */
export async function freezeRun(env: Environment): Promise<PrepareReport> {
  return await tellingHowItEnds(env, invalidReason, async () => {
    const request = readRequest(freezeRequestSchema, env);
    const mounts = mountsOf(env);
    const spec = specOf(request);
    const { adapter, runtime } = checkRuntime(spec, fileOf(request));
    const suite = await loadMountedSuite(request, spec.suite.format);
    const selection = selectForRun(spec, suite);
    await checkScenarios(runtime, suite, selection);

    const layout = runLayout(join(mounts.volume, request.runUID));
    await makeSharedFolder(layout.root);
    await clearCutOff(layout);
    const index = await freezeSuite({
      suite,
      selection,
      target: layout.suite.root,
      // Needed wherever a script stands in for the agent or for its model.
      scripted: adapter.id === 'scripted' || spec.model?.api === 'scripted',
    });
    await makeFolders(layout, request, spec, index);
    await writeRunRecord(layout, {
      schema_version: 1,
      name: request.runName,
      uid: request.runUID,
      createdAt: request.createdAt,
      spec,
      suiteDigest: index.suiteDigest,
      declaredTrials: index.scenarios.length * spec.trialsPerScenario,
      facts: runFacts(spec, adapter, selection, placeFacts(spec)),
      reruns: [],
    });
    const parts = await writeIndex(mounts.index, request, index);
    return {
      v: STEP_REPORT_VERSION,
      ok: true,
      suiteDigest: index.suiteDigest,
      scenarios: index.scenarios.length,
      declaredTrials: index.scenarios.length * spec.trialsPerScenario,
      parts,
    };
  });
}

const fileOf = ({ runName }: FreezeRequest) => `BenchmarkRun ${runName}`;

function invalidReason({ problems }: InvalidInputError) {
  const [first] = problems;
  if (first?.field?.startsWith('CLAWBENCH_') === true) return 'RequestInvalid';
  return first?.field?.startsWith('spec.') === true ? 'SpecInvalid' : 'SuiteInvalid';
}

function specOf(request: FreezeRequest): BenchmarkRunSpec {
  const parsed = benchmarkRunSpecSchema.safeParse(request.spec);
  if (parsed.success) return parsed.data;
  const source = { file: fileOf(request), value: request.spec, lineOf: () => 0 };
  const [first, ...rest] = problemsOf(parsed.error, source, benchmarkRunSpecSchema).map(
    ({ line, ...problem }) => ({
      ...problem,
      field: problem.field === undefined ? 'spec' : `spec.${problem.field}`,
    }),
  );
  throw new InvalidInputError(
    first === undefined ? { file: source.file, field: 'spec', message: 'is invalid' } : [first, ...rest],
  );
}

/** What is known of the cluster before its first pod; publish adds the rest with the last round. */
function placeFacts(spec: BenchmarkRunSpec): PlaceFacts {
  const { egress, rules } = spec.network;
  return {
    runtimeImageDigest: UNAVAILABLE,
    isolation: 'container',
    cleanupPolicy: 'every process is killed after each turn; the pod is deleted after collection',
    cpuLimit: spec.runtime.resources?.limits?.['cpu'] ?? UNAVAILABLE,
    memoryLimit: `${agentLimits(spec).memoryBytes} bytes`,
    egress: rules === undefined ? egress : `${egress} ${JSON.stringify(rules)}`,
    host: UNAVAILABLE,
  };
}

async function makeFolders(
  layout: RunLayout,
  request: FreezeRequest,
  spec: BenchmarkRunSpec,
  index: SuiteIndex,
): Promise<void> {
  for (const folder of [layout.trials, layout.gateway, layout.report]) await makeSharedFolder(folder);
  for (const { id } of index.scenarios) {
    for (let number = 1; number <= spec.trialsPerScenario; number += 1) {
      await makeSharedFolder(layout.trial(trialName(request.runName, request.runUID, id, number)).root);
    }
  }
}

/** A folder that a mount needs and does not find would be made for root alone, so each is made here. */
async function makeSharedFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return;
    throw error;
  }
  await chmod(path, SHARED_FOLDER_MODE);
}

/** What a try that was killed has left under a temporary name. */
async function clearCutOff(layout: RunLayout): Promise<void> {
  for (const name of await readdir(layout.root)) {
    if (/^\.suite\.tmp-|^\.run\.json\..*\.tmp$/.test(name)) {
      await rm(join(layout.root, name), { recursive: true, force: true });
    }
  }
}

/** The record of the try that came first stands: trials may refer to it already. */
async function writeRunRecord(layout: RunLayout, record: RunRecord): Promise<void> {
  const stored = await readJsonRecord(runRecordSchema, layout.runJson);
  if (stored === undefined) {
    await writeJsonDurably(layout.runJson, record, 0o660);
    return;
  }
  if (stored.uid === record.uid && stored.suiteDigest === record.suiteDigest) return;
  throw new InvalidInputError({
    file: layout.runJson,
    message: `is of run ${stored.uid} with suite ${stored.suiteDigest}`,
    remedy: 'Remove the folder from the volume, or use another claim.',
  });
}

/** @returns how many parts there are */
async function writeIndex(folder: string, request: FreezeRequest, index: SuiteIndex): Promise<number> {
  const run = { name: request.runName, namespace: request.namespace, uid: request.runUID };
  const configMaps = indexConfigMaps(run, index);
  for (const [part, { data }] of configMaps.entries()) {
    await writeFileDurably(join(folder, `index-${part}.json`), data[INDEX_KEY]);
  }
  return configMaps.length;
}
