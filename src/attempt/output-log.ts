import { createWriteStream, type WriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

/** What is kept of one stream of one turn; an agent may print for ever. */
const MOST_BYTES = 32 * 1024 ** 2;
const TAIL_BYTES = 2000;

type Stream = 'stdout' | 'stderr';

/**
 * Keeps the output of one turn under logs/, bounded, and holds the agent back when the disk is slower. A disk
 * that is full loses output, never the attempt.
 */
export class OutputLog {
  /** Bytes that came, kept or not: their growth is a sign of life. */
  bytes = 0;
  private readonly files: Readonly<Record<Stream, WriteStream>>;
  private readonly room: Record<Stream, number> = { stdout: MOST_BYTES, stderr: MOST_BYTES };
  private last = Buffer.alloc(0);

  private constructor(files: Readonly<Record<Stream, WriteStream>>) {
    this.files = files;
  }

  static async open(folder: string, name: string): Promise<OutputLog> {
    await mkdir(folder, { recursive: true });
    const open = (stream: Stream) => {
      const file = createWriteStream(join(folder, `${name}.${stream}.log`));
      file.on('error', () => file.destroy());
      return file;
    };
    return new OutputLog({ stdout: open('stdout'), stderr: open('stderr') });
  }

  /** Takes a part. @returns false when the sender has to wait until `resume` is called */
  take(stream: Stream, part: Buffer, resume: () => void): boolean {
    this.bytes += part.length;
    this.last = Buffer.concat([this.last, part]).subarray(-TAIL_BYTES);
    const file = this.files[stream];
    const kept = part.subarray(0, this.room[stream]);
    this.room[stream] -= kept.length;
    if (kept.length === 0 || file.destroyed || file.write(kept)) return true;
    // A file that fails meanwhile drains never, but closes.
    let resumed = false;
    const once = () => {
      if (!resumed) resume();
      resumed = true;
    };
    file.once('drain', once);
    file.once('close', once);
    return false;
  }

  /** The end of what was printed, for messages. */
  tail(): string {
    return this.last.toString('utf8').trim();
  }

  async close(): Promise<void> {
    await Promise.all(
      Object.values(this.files).map(
        (file) =>
          new Promise<void>((resolve) => {
            if (file.destroyed) resolve();
            else file.once('close', () => resolve()).end();
          }),
      ),
    );
  }
}
