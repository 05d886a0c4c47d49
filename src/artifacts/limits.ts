/**
 * Bounds of what is collected from one folder of an agent. An agent may write anything; what the record keeps
 * of it must be bounded whatever it wrote. What is left out is recorded with its reason.
 */
export interface CollectionLimits {
  /** Files and folders together. */
  readonly files: number;
  /** Sum of the sizes of the files, in bytes, holes counted in full. */
  readonly totalBytes: number;
  /** Size of one file, in bytes, holes counted in full. */
  readonly fileBytes: number;
  /** Components of a path below the collected folder. */
  readonly depth: number;
  /** Bytes of one name. */
  readonly nameBytes: number;
  /** Bytes of a whole path below the collected folder, so that readers stay below the system's 4096. */
  readonly pathBytes: number;
  /** Entries that are looked at; what lies beyond is counted as `too_many_files` without a look. */
  readonly scanned: number;
  /** Lines of the record for each reason; the rest of a reason becomes one line with a count. */
  readonly omissionLines: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_COLLECTION_LIMITS: CollectionLimits = {
  files: 10_000,
  totalBytes: 512 * MIB,
  fileBytes: 64 * MIB,
  depth: 32,
  nameBytes: 255,
  pathBytes: 2048,
  scanned: 200_000,
  omissionLines: 100,
};
