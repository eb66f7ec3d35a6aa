'use strict';

const train = (() => {
  const which = MACHINE.train, other = MACHINE.iterated, WHEELS = 12, TURN = 2 * Math.PI;
  const FAR = 1000, LEAST = 1e-17, SLOPE = 0.7; // turns; teeth; rad
  const hands = [handOf(which), handOf(other)];
  let teeth = [], places = [], held = null, worst = [0, 0], far = null;

  const both = (call) => [which, other].map(call);
  const speed = slider('train-speed', (v) => fixed(v, 0) + ' rad/s',
    (v) => both((machine) => play().play_set(machine, 0, v)));

  // Errors of all meshes, in teeth.
  const errors = (machine) => Array.from({ length: WHEELS - 1 }, (_, k) =>
    Math.abs(play().play_row(machine, ROW.coupling, k, PART.error)) / TURN);

  function steps(count) {
    both((machine, k) => {
      advance(machine, count);
      worst[k] = Math.max(worst[k], ...errors(machine));
    });
  }

  // Centers of the wheels, up and down in turn, for a module of 1 px, first at 0.
  function layout() {
    let x = 0, y = 0;
    places = teeth.map((z, k) => {
      if (k > 0) {
        const way = (teeth[k - 1] + z) / 2, slope = (k % 2 ? 1 : -1) * SLOPE;
        x += way * Math.cos(slope);
        y += way * Math.sin(slope);
      }
      return { x, y, towards: (k % 2 ? -1 : 1) * SLOPE, tooth: 0 };
    });
    for (let k = 1; k < WHEELS; k++) {
      const before = places[k - 1];
      places[k].tooth = meshing(teeth[k - 1], before.tooth, before.towards, teeth[k]);
    }
  }

  function fit(w, h) {
    const low = Math.min(...places.map((p, k) => p.y - teeth[k] / 2 - 1));
    const high = Math.max(...places.map((p, k) => p.y + teeth[k] / 2 + 1));
    const left = -teeth[0] / 2 - 1, right = places[WHEELS - 1].x + teeth[WHEELS - 1] / 2 + 1;
    const scale = Math.min((w - 24) / (right - left), (h - 16) / (high - low));
    return {
      scale,
      x: (w - scale * (left + right)) / 2,
      y: (h + scale * (low + high)) / 2,
    };
  }

  const view = { scale: 1, x: 0, y: 0 };
  const center = (k) => [view.x + view.scale * places[k].x, view.y - view.scale * places[k].y];

  // The error of each mesh on a scale of powers of ten.
  function chart(ctx, w, top, height) {
    const exact = errors(which), iterated = errors(other), decades = -Math.log10(LEAST);
    const y = (e) => top + height * Math.min(1, -Math.log10(Math.max(e, LEAST)) / decades);
    for (const [e, text] of [[1, '1 tooth'], [1e-5, '1e\u22125'], [1e-10, '1e\u221210'],
      [1e-15, '1e\u221215']]) {
      line(ctx, [[70, y(e)], [w - 16, y(e)]], 1, color.line);
      label(ctx, text, 62, y(e), color.soft, 'right');
    }
    for (let k = 0; k < WHEELS - 1; k++) {
      const x = 70 + (w - 100) * (k + 0.5) / (WHEELS - 1);
      disc(ctx, x, y(iterated[k]), 4.5, color.bad);
      disc(ctx, x, y(exact[k]), 4.5, color.good);
    }
    label(ctx, 'mesh errors, exact', w / 2 - 4, top + height + 15, color.good, 'right');
    label(ctx, 'four iterations', w / 2 + 12, top + height + 15, color.bad, 'left');
  }

  function readouts() {
    const turns = (k) => play().play_q(which, k) / TURN;
    show('train-first', fixed(turns(0), 2));
    show('train-last', fixed(turns(WHEELS - 1), 2));
    show('train-exact', worst[0].toExponential(1).replace('-', MINUS) + ' teeth');
    show('train-iterated', worst[1].toExponential(1).replace('-', MINUS) + ' teeth');
  }

  const button = element('train-far');
  button.addEventListener('click', () => {
    speed.put(speed.input.value < 0 ? -40 : 40);
    far = { from: play().play_q(which, 0) };
    button.disabled = true;
  });

  function arrive() {
    far = null;
    button.disabled = false;
    button.textContent = 'Turn it 1,000 times';
  }

  const scene = addScene('train', {
    start() {
      arrive();
      both((machine) => play().play_start(machine));
      teeth = Array.from({ length: WHEELS }, (_, k) => play().play_teeth(k));
      worst = [0, 0];
      layout();
      speed.moved();
      explain('train', which, 0);
    },
    step(count, seconds) {
      if (held) hands.forEach((hand) => hand.pull(seconds));
      if (!far) {
        steps(count);
        return;
      }
      const until = performance.now() + 12;
      let turned = 0;
      do {
        steps(20);
        turned = Math.abs(play().play_q(which, 0) - far.from) / TURN;
      } while (turned < FAR && performance.now() < until);
      button.textContent = fixed(turned, 0) + ' of 1,000';
      if (turned < FAR) return;
      arrive();
      speed.put(6);
    },
    grab(x, y) {
      const body = places.findIndex((_, k) => {
        const [cx, cy] = center(k);
        return Math.hypot(x - cx, y - cy) < (teeth[k] / 2 + 1) * view.scale;
      });
      if (body < 0 || far) return false;
      speed.put(0);
      const from = hands.map((hand) => hand.take(body));
      held = { body, x, y, from, angle: turning(x, y, center(body)) };
      return true;
    },
    drag(x, y) {
      const by = held.angle(x, y, center(held.body));
      held.x = x;
      held.y = y;
      hands.forEach((hand, k) => hand.move(held.from[k] + by));
    },
    release() {
      held = null;
      hands.forEach((hand) => hand.leave());
    },
    key(name) {
      const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[name];
      if (by) speed.put(+speed.input.value + by);
      else if (name === ' ') speed.put(0);
      return Boolean(by) || name === ' ';
    },
    draw(ctx, w, h) {
      const top = Math.round(0.6 * h);
      Object.assign(view, fit(w, top));
      teeth.forEach((z, k) => {
        const ink = k === 0 ? color.lead : k === WHEELS - 1 ? color.back : color.metal;
        wheel(ctx, ...center(k), view.scale * z / 2, z,
          places[k].tooth + play().play_q(which, k), ink, z > 14 ? 5 : 0);
      });
      if (held) disc(ctx, held.x, held.y, 6, color.ink);
      chart(ctx, w, top + 8, h - top - 36);
      readouts();
    },
    handle: () => { // on the first wheel
      const [x, y] = center(0);
      return [x + 0.3 * teeth[0] * view.scale, y];
    },
  });
  return scene;
})();
