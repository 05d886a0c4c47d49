import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { indexPartSchema, publishIndexRequestSchema, type IndexPart } from '../../api/container-requests.ts';
import { InfrastructureError, InvalidInputError } from '../../api/errors.ts';
import { INDEX_KEY } from '../../api/index-config-map.ts';
import { runChildName } from '../../api/names.ts';
import { runChildMetadata } from '../../api/run-children.ts';
import { STEP_REPORT_VERSION, type StepReport } from '../../api/step-report.ts';
import { readJsonRecord } from '../../files/durable.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/client.ts';
import { CONFIG_MAPS } from '../../kube/resource.ts';
import { mountsOf } from '../mounts.ts';
import { readRequest, type Environment } from '../request.ts';
import { tellingHowItEnds } from '../step-message.ts';

/** What publish-index needs of the API. */
export type IndexClient = Pick<KubeClient, 'create' | 'find'>;

const FILE = /^index-\d+\.json$/;

/**
 * The container `publish-index` of the prepare Job: makes the ConfigMaps of the suite's index from what `freeze`
 * left. Only validated parts come in; names and owners are made here.
 *
 * @throws InvalidInputError when what freeze left is no index; InfrastructureError `IndexConflict` when a ConfigMap
 * of this name holds something else; errors of the API
 */
export async function publishIndex(env: Environment, client: IndexClient): Promise<StepReport> {
  return await tellingHowItEnds(
    env,
    () => 'RequestInvalid',
    async () => {
      const { runName, runUID, namespace } = readRequest(publishIndexRequestSchema, env);
      const run = { name: runName, namespace, uid: runUID };
      let created = 0;
      const parts = await readParts(mountsOf(env).index);
      for (const part of parts) {
        const name = runChildName(runName, `index-${part.part}`);
        const draft = {
          metadata: runChildMetadata(run, name),
          immutable: true,
          data: { [INDEX_KEY]: JSON.stringify(part) },
        };
        try {
          await client.create(CONFIG_MAPS, draft);
          created += 1;
        } catch (error) {
          if (!isAlreadyExists(error)) throw error;
          const present = await client.find(CONFIG_MAPS, { namespace, name });
          const isOurs = present?.metadata.ownerReferences?.some(({ uid }) => uid === runUID) ?? false;
          if (isOurs && present?.data?.[INDEX_KEY] === draft.data[INDEX_KEY]) continue;
          throw new InfrastructureError(
            'IndexConflict',
            `ConfigMap ${name} exists and is not the index of this run; delete it`,
            { cause: error },
          );
        }
      }
      return { v: STEP_REPORT_VERSION, ok: true, counts: { parts: parts.length, created } };
    },
  );
}

async function readParts(folder: string): Promise<IndexPart[]> {
  const parts: IndexPart[] = [];
  for (const file of (await readdir(folder)).filter((name) => FILE.test(name))) {
    const part = await readJsonRecord(indexPartSchema, join(folder, file));
    if (part !== undefined) parts.push(part);
  }
  parts.sort((a, b) => a.part - b.part);
  const isWhole =
    parts.length > 0 && parts.every(({ part, parts: all }, i) => part === i && all === parts.length);
  if (isWhole) return parts;
  throw new InvalidInputError({ file: folder, message: 'does not hold the whole index of a suite' });
}
