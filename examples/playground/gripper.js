'use strict';

// Bodies: 0 finger_joint (outer left), 1 and 2 inner knuckle and finger left, 3 and 4 the same
// right, 5 outer right. Lines through points (x, z) of a body's axes [m].
const gripper = (() => {
  const which = MACHINE.gripper;
  const OUTER = [[0, 0], [0.0317, -0.0019], [0.0346, 0.0455]], INNER = [[0, 0], [0.0346, 0.0455]];
  const TIP = [[0.0179, -0.0065], [0, 0], [0.0005, 0.012]];
  const PAD = [[-0.0012, 0.014], [-0.0012, 0.042]];
  const BASE = [[0.02, 0.004], [0.033, 0.058], [0.02, 0.07], [-0.02, 0.07], [-0.033, 0.058],
    [-0.02, 0.004]];
  const LINKS = [[0, OUTER], [1, INNER], [2, TIP], [2, PAD], [3, INNER], [4, TIP], [4, PAD],
    [5, OUTER]];
  const FOLLOWERS = ['left inner knuckle', 'left fingertip', 'right inner knuckle',
    'right fingertip', 'right finger'];
  const MOST = 3; // torque of the longest bar and arrow [N m]
  const bars = barTable(document.querySelector('#gripper .bars tbody'), FOLLOWERS);
  const hand = handOf(which);
  const view = { x: 0, y: 0, scale: 1 };
  let held = null, fileLimits = false;

  const screen = ([x, z]) => [view.x - view.scale * x, view.y - view.scale * z];
  const poseOf = (body) => [0, 1, 2, 3, 4, 5, 6].map((k) => play().play_pose(which, body, k));

  // Points of a body on the screen.
  function placed(body, points) {
    const [ox, , oz, w, x, y, z] = poseOf(body);
    return points.map(([a, b]) => screen([
      ox + (1 - 2 * (y * y + z * z)) * a + 2 * (x * z + w * y) * b,
      oz + 2 * (x * z - w * y) * a + (1 - 2 * (x * x + y * y)) * b,
    ]));
  }

  function distance([x, y], [ax, ay], [bx, by]) {
    const dx = bx - ax, dy = by - ay, length2 = dx * dx + dy * dy || 1;
    const t = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / length2));
    return Math.hypot(x - ax - t * dx, y - ay - t * dy);
  }

  function linkAt(x, y) {
    let best = { body: -1, way: 26 };
    for (const [body, points] of LINKS) {
      const p = placed(body, points);
      for (let k = 1; k < p.length; k++) {
        const way = distance([x, y], p[k - 1], p[k]);
        if (way < best.way) best = { body, way };
      }
    }
    return best.body;
  }

  const goal = slider('gripper-goal', (q) => (q > 0 ? fixed(q, 2) + ' rad' : 'open'),
    (q) => play().play_set(which, 0, q));
  const object = element('gripper-object');
  const placeObject = () => play().play_set(which, 1, object.checked && !fileLimits ? 1 : 0);
  object.addEventListener('change', placeObject);

  function begin() {
    const code = play().play_set(which, 2, fileLimits ? 1 : 0);
    const said = element('gripper-said'), button = element('gripper-limits');
    button.setAttribute('aria-pressed', fileLimits);
    button.textContent = fileLimits ? 'Leave the followers free' : 'Use the limits of the file';
    object.disabled = fileLimits;
    placeObject();
    goal.moved();
    explain('gripper', which, 3);
    said.classList.toggle('warn', code !== 0);
    said.textContent = '';
    if (code === 0) return;
    const module = play(), range = [0, 1].map((end) => fixed(module.play_range(which, 0, end), 3));
    const name = textAt(module, module.play_name(which, module.play_culprit(which)));
    said.textContent = 'mdyn_init says: ' + textAt(module, module.play_text(code)) + ' (' + name +
      '). What to do: ' + textAt(module, module.play_remedy(code)) + '. mdyn_range: the finger ' +
      'may go from ' + range.join(' to ') + ' rad. Try to drag it.';
  }
  element('gripper-limits').addEventListener('click', () => {
    fileLimits = !fileLimits;
    scene.drop();
    begin();
  });

  function readouts() {
    const module = play(), q = module.play_q(which, 0);
    const drive = held ? held.body : 0;
    let error = 0;
    for (let k = 0; k < 5; k++) {
      const torque = module.play_torque(which, k, 0);
      error = Math.max(error, Math.abs(module.play_row(which, ROW.coupling, k, PART.error)));
      bars[k](torque, MOST, fixed(torque, 3) + ' N m', torque < 0 ? color.back : color.lead);
    }
    show('gripper-q', fixed(q, 4) + ' rad');
    show('gripper-drive', fixed(module.play_row(which, ROW.drive, drive, PART.force), 2) + ' N m');
    show('gripper-grip', fixed(-module.play_row(which, ROW.coupling, 5, PART.force), 1) + ' N');
    show('gripper-error', tiny(error) + ' rad');
  }

  const scene = addScene('gripper', {
    start: begin,
    step(count, seconds) {
      if (held) hand.pull(seconds);
      advance(which, count);
    },
    // Outer and inner knuckles turn about the base; the tips are carried without turning, so that
    // a grabbed point of them goes round a center that is shifted by its place on the tip.
    grab(x, y) {
      const link = linkAt(x, y);
      if (link < 0) return false;
      const body = link === 2 ? 1 : link === 4 ? 3 : link;
      const pivot = placed(body, [[0, 0]])[0];
      if (link !== body) {
        const [tip] = placed(link, [[0, 0]]);
        pivot[0] += x - tip[0];
        pivot[1] += y - tip[1];
      }
      held = { body, pivot, x, y, angle: turning(x, y, pivot), from: hand.take(body) };
      return true;
    },
    drag(x, y) { // a joint turns clockwise on the screen as its coordinate grows
      held.x = x;
      held.y = y;
      hand.move(held.from - held.angle(x, y, held.pivot));
    },
    release() {
      held = null;
      hand.leave();
      if (!fileLimits) goal.put(Math.max(0, play().play_q(which, 0)));
    },
    key(name) {
      const by = { ArrowRight: 0.05, ArrowUp: 0.05, ArrowLeft: -0.05, ArrowDown: -0.05 }[name];
      if (by) goal.put(+goal.input.value + by);
      return Boolean(by);
    },
    draw(ctx, w, h) {
      view.scale = Math.min(w / 0.27, h / 0.205);
      view.x = w / 2;
      view.y = h / 2 + 0.093 * view.scale;
      const unit = view.scale / 1000; // a millimeter
      if (object.checked && !fileLimits) {
        const [left, top] = screen([0.02, 0.172]);
        ctx.fillStyle = color.warm;
        ctx.fillRect(left, top, 40 * unit, 33 * unit);
        label(ctx, 'object', view.x, top + 16 * unit, color.ink);
      }
      ctx.beginPath();
      BASE.forEach((p) => ctx.lineTo(...screen(p)));
      ctx.closePath();
      ctx.fillStyle = color.base;
      ctx.lineWidth = 8 * unit;
      ctx.strokeStyle = color.base;
      ctx.fill();
      ctx.stroke();
      label(ctx, 'one motor', view.x, screen([0, 0.028])[1], color.ink);
      for (const [finger, inner, tip, ink] of [[0, 1, 2, color.lead], [5, 3, 4, color.back]]) {
        line(ctx, placed(inner, INNER), 7 * unit, color.metal);
        line(ctx, placed(tip, TIP), 8 * unit, color.metal);
        line(ctx, placed(tip, PAD), 8 * unit, color.dark);
        line(ctx, placed(finger, OUTER), 9 * unit, ink);
        for (const [body, points] of [[finger, OUTER], [inner, INNER]]) {
          placed(body, points).forEach((p) => disc(ctx, ...p, 2 * unit, color.card));
        }
      }
      FOLLOWERS.forEach((_, k) => { // follower k is body k + 1
        const share = play().play_torque(which, k, 0) / MOST, [at] = placed(k + 1, [[0, 0]]);
        torqueArrow(ctx, ...at, 9 * unit, share, color.ink);
      });
      if (held) {
        disc(ctx, held.x, held.y, 6, color.ink);
      } else {
        const text = fileLimits ? 'frozen by limits' : 'drag a finger';
        label(ctx, text, 14, h - 16, color.soft, 'left');
      }
      readouts();
    },
    handle: () => placed(2, PAD)[1], // for the test: a place to take hold of
  });
  return scene;
})();
