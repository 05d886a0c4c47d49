import { readRunDocument, type RunOverrides } from '../../local/run-file.ts';
import { isObject } from '../../local/is-object.ts';
import { InvalidInputError } from '../../api/errors.ts';
import type { Cluster } from './connect.ts';
import { asUserError } from './failures.ts';
import { RUN_RESOURCE, type RunObject } from './resources.ts';

export interface AppliedRun {
  readonly run: RunObject;
  /** The run was not there before. */
  readonly created: boolean;
}

/** A run's file, read and checked, before any cluster is asked. */
export interface RunDocument {
  readonly file: string;
  readonly name: string;
  readonly namespace: string | undefined;
  /** As it is written there, with the flags of the command line; defaults are the API server's. */
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * @throws InvalidInputError naming file, line and field
 */
export async function readDocument(file: string, overrides: RunOverrides): Promise<RunDocument> {
  const { run, document } = await readRunDocument(file, overrides);
  const body = isObject(document) ? document : {};
  return { file, name: run.metadata.name, namespace: run.metadata.namespace, body };
}

/**
 * Writes a run as its file says: makes it, or changes what may be changed of the one that is there.
 *
 * @throws InvalidInputError with the API server's sentences when it refuses
 */
export async function applyRun(
  { client, namespace, flags }: Cluster,
  document: RunDocument,
  dryRun: boolean,
): Promise<AppliedRun> {
  if (document.namespace !== undefined && document.namespace !== namespace && flags.namespace !== undefined) {
    throw new InvalidInputError({
      file: document.file,
      field: 'metadata.namespace',
      message: `says ${document.namespace}, and --namespace says ${namespace}`,
      remedy: 'Leave one of them out.',
    });
  }
  const ref = { namespace: document.namespace ?? namespace, name: document.name };
  try {
    const before = await client.find(RUN_RESOURCE, ref);
    if (before?.metadata.deletionTimestamp !== undefined) {
      throw new InvalidInputError({
        file: document.file,
        field: 'metadata.name',
        message: `the BenchmarkRun ${ref.namespace}/${ref.name} is being deleted`,
        remedy: 'Wait until it is gone, or give another name.',
      });
    }
    const metadata = isObject(document.body['metadata']) ? document.body['metadata'] : {};
    const run = await client.patch(
      RUN_RESOURCE,
      ref,
      // Forced: whoever runs this command means what the file says, also where kubectl wrote before.
      { type: 'apply', force: true, body: { ...document.body, metadata: { ...metadata, ...ref } } },
      { dryRun },
    );
    return { run, created: before === null };
  } catch (error) {
    throw asUserError(error, document.file);
  }
}
