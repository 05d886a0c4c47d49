import { z } from 'zod';
import { withRules } from './rules.ts';
import { claimReference, name, opaqueMap, resources, stringMap } from './schema-parts.ts';

const claimSpec = withRules(
  z.strictObject({
    accessModes: z
      .array(z.enum(['ReadWriteOnce', 'ReadWriteMany', 'ReadWriteOncePod']))
      .min(1)
      .max(3)
      .default(['ReadWriteOnce'])
      .describe('Without ReadWriteMany all pods of the run are bound to one node.'),
    resources: resources.describe('Size of the volume: `requests.storage`.'),
    storageClassName: name.optional().describe("StorageClass; absent means the cluster's default."),
    volumeMode: z.enum(['Filesystem']).optional().describe('Only a file system can hold artifacts.'),
    volumeName: name.optional().describe('A PersistentVolume to bind to.'),
    volumeAttributesClassName: name.optional().describe('VolumeAttributesClass.'),
    selector: opaqueMap.optional().describe('Label selector over PersistentVolumes.'),
  }),
  [
    {
      message:
        'ReadWriteOncePod admits a single pod, but many pods of a run share its volume; use ReadWriteMany, or ReadWriteOnce to keep them on one node',
      cel: "!('ReadWriteOncePod' in self.accessModes)",
      field: ['accessModes'],
      holds: (claim) => !claim.accessModes.includes('ReadWriteOncePod'),
    },
    {
      message: 'the size of the volume is missing; add resources.requests.storage, e.g. 10Gi',
      cel: "has(self.resources.requests) && 'storage' in self.resources.requests",
      field: ['resources'],
      holds: (claim) => claim.resources.requests?.['storage'] !== undefined,
    },
  ],
);

const claimTemplate = z.strictObject({
  metadata: z
    .strictObject({
      labels: stringMap.optional().describe('Labels of the claim.'),
      annotations: stringMap.optional().describe('Annotations of the claim.'),
    })
    .optional()
    .describe('Labels and annotations of the claim.'),
  spec: claimSpec.describe('Spec of the claim, as in a PersistentVolumeClaim.'),
});

export const artifactsSpecSchema = withRules(
  z.strictObject({
    persistentVolumeClaim: claimReference
      .optional()
      .describe('A claim of yours. It is never emptied; the run adds a folder named by its UID.'),
    volumeClaimTemplate: claimTemplate.optional().describe("A claim of the run's own."),
    retain: z.boolean().default(true).describe("Whether the run's own claim outlives it."),
  }),
  [
    {
      message: 'give persistentVolumeClaim or volumeClaimTemplate, not both; remove one',
      cel: '!has(self.persistentVolumeClaim) || !has(self.volumeClaimTemplate)',
      holds: (artifacts) =>
        artifacts.persistentVolumeClaim === undefined || artifacts.volumeClaimTemplate === undefined,
    },
  ],
);
