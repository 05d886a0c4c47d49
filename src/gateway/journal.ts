import { mkdir, open, readFile, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { errnoOf, InfrastructureError, isDiskFull, messageOf } from '../api/errors.ts';
import { modelCallSchema } from '../api/model-calls.ts';
import { syncFolder } from '../files/durable.ts';

/** Version of the journal's lines. */
const VERSION = 1;

/** One line of the journal: a call that ended, or an attempt after whose end no call is taken. Never a key or token. */
const journalEntrySchema = z.discriminatedUnion('type', [
  z.object({ v: z.literal(VERSION), type: z.literal('call'), call: modelCallSchema }),
  z.object({
    v: z.literal(VERSION),
    type: z.literal('ended'),
    trial: z.string(),
    attempt: z.int().positive(),
    at: z.string(),
  }),
  z.object({
    v: z.literal(VERSION),
    type: z.literal('preflight'),
    at: z.string(),
    status: z.int().nullable(),
    ok: z.boolean(),
  }),
]);
type VersionedEntry = z.infer<typeof journalEntrySchema>;
type WithoutVersion<T> = T extends unknown ? Omit<T, 'v'> : never;
export type JournalEntry = WithoutVersion<VersionedEntry>;

export interface OpenedJournal {
  readonly journal: GatewayJournal;
  /** What earlier lives of the gateway wrote, in order. */
  readonly entries: readonly JournalEntry[];
  /** Lines that could not be read and were passed over; they stay in the file. */
  readonly unreadable: number;
}

/**
 * The gateway's memory on the volume: one JSON object a line, appended and flushed to the disk before the call that
 * it accounts for is answered whole. Entries that come while the disk is busy are flushed together. One gateway
 * writes at a time.
 */
export class GatewayJournal {
  private readonly file: FileHandle;
  private readonly path: string;
  private waiting: { line: string; done: () => void; fail: (error: Error) => void }[] = [];
  private writing: Promise<void> | null = null;
  private broken: Error | null = null;

  private constructor(file: FileHandle, path: string) {
    this.file = file;
    this.path = path;
  }

  /**
   * Opens or makes the journal. A last line that was cut off was never answered for, and is closed so that the next
   * one stands by itself.
   *
   * @throws InfrastructureError `JournalUnavailable` when it can be neither read nor made
   */
  static async open(path: string): Promise<OpenedJournal> {
    try {
      await mkdir(dirname(path), { recursive: true });
      const text = await readText(path);
      const file = await open(path, 'a', 0o660);
      if (text !== '' && !text.endsWith('\n')) await file.appendFile('\n');
      await file.sync();
      await syncFolder(dirname(path));
      return { journal: new GatewayJournal(file, path), ...parse(text) };
    } catch (error) {
      throw new InfrastructureError('JournalUnavailable', `${path}: ${messageOf(error)}`, { cause: error });
    }
  }

  /** Why nothing can be appended any more; null while all is well. */
  get failure(): Error | null {
    return this.broken;
  }

  /**
   * Appends an entry; resolves once it is on the disk.
   *
   * @throws InfrastructureError `DiskFull` or `JournalUnavailable`; from then on every append fails
   */
  async append(entry: JournalEntry): Promise<void> {
    if (this.broken !== null) throw this.broken;
    const line = `${JSON.stringify({ v: VERSION, ...entry })}\n`;
    await new Promise<void>((done, fail) => {
      this.waiting.push({ line, done, fail });
      this.writing ??= this.writeAll().finally(() => {
        this.writing = null;
      });
    });
  }

  /** Waits for what was appended, and closes the file. */
  async close(): Promise<void> {
    await this.writing;
    this.broken ??= new InfrastructureError('JournalUnavailable', `${this.path}: the journal is closed`);
    await this.file.close();
  }

  private async writeAll(): Promise<void> {
    while (this.waiting.length > 0) {
      const batch = this.waiting;
      this.waiting = [];
      try {
        await this.file.appendFile(batch.map(({ line }) => line).join(''));
        await this.file.datasync();
        for (const { done } of batch) done();
      } catch (error) {
        // What is on the disk now is not known: nothing more is promised.
        const failure = new InfrastructureError(
          isDiskFull(error) ? 'DiskFull' : 'JournalUnavailable',
          `${this.path}: ${messageOf(error)}`,
          { cause: error },
        );
        this.broken = failure;
        for (const { fail } of [...batch, ...this.waiting]) fail(failure);
        this.waiting = [];
      }
    }
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return '';
    throw error;
  }
}

function parse(text: string): Pick<OpenedJournal, 'entries' | 'unreadable'> {
  const entries: JournalEntry[] = [];
  let unreadable = 0;
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const entry = parseLine(line);
    if (entry === undefined) unreadable += 1;
    else entries.push(entry);
  }
  return { entries, unreadable };
}

function parseLine(line: string): JournalEntry | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const { data } = journalEntrySchema.safeParse(value);
  if (data === undefined) return undefined;
  const { v, ...entry } = data;
  return entry;
}
