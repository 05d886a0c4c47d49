import { z } from 'zod';

/** Why the collector left an entry out. */
export const OMISSION_REASONS = [
  'symlink',
  'device',
  'fifo',
  'socket',
  'too_large',
  'total_bytes',
  'too_many_files',
  'too_deep',
  'name_too_long',
  'unreadable',
  'changed_while_reading',
  /** One of several names of a file that is not the agent's own: it may lie outside, e.g. be a hidden one. */
  'hard_link',
  /** A folder that something else is mounted on. */
  'other_filesystem',
] as const;
export type OmissionReason = (typeof OMISSION_REASONS)[number];

/**
 * manifest.json of an attempt directory. `path` is relative with forward slashes; where a name is not UTF-8,
 * `pathBase64` holds the exact bytes and `path` is a readable rendering of them.
 */
export const manifestEntrySchema = z.object({
  path: z.string(),
  pathBase64: z.string().optional(),
  bytes: z.int(),
  mode: z.int(),
  sha256: z.string(),
  /** The file was there, unchanged, before the agent started: the scenario's own or the runtime's scaffold. */
  origin: z.enum(['agent', 'scenario', 'scaffold', 'harness']),
});
export type ManifestEntry = z.infer<typeof manifestEntrySchema>;

export const omissionSchema = z.object({
  path: z.string(),
  pathBase64: z.string().optional(),
  reason: z.enum(OMISSION_REASONS),
  /** Size where it is known. */
  bytes: z.int().nullable(),
  /** Entries this line stands for (one line may stand for all files beyond a bound). */
  count: z.int().positive(),
});
export type Omission = z.infer<typeof omissionSchema>;

export const manifestSchema = z.object({
  schema_version: z.literal(1),
  files: z.array(manifestEntrySchema),
  omitted: z.array(omissionSchema),
  totalBytes: z.int(),
  /** Digest of the agent's workspace alone (names, modes and contents, in byte order of names). */
  workspaceDigest: z.string(),
  /** Workspace files of the scenario that the agent deleted. */
  deleted: z.array(z.string()),
});
export type Manifest = z.infer<typeof manifestSchema>;
