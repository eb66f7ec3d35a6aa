'use strict';

// Bodies: 0 motor, 1 pinion, 2 drum, 3 weight.
const hoist = (() => {
  const which = MACHINE.hoist, MOTOR = 0, PINION = 1, DRUM = 2, WEIGHT = 3, TOP = 0.3;
  const NAMES = ['in, motor', 'stored', 'lost, clutch', 'lost, gear', 'lost, stops'];
  const WINDOW = 250; // steps over which powers are means
  const bars = barTable(document.querySelector('#hoist .bars tbody'), NAMES);
  let power = [0, 0, 0, 0, 0], joules = [], past = [], drive = 'auto', up = true, wait = 0;

  const setting = (k) => (value) => {
    play().play_set(which, k, value);
    explain('hoist', which, 1);
  };
  const sliders = [
    slider('hoist-play', (x) => fixed(x * 180 / Math.PI, 0) + '\u00b0', setting(1)),
    slider('hoist-efficiency', (x) => fixed(100 * x, 0) + ' %', setting(2)),
    slider('hoist-slip', (x) => fixed(x, 2) + ' N m', setting(3)),
  ];
  const buttons = [...document.querySelectorAll('#hoist [data-drive]')];

  function command(value) {
    drive = value;
    buttons.forEach((b) => b.setAttribute('aria-pressed', b.dataset.drive === value));
    if (value !== 'auto') setting(0)(+value);
  }
  buttons.forEach((b) => b.addEventListener('click', () => command(b.dataset.drive)));

  // To and fro: turns round a while after the weight has reached an end.
  function toAndFro(count) {
    const x = play().play_q(which, WEIGHT);
    setting(0)(up ? 60 : -40);
    wait = (up ? x > TOP - 0.001 : x < 0.001) ? wait + count : 0;
    if (wait > 700) {
      up = !up;
      wait = 0;
    }
  }

  function measure(count) {
    const now = NAMES.map((_, k) => play().play_joules(which, k));
    past.push({ count, by: now.map((j, k) => j - joules[k]) });
    joules = now;
    while (past.reduce((n, p) => n + p.count, 0) > WINDOW + count) past.shift();
    const seconds = past.reduce((n, p) => n + p.count, 0) / 1000;
    power = NAMES.map((_, k) => past.reduce((sum, p) => sum + p.by[k], 0) / seconds);
  }

  function readouts() {
    const ink = [color.lead, color.good, color.bad, color.bad, color.bad];
    power.forEach((p, k) => bars[k](p, 32, fixed(p, 2) + ' W', ink[k]));
    show('hoist-balance', tiny(power[0] - power[1] - power[2] - power[3] - power[4]) + ' W');
  }

  // Motor, clutch and pinion on one shaft, seen along it.
  function drawShaft(ctx, x, y, r) {
    const q = (body) => play().play_q(which, body);
    const slip = Math.abs(play().play_v(which, MOTOR) - play().play_v(which, PINION)) > 0.5;
    wheel(ctx, x, y, r, 20, q(PINION), color.warm);
    disc(ctx, x, y, 0.76 * r, color.paper);
    disc(ctx, x, y, 0.72 * r, slip ? color.bad : color.dark);
    disc(ctx, x, y, 0.58 * r, color.lead);
    for (let k = 0; k < 3; k++) {
      const angle = q(MOTOR) + 2 * Math.PI * k / 3;
      line(ctx, [onCircle(x, y, 0.14 * r, angle), onCircle(x, y, 0.46 * r, angle)], 0.09 * r,
        color.paper);
    }
    label(ctx, 'motor', x, y + 1.45 * r, color.lead);
    label(ctx, slip ? 'clutch slips' : 'clutch holds', x, y + 1.45 * r + 19,
      slip ? color.bad : color.soft);
  }

  function drawWeight(ctx, x, top, floor, unit) {
    const height = play().play_q(which, WEIGHT), box = 46 * unit;
    const bottom = floor - 104 * unit * height / TOP;
    line(ctx, [[x, top], [x, bottom - box]], 2, color.ink);
    ctx.fillStyle = color.back;
    ctx.fillRect(x - box / 2, bottom - box, box, box);
    label(ctx, '2 kg', x, bottom - box / 2, color.card);
    line(ctx, [[x - 80 * unit, floor + 2], [x + 80 * unit, floor + 2]], 3, color.dark);
    const text = fixed(1000 * height, 0) + ' mm';
    label(ctx, text, x + 34 * unit, bottom - box / 2, color.soft, 'left');
  }

  const scene = addScene('hoist', {
    start() {
      play().play_start(which);
      sliders.forEach((s) => s.moved());
      joules = NAMES.map(() => 0);
      past = [];
      wait = 0;
      up = true;
      command(drive);
    },
    step(count) {
      if (drive === 'auto') toAndFro(count);
      advance(which, count);
      measure(count);
    },
    key(name) {
      const value = { ArrowUp: '60', ArrowDown: '-40', ' ': '0' }[name];
      if (value) command(value);
      return Boolean(value);
    },
    draw(ctx, w, h) {
      const unit = Math.min(w / 460, h / 400), y = 118 * unit, r = 50 * unit;
      const pinion = [w / 2 - 110 * unit, y], drum = [w / 2 + 40 * unit, y];
      const turned = play().play_q(which, DRUM), hub = 36 * unit;
      wheel(ctx, ...drum, 2 * r, 40, meshing(20, 0, 0, 40) + turned, color.metal, 5);
      disc(ctx, ...drum, hub, color.dark);
      for (let k = 0; k < 3; k++) {
        const spot = onCircle(...drum, 0.6 * hub, turned + 2 * k * Math.PI / 3);
        disc(ctx, ...spot, 6 * unit, color.metal);
      }
      drawShaft(ctx, ...pinion, r);
      drawWeight(ctx, drum[0] + hub, y, 384 * unit, unit);
      readouts();
    },
  });
  return scene;
})();
