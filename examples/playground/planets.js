'use strict';

// Bodies: 0 sun, 1 carrier, 2 to 4 planets on the carrier, 5 ring.
const planets = (() => {
  const which = MACHINE.planets, SUN = 0, CARRIER = 1, RING = 5;
  const TEETH = { sun: 12, planet: 18, ring: 48 };
  const PARTS = [[SUN, 'sun', 1], [RING, 'ring', 2], [CARRIER, 'carrier', 3]];
  // Bodies of the terms of each mesh: see planets.h.
  const MESHES = [[SUN, CARRIER, 2], [RING, CARRIER, 2], [RING, CARRIER, 3], [RING, CARRIER, 4]];
  const hand = handOf(which);
  const rows = PARTS.map(([, name]) => {
    const row = document.querySelector('#planets tbody').insertRow();
    row.innerHTML = '<th>' + name + '</th><td></td><td></td>';
    return row;
  });
  const view = { x: 0, y: 0, r: 1 }; // r: pitch radius of the ring
  let held = null, chosen = 0;

  const torque = slider('planets-torque', (t) => fixed(t, 0) + ' mN m',
    (t) => play().play_set(which, 0, t / 1000));
  const brakes = [...document.querySelectorAll('#planets [data-hold]')];
  const isHeld = (button) => button.getAttribute('aria-pressed') === 'true';
  const brake = (button) => play().play_set(which, +button.dataset.hold, isHeld(button) ? 1 : 0);
  function toggle(button) {
    button.setAttribute('aria-pressed', !isHeld(button));
    brake(button);
  }
  brakes.forEach((button) => button.addEventListener('click', () => toggle(button)));

  function partAt(x, y) {
    const r = Math.hypot(x - view.x, y - view.y) / view.r;
    if (r > 1.3) return -1;
    return r < 0.27 ? SUN : r > 0.93 ? RING : CARRIER;
  }

  function readouts() {
    const module = play(), push = [0, 0, 0, 0, 0, 0];
    let error = 0;
    MESHES.forEach((bodies, k) => {
      bodies.forEach((body, term) => { push[body] += module.play_torque(which, k, term); });
      error = Math.max(error, Math.abs(module.play_row(which, ROW.coupling, k, PART.error)));
    });
    PARTS.forEach(([body], k) => {
      rows[k].cells[1].textContent = fixed(module.play_v(which, body), 2);
      rows[k].cells[2].textContent = fixed(1000 * push[body], 3);
      rows[k].classList.toggle('chosen', k === chosen && document.activeElement === scene.canvas);
    });
    const sum = 1000 * (push[SUN] + push[RING] + push[CARRIER]);
    show('planets-sum', fixed(sum, 3));
    show('planets-rest', tiny(sum) + ' mN m');
    const v = (body) => module.play_v(which, body);
    show('planets-willis', tiny(12 * v(SUN) + 48 * v(RING) - 60 * v(CARRIER)) + ' rad/s');
    show('planets-error', tiny(error) + ' teeth rad');
  }

  function drawRing(ctx, angle) {
    const { x, y, r } = view, brake = isHeld(brakes[1]);
    ctx.beginPath();
    ctx.arc(x, y, 1.17 * r, 0, 2 * Math.PI);
    teethPath(ctx, x, y, r, TEETH.ring, angle, true);
    ctx.fillStyle = brake ? color.dark : color.metal;
    ctx.fill('evenodd');
    for (let k = 0; k < 6; k++) {
      disc(ctx, ...onCircle(x, y, 1.11 * r, angle + k * Math.PI / 3), 0.018 * r, color.paper);
    }
  }

  function drawLock(ctx, x, y) {
    ctx.fillStyle = color.ink;
    ctx.fillRect(x - 6, y - 2, 12, 9);
    ctx.beginPath();
    ctx.arc(x, y - 2, 4, Math.PI, 0);
    ctx.lineWidth = 2;
    ctx.strokeStyle = color.ink;
    ctx.stroke();
  }

  const scene = addScene('planets', {
    start() {
      play().play_start(which);
      torque.moved();
      brakes.forEach(brake);
      explain('planets', which, 0);
    },
    step(count, seconds) {
      if (held) hand.pull(seconds);
      advance(which, count);
    },
    grab(x, y) {
      const body = partAt(x, y), center = [view.x, view.y];
      if (body < 0) return false;
      held = { body, x, y, angle: turning(x, y, center), from: hand.take(body) };
      return true;
    },
    drag(x, y) {
      held.x = x;
      held.y = y;
      hand.move(held.from + held.angle(x, y, [view.x, view.y]));
    },
    release() {
      held = null;
      hand.leave();
    },
    key(name) {
      if (name === 'ArrowUp') chosen = (chosen + 2) % 3;
      else if (name === 'ArrowDown') chosen = (chosen + 1) % 3;
      else if (name === 'h') toggle(brakes[chosen]);
      else if (name === 'ArrowLeft' || name === 'ArrowRight') {
        torque.put(+torque.input.value + (name === 'ArrowLeft' ? 1 : -1));
      } else return false;
      return true;
    },
    draw(ctx, w, h) {
      view.x = w / 2;
      view.y = h / 2;
      view.r = Math.min(w, h) / 2 / 1.24;
      const { x, y, r } = view, q = (body) => play().play_q(which, body);
      const sun = r * TEETH.sun / TEETH.ring, planet = r * TEETH.planet / TEETH.ring;
      const way = sun + planet, thirds = [0, 1, 2].map((k) => 2 * Math.PI * k / 3);
      const first = meshing(TEETH.sun, 0, 0, TEETH.planet);
      const gap = first * TEETH.planet / (2 * Math.PI) - 0.5; // of the ring, where planet 0 is
      drawRing(ctx, q(RING) + 2 * Math.PI / TEETH.ring * gap);
      thirds.forEach((third, k) => {
        const at = onCircle(x, y, way, third + q(CARRIER));
        const tooth = meshing(TEETH.sun, 0, third, TEETH.planet);
        wheel(ctx, ...at, planet, TEETH.planet, tooth + q(CARRIER) + q(2 + k), color.warm, 4);
      });
      wheel(ctx, x, y, sun, TEETH.sun, q(SUN), color.lead);
      const arms = thirds.map((third) => onCircle(x, y, way, third + q(CARRIER)));
      ctx.globalAlpha = 0.75;
      line(ctx, [...arms, arms[0]], 0.05 * r, color.back);
      ctx.globalAlpha = 1;
      arms.forEach((p) => disc(ctx, ...p, 0.045 * r, color.back));
      [[0, onCircle(x, y, 0, 0)], [1, onCircle(x, y, 1.11 * r, Math.PI / 2)],
        [2, onCircle(x, y, way, thirds[1] + q(CARRIER))]].forEach(([k, p]) => {
        if (isHeld(brakes[k])) drawLock(ctx, ...p);
      });
      if (held) disc(ctx, held.x, held.y, 6, color.ink);
      else label(ctx, 'turn any part', 12, h - 16, color.soft, 'left');
      readouts();
    },
    handle: () => [view.x + 0.2 * view.r, view.y], // on the sun
  });
  return scene;
})();
