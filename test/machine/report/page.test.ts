import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { buildReport } from '../../../src/report/build-report.ts';
import { embedDetails } from '../../../src/report/page/embedded-details.ts';
import { writeReport } from '../../../src/report/write-report.ts';
import { writeStoredRun, type StoredRunOptions } from '../../support/stored-run.ts';
import { FATES } from '../../support/trial-fates.ts';

const folders: string[] = [];

async function temporaryFolder() {
  const root = await mkdtemp(join(tmpdir(), 'clawbench-page-'));
  folders.push(root);
  return root;
}

async function storedRun(options: Partial<StoredRunOptions> = {}) {
  return writeStoredRun(await temporaryFolder(), {
    scenarios: 2,
    trials: 1,
    fateOf: () => FATES.miss,
    ...options,
  });
}

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

const EVIL = [
  '</script><script>document.title = "owned"</script>',
  '<img src=x onerror="document.title = \'owned\'">',
  '<!-- <script> -->',
  '\u202egnp.exe\u001b[2J',
];

/** A run whose agent tries to break out of the page wherever its text is shown. */
function hostileRun() {
  return storedRun({
    name: 'hostile',
    transcriptOf: () => [
      ...EVIL.map((text, seq) => ({ seq, turn: 1, type: 'assistant_message', text })),
      { seq: 9, type: 'tool_call', tool: EVIL[0], nativeName: EVIL[1], args: { path: EVIL[1] } },
      { seq: 10, type: 'tool_result', tool: 'read', result: EVIL[1], status: EVIL[0] },
    ],
    workspaceOf: () => ({ '<img src=x onerror=alert(1)>.md': EVIL.join('\n') }),
  });
}

describe('report.html', () => {
  it('names no address on the network and forbids every connection', async () => {
    const layout = await storedRun();
    await writeReport(layout.root);
    const page = await readFile(layout.reportHtml, 'utf8');
    expect(page).not.toMatch(/https?:/);
    expect(page).toMatch(
      /default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; base-uri 'none'/,
    );
    expect(page).not.toMatch(/ style="| on[a-z]+="/);
    // Clip paths have ids that differ from one drawing to the next.
    expect(page).not.toContain('clip-path');
  });

  it('holds no markup of an agent, wherever its text stands', async () => {
    const layout = await hostileRun();
    await writeReport(layout.root);
    const page = await readFile(layout.reportHtml, 'utf8');
    expect(page).not.toContain('<img');
    expect(page).not.toContain('\u202e');
    expect(page).not.toContain('\u001b');
    // The two trials' details, the table of rows, and the page's own script.
    expect(page.match(/<script/g)).toHaveLength(4);
    expect(page.match(/<\/script/g)).toHaveLength(4);
  });

  it('carries transcript, failed checks and changes of each trial', async () => {
    const layout = await storedRun();
    await writeReport(layout.root);
    const page = await readFile(layout.reportHtml, 'utf8');
    const [, json = ''] = /id="detail-0">([^<]*)</.exec(page) ?? [];
    const detail = JSON.parse(json) as Record<string, unknown>;
    expect(detail).toMatchObject({
      failedChecks: [{ id: 'answer_right' }],
      transcript: {
        lines: expect.arrayContaining([expect.objectContaining({ kind: 'call', tool: 'write' })]) as unknown,
      },
      files: {
        files: [
          {
            path: 'notes.md',
            change: 'modified',
            diff: ['@@ -1 +1 @@', ' Keep this line.', '-Status: open', '+Status: done'],
          },
          { path: 'out/answer.json', change: 'added', diff: ['+{"total": 30}'] },
        ],
      },
    });
  });

  it('names files that the agent deleted, and shows no content that is not text', async () => {
    const layout = await storedRun({
      initialOf: () => ({ 'gone.md': 'x\n', 'same.md': 'y\n' }),
      workspaceOf: () => ({ 'same.md': 'y\n', 'image.png': '\u0089PNG\u0000' }),
    });
    const built = await buildReport(layout.root);
    const { blocks } = await embedDetails(built.stored, built.rows);
    expect(blocks[0]?.text).toContain('"path":"gone.md","change":"deleted"');
    expect(blocks[0]?.text).toContain(
      '"path":"image.png","change":"added","bytes":6,"diff":[],"note":"not text"',
    );
    expect(blocks[0]?.text).not.toContain('same.md');
  });

  it('stays within its budget: failed trials first, large ones cut down, the rest counted', async () => {
    const long = 'x'.repeat(50_000);
    const layout = await storedRun({
      scenarios: 10,
      trials: 1,
      fateOf: (scenario) => (scenario === 9 ? FATES.miss : FATES.pass),
      transcriptOf: () =>
        Array.from({ length: 40 }, (_, seq) => ({ seq, type: 'assistant_message', text: long })),
    });
    const { stored, rows } = await buildReport(layout.root);
    const details = await embedDetails(stored, rows, 20_000);
    expect(details.blocks[0]?.text).toContain('id="detail-9"');
    expect(details.embedded + details.leftOut).toBe(10);
    expect(details.blocks[0]?.text).toContain('characters more]');
    expect(details.leftOut).toBeGreaterThan(0);
    expect(details.blocks.reduce((sum, block) => sum + block.text.length, 0)).toBeLessThan(36_000);
  });

  const chromium = '/usr/bin/chromium';
  it.skipIf(!existsSync(chromium))(
    'runs its own script and nothing of an agent in a browser (needs Chromium)',
    async () => {
      const layout = await hostileRun();
      await writeReport(layout.root);
      const profile = await temporaryFolder();
      const flags =
        '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking';
      const more = `--disable-component-update --disable-sync --user-data-dir=${profile} --dump-dom`;
      const { stdout } = await promisify(execFile)(
        chromium,
        [...`${flags} ${more}`.split(' '), `file://${layout.reportHtml}#t0`],
        { timeout: 60_000, maxBuffer: 64 * 1024 * 1024 },
      );
      // The link opened the first trial: its dialog is filled by the page's script.
      expect(stdout).toMatch(/<dialog[^>]* open/);
      expect(stdout).toContain('>Transcript (6 events)</summary>');
      expect(stdout).not.toContain('<title>owned');
      expect(stdout).toContain('&lt;img src=x onerror');
    },
    90_000,
  );
});
