import { error, warning, type Rule, type RuleFinding } from '../finding.ts';
import type { LintSubject } from '../subject.ts';

/** Shorter contents coincide by chance: an empty file, `{}`, a single word. */
const TELLING_LENGTH = 12;

/** What only scoring may know, in reach of the agent. */
export const hiddenExposed: Rule = {
  name: 'hidden-exposed',
  check: (subject) => [...overlaps(subject), ...sameFiles(subject), ...quoted(subject)],
};

function overlaps({ paths, file, checker }: LintSubject): RuleFinding[] {
  const findings: RuleFinding[] = [];
  const secrets: [field: string, path: string, what: string][] = [
    ['', file, 'the scenario file with its checks'],
  ];
  const hidden = paths.get('hidden_dir');
  const scripted = paths.get('scripted_dir');
  if (hidden !== undefined) secrets.push(['hidden_dir', hidden, 'hidden_dir']);
  if (scripted !== undefined)
    secrets.push(['scripted_dir', scripted, 'scripted_dir with the standard answer']);
  if (checker !== null) secrets.push(['custom_check', checker, 'the checker']);
  for (const [field, open] of paths) {
    const match = /^(workspace_seed_dir)$|^workspace_files\[(\d+)\]\.source$/.exec(field);
    if (match === null) continue;
    const place = match[1] === undefined ? ['workspace_files', Number(match[2]), 'source'] : [match[1]];
    for (const [name, path, what] of secrets) {
      if (isWithin(path, open)) {
        findings.push(
          error(
            place,
            `gives the agent ${what} (${path})`,
            'Keep what the agent gets in a folder of its own.',
          ),
        );
      } else if (name === 'hidden_dir' && isWithin(open, path)) {
        findings.push(
          warning(
            ['hidden_dir'],
            `holds the workspace (${open}) too`,
            'Keep the two in folders of their own.',
          ),
        );
      }
    }
  }
  return findings;
}

function sameFiles({ hidden, workspace }: LintSubject): RuleFinding[] {
  const open = new Map(workspace.map((file) => [file.sha256, file]));
  return hidden.flatMap((file) => {
    const twin = file.bytes < TELLING_LENGTH ? undefined : open.get(file.sha256);
    return twin === undefined
      ? []
      : [
          error(
            ['hidden_dir'],
            `${file.path} is the same as ${twin.path} in the workspace`,
            'Remove it from the workspace.',
          ),
        ];
  });
}

/** The whole content of a hidden file, white space apart, inside what the agent reads. */
function quoted(subject: LintSubject): RuleFinding[] {
  const open = [
    { name: 'the prompt', text: subject.scenario.prompt },
    { name: 'setup_script', text: subject.setupScript ?? '' },
    ...subject.publicTexts.map(({ path, text }) => ({ name: path, text })),
  ].map(({ name, text }) => ({ name, text: squeeze(text) }));
  const same = new Set(subject.workspace.map(({ sha256 }) => sha256));
  return subject.hiddenTexts.flatMap(({ path, text }) => {
    const content = squeeze(text);
    if (content.length < TELLING_LENGTH) return [];
    const file = subject.hidden.find((one) => one.path === path);
    if (file !== undefined && same.has(file.sha256)) return [];
    const place = open.find((one) => one.text.includes(content));
    return place === undefined
      ? []
      : [error(['hidden_dir'], `${place.name} quotes ${path} whole`, 'Take it out of what the agent reads.')];
  });
}

function squeeze(text: string): string {
  return text.replaceAll(/\s+/g, '');
}

function isWithin(path: string, folder: string): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`);
}
