'use strict';

// The chain in both arithmetics, and the hashes of all machines beside those of the C program.
const scalars = (() => {
  const which = MACHINE.pendulum, RODS = 4, HASHED = 1000, LENGTH = 0.25;
  const BOTH = ['FIXED', 'F32'], NAME = { FIXED: 'fixed', F32: 'float' };
  const native = { FIXED: [], F32: [] }; // as native.c printed them, in order of the machines
  let steps = 0, hashes = {}, trails = { FIXED: [], F32: [] };

  function again() {
    BOTH.forEach((scalar) => modules[scalar].play_start(which));
    steps = 0;
    hashes = {};
    trails = { FIXED: [], F32: [] };
    explain('scalars', which, 0);
    show('scalars-said', '');
    element('scalars-said').classList.remove('warn');
  }
  element('scalars-again').addEventListener('click', again);

  // Joints of the chain from its hook on [m].
  function joints(scalar) {
    const points = [[0, 0]];
    let x = 0, z = 0, angle = 0;
    for (let k = 0; k < RODS; k++) {
      angle += modules[scalar].play_q(which, k);
      x -= LENGTH * Math.sin(angle);
      z -= LENGTH * Math.cos(angle);
      points.push([x, z]);
    }
    return points;
  }

  function compare() {
    BOTH.forEach((scalar) => { hashes[scalar] = hex(modules[scalar].play_hash(which)); });
    const same = BOTH.every((scalar) => hashes[scalar] === native[scalar][which]);
    element('scalars-said').classList.toggle('warn', !same);
    show('scalars-said', same ? 'After 1,000 steps: both are those of the C program.'
      : 'After 1,000 steps: not those of the C program.');
  }

  // Each machine under its script: hashes here and there.
  function table() {
    const body = document.querySelector('.hashes tbody');
    NAMES.forEach((name, machine) => {
      const row = body.insertRow();
      row.insertCell().textContent = name;
      for (const scalar of BOTH) {
        const hash = machine === which ? free(scalar)
          : hex(modules[scalar].play_scripted_hash(machine, HASHED));
        const same = hash === native[scalar][machine];
        row.insertCell().textContent = hash;
        const verdict = row.insertCell();
        verdict.textContent = same ? 'same in C' : 'differs in C';
        verdict.className = same ? 'good' : 'bad';
      }
    });
  }
  const free = (scalar) => hex(modules[scalar].play_scripted_hash(which, HASHED));

  return addScene('scalars', {
    begin() {
      const lines = element('native').textContent.trim().split(/\s+/);
      BOTH.forEach((scalar, k) => {
        native[scalar] = lines.slice(k * NAMES.length, (k + 1) * NAMES.length);
      });
      table();
    },
    start() { if (steps === 0) again(); }, // it runs in both, whichever is chosen
    step(count) {
      const now = steps < HASHED ? Math.min(count, HASHED - steps) : count;
      BOTH.forEach((scalar) => advance(which, now, modules[scalar]));
      steps += now;
      if (steps === HASHED) compare();
      BOTH.forEach((scalar) => {
        trails[scalar].push(joints(scalar)[RODS]);
        if (trails[scalar].length > 90) trails[scalar].shift();
      });
    },
    key(name) {
      if (name === ' ') again();
      return name === ' ';
    },
    draw(ctx, w, h) {
      const scale = Math.min(w, h) / 2.15;
      const at = ([x, z]) => [w / 2 + scale * x, h / 2 - scale * z];
      const ink = { FIXED: color.lead, F32: color.back };
      for (const scalar of ['F32', 'FIXED']) {
        ctx.globalAlpha = 0.35;
        line(ctx, trails[scalar].map(at), 2, ink[scalar]);
        ctx.globalAlpha = 1;
        const points = joints(scalar).map(at);
        line(ctx, points, scalar === 'F32' ? 9 : 5, ink[scalar]);
        points.forEach((p) => disc(ctx, ...p, scalar === 'F32' ? 7 : 4, ink[scalar]));
      }
      const [a, b] = BOTH.map((scalar) => joints(scalar)[RODS]);
      show('scalars-steps', String(steps));
      show('scalars-apart', tiny(Math.hypot(a[0] - b[0], a[1] - b[1])) + ' m');
      BOTH.forEach((scalar) => show('scalars-' + NAME[scalar],
        hashes[scalar] || hex(modules[scalar].play_hash(which))));
    },
  });
})();
