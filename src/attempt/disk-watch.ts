import { statfs } from 'node:fs/promises';
import { measureUsage } from '../artifacts/measure-usage.ts';

/** Free space is looked at this often: it costs one system call, while measuring walks the folders. */
export const DISK_GLANCE_MS = 250;

/**
 * Watches how much an agent's folders take. Measuring is for every poll; in between a glance at the file system
 * tells whether so much went so fast that one has to measure now.
 */
export class DiskWatch {
  private readonly folders: readonly string[];
  private readonly limit: number;
  private freeAtMeasure: number | null = null;
  private usedAtMeasure = 0;

  constructor(folders: readonly string[], limitBytes: number) {
    this.folders = folders;
    this.limit = limitBytes;
  }

  /** Bytes over the bound, at least as many as were seen when measuring stopped; 0 within it. */
  async measure(): Promise<number> {
    this.freeAtMeasure = await this.free();
    let used = 0;
    for (const folder of this.folders) {
      const usage = await measureUsage(folder, { stopAfter: { bytes: this.limit - used } });
      used += usage.bytes;
      if (used > this.limit) break;
    }
    this.usedAtMeasure = used;
    return Math.max(0, used - this.limit);
  }

  /** Whether the agent could have passed its bound since it was measured, by what the file system has left. */
  async isSuspicious(): Promise<boolean> {
    const free = await this.free();
    if (free === null || this.freeAtMeasure === null) return false;
    return this.usedAtMeasure + this.freeAtMeasure - free > this.limit;
  }

  private async free(): Promise<number | null> {
    const [folder] = this.folders;
    if (folder === undefined) return null;
    try {
      const { bavail, bsize } = await statfs(folder);
      return bavail * bsize;
    } catch {
      return null; // the agent removed its workspace
    }
  }
}
