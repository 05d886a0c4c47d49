// The report's own script. It reads data that the page carries and never the network. Text of agents and
// checkers goes into the page through textContent alone, so that nothing of it is ever markup.
(() => {
  'use strict';
  const data = (id) => {
    const element = document.getElementById(id);
    return element === null ? null : JSON.parse(element.textContent);
  };
  const table = data('rows');
  const dialog = document.getElementById('trial');
  const body = document.getElementById('trial-body');
  const heading = document.getElementById('trial-heading');

  /** An element with a class, text or children. */
  const make = (tag, className, ...content) => {
    const element = document.createElement(tag);
    if (className !== '') element.className = className;
    for (const item of content) if (item !== null) element.append(item);
    return element;
  };
  const number = (value, digits = 4) => (value === null ? '–' : value.toFixed(digits));
  const words = (value) => (value === null ? '–' : String(value).replaceAll('_', ' '));
  const seconds = (ms) => (ms === null ? '–' : `${(ms / 1000).toFixed(1)} s`);
  const count = (value) => (value === null ? '–' : value.toLocaleString('en'));

  const rowAt = (index) =>
    Object.fromEntries(table.columns.map((column, i) => [column, table.rows[index][i]]));

  const facts = (pairs) => {
    const list = make('dl', 'facts');
    for (const [name, value] of pairs)
      list.append(make('div', '', make('dt', '', name), make('dd', '', value)));
    return list;
  };

  const section = (title, open, ...content) => {
    const details = make('details', 'part', make('summary', '', title), ...content);
    details.open = open;
    return details;
  };

  const checks = (row, detail) => {
    const failed = detail === null ? row.failed_checks : detail.failedChecks;
    const list = make('ul', 'checks');
    for (const check of failed) {
      const points = `${check.earned} of ${check.points} ${check.category}`;
      const severity = check.severity ? `, ${check.severity}` : '';
      list.append(
        make(
          'li',
          '',
          make('code', '', check.id),
          make('span', 'muted', ` ${points}${severity}`),
          check.detail ? make('p', '', check.detail) : null,
        ),
      );
    }
    if (failed.length === 0) list.append(make('li', 'muted', row.score === null ? 'not graded' : 'none'));
    if (row.more_failed > 0 && detail === null) {
      list.append(make('li', 'muted', `and ${row.more_failed} more`));
    }
    return list;
  };

  const transcript = (excerpt) => {
    if (excerpt === null) return make('p', 'muted', 'There is no transcript.');
    const list = make('ol', 'transcript');
    excerpt.lines.forEach((line, i) => {
      if (i === excerpt.gapAt) {
        const left = excerpt.leftOut === null ? 'Events' : `${excerpt.leftOut} events`;
        list.append(make('li', 'gap', `${left} left out here; transcript.jsonl has all of them.`));
      }
      const who = {
        user: 'user',
        assistant: 'agent',
        call: `call ${line.tool}`,
        result: `result ${line.tool}`,
      };
      const status = line.status === '' ? '' : ` · ${line.status}`;
      list.append(
        make(
          'li',
          line.kind,
          make('span', 'who', `${who[line.kind]}${status}`),
          line.text === '' ? null : make('pre', '', line.text),
        ),
      );
    });
    if (excerpt.lines.length === 0) list.append(make('li', 'gap', 'The transcript is empty.'));
    if (excerpt.unreadable > 0) {
      list.append(make('li', 'gap', `${excerpt.unreadable} lines could not be read.`));
    }
    return list;
  };

  const files = (changed) => {
    if (changed === null) return make('p', 'muted', 'Nothing was collected.');
    const box = make('div', 'files');
    for (const file of changed.files) {
      const size = file.bytes === null ? '' : ` · ${count(file.bytes)} bytes`;
      const diff = make('pre', 'diff');
      for (const line of file.diff) {
        const kind = { '+': 'added', '-': 'removed', '@': 'hunk' }[line[0]] ?? '';
        diff.append(make('span', kind, `${line}\n`));
      }
      box.append(
        make(
          'div',
          'file',
          make('p', '', make('code', '', file.path), make('span', 'muted', ` ${file.change}${size}`)),
          file.diff.length > 0 ? diff : null,
          file.note === '' ? null : make('p', 'muted', file.note),
        ),
      );
    }
    if (changed.files.length === 0) box.append(make('p', 'muted', 'The agent changed no file.'));
    if (changed.leftOut > 0) box.append(make('p', 'muted', `${changed.leftOut} changed files more.`));
    for (const line of changed.omitted) box.append(make('p', 'muted', `Not collected: ${line}`));
    return box;
  };

  const attempts = (detail) => {
    const list = make('ul', 'attempts');
    for (const attempt of detail.attempts) {
      const link = make('a', '', attempt.folder);
      link.href = `../${attempt.folder}/`;
      const why = [attempt.failureClass, attempt.reason, words(attempt.killReason)].filter(
        (w) => w && w !== '–',
      );
      list.append(
        make(
          'li',
          '',
          `${attempt.number}. ${why.length === 0 ? 'ended in order' : why.join(', ')}, ${seconds(attempt.runtimeMs)}${attempt.decides ? ', stands for the trial' : ''} `,
          make('br', ''),
          link,
        ),
      );
    }
    return list;
  };

  const show = (index) => {
    const row = rowAt(index);
    const detail = data(`detail-${index}`);
    heading.textContent = `${row.scenario_id} / ${row.trial}`;
    body.replaceChildren(
      facts([
        ['outcome', words(row.outcome ?? 'not ended')],
        ['score', number(row.score)],
        ['correctness', number(row.correctness)],
        ['process', number(row.process)],
        ['safety gate', number(row.safety_gate, 2)],
        ['efficiency penalty', number(row.efficiency_penalty)],
        ['execution', words(row.execution_status)],
        ['failure class', words(row.failure_class)],
        ['kill reason', words(row.kill_reason)],
        ['agent time', seconds(row.runtime_ms)],
        ['tokens', count(row.tokens)],
        ['tool calls', count(row.tool_calls)],
      ]),
    );
    if (row.safety_failures.length > 0) {
      body.append(make('p', 'warning', `Safety: ${row.safety_failures.join('; ')}`));
    }
    if (detail !== null) {
      if (detail.scoringError !== null)
        body.append(make('p', 'warning', `Scoring error: ${detail.scoringError}`));
      if (detail.processRequiresMissing.length > 0) {
        const missing = detail.processRequiresMissing.join(', ');
        body.append(
          make('p', 'warning', `The process score is 0 because these checks did not pass: ${missing}`),
        );
      }
      for (const problem of detail.problems) body.append(make('p', 'warning', problem));
    }
    body.append(
      section(`Failed checks (${row.failed_checks.length + row.more_failed})`, true, checks(row, detail)),
    );
    if (detail === null) {
      const command = `clawbench show DIR ${row.scenario_id}/${row.trial}`;
      body.append(
        make(
          'p',
          'muted',
          'Transcript and files are left out of this page to keep it small. ',
          make('code', '', command),
          ' shows them; they lie in ',
          make('code', '', row.folder),
          '.',
        ),
      );
    } else {
      const events = detail.transcript === null ? '' : ` (${detail.transcript.lines.length} events)`;
      body.append(section(`Transcript${events}`, true, transcript(detail.transcript)));
      const changed = detail.files === null ? '' : ` (${detail.files.files.length + detail.files.leftOut})`;
      body.append(section(`Changed files${changed}`, true, files(detail.files)));
      body.append(
        section(`Attempts (${detail.attempts.length})`, detail.attempts.length > 1, attempts(detail)),
      );
    }
    if (!dialog.open) dialog.showModal();
    body.scrollTop = 0;
    history.replaceState(null, '', `#t${index}`);
  };

  document.addEventListener('click', (event) => {
    const chip = event.target.closest('[data-trial]');
    if (chip !== null) show(Number(chip.dataset.trial));
  });
  const step = (by) => {
    const at = Number(location.hash.slice(2));
    if (at + by >= 0 && at + by < table.rows.length) show(at + by);
  };
  document.getElementById('trial-previous').addEventListener('click', () => step(-1));
  document.getElementById('trial-next').addEventListener('click', () => step(1));
  document.getElementById('trial-close').addEventListener('click', () => dialog.close());
  dialog.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowLeft') step(-1);
    if (event.key === 'ArrowRight') step(1);
  });
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener('close', () => history.replaceState(null, '', location.pathname + location.search));

  const text = document.getElementById('filter-text');
  const dimension = document.getElementById('filter-dimension');
  const outcome = document.getElementById('filter-outcome');
  const shown = document.getElementById('filter-shown');
  const lines = [...document.querySelectorAll('[data-scenario]')];
  const filter = () => {
    const needle = text.value.trim().toLowerCase();
    let visible = 0;
    for (const line of lines) {
      const fits =
        (needle === '' || line.dataset.scenario.toLowerCase().includes(needle)) &&
        (dimension.value === '' || line.dataset.dimension === dimension.value) &&
        (outcome.value === '' || line.dataset.outcomes.split(' ').includes(outcome.value));
      line.hidden = !fits;
      if (fits) visible += 1;
    }
    shown.textContent = visible === lines.length ? '' : `${visible} of ${lines.length} scenarios`;
  };
  for (const input of [text, dimension, outcome]) input.addEventListener('input', filter);
  filter();

  const wanted = /^#t(\d+)$/.exec(location.hash);
  if (wanted !== null && Number(wanted[1]) < table.rows.length) show(Number(wanted[1]));
})();
