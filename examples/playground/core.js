'use strict';

// ---- the header, twice ----

const MACHINE = { gripper: 0, planets: 1, train: 2, iterated: 3, hoist: 4, pendulum: 5 };
const ROW = { coupling: 0, loss: 1, drive: 2, friction: 3, limit: 4 }; // mdyn_row_kind
const PART = { force: 0, error: 1, velocity: 2 };
const NAMES = ['gripper', 'planetary gear', 'train, exact', 'train, iterated', 'hoist', 'chain'];
const modules = {}; // exports of both, by scalar
let scalar = 'FIXED';
const play = () => modules[scalar]; // the one that computes the machines

async function loadModule(scalar) {
  const text = document.getElementById('wasm-' + scalar).textContent;
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  const bytes = await new Response(stream).arrayBuffer();
  const { instance } = await WebAssembly.instantiate(bytes, {});
  modules[scalar] = Object.assign({ size: bytes.byteLength }, instance.exports);
}

// A text of the module, which ends in 0.
function textAt(module, address) {
  const bytes = new Uint8Array(module.memory.buffer, address);
  return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
}

const hex = (hash) => BigInt.asUintN(64, hash).toString(16).padStart(16, '0');

// ---- numbers and elements ----

const element = (id) => document.getElementById(id);

const MINUS = '\u2212';

function fixed(x, digits) {
  const text = x.toFixed(digits);
  return /^-0\.?0*$/.test(text) ? text.slice(1) : text.replace('-', MINUS);
}

// A rounding error: one digit and its power of ten, or 0.
function tiny(x) {
  if (Math.abs(x) >= 0.01) return fixed(x, 3);
  return x === 0 ? '0' : Math.abs(x).toExponential(0).replace('-', MINUS);
}

function show(id, text) {
  const target = element(id);
  if (target.textContent !== text) target.textContent = text;
}

// A slider: set(value) at each move and at once, its text beside it.
function slider(id, text, set) {
  const input = element(id), output = input.parentNode.querySelector('output');
  const moved = () => { output.textContent = text(+input.value); set(+input.value); };
  input.addEventListener('input', moved);
  return { input, moved, put(value) { input.value = value; moved(); } };
}

// A table of rows with a bar that begins in the middle.
function barTable(body, names) {
  return names.map((name) => {
    const row = body.insertRow();
    row.innerHTML = '<th></th><td class="bar"><div><i></i></div></td><td></td>';
    row.cells[0].textContent = name;
    const bar = row.querySelector('i');
    return (value, most, text, color) => {
      const share = Math.min(Math.abs(value) / most, 1) * 50;
      bar.style.left = (value < 0 ? 50 - share : 50) + '%';
      bar.style.width = share + '%';
      bar.style.background = color;
      row.cells[2].textContent = text;
    };
  });
}

// ---- steps ----

function fail(text) {
  element('failure').hidden = false;
  show('failure', text);
}

// Steps of a machine; what goes wrong is said on top of the page.
function advance(machine, count, module = play()) {
  const code = module.play_steps(machine, count);
  if (code < 0) fail(textAt(module, module.play_text(code)));
}

// The equation of a coupling, as the header writes it.
function explain(section, machine, coupling) {
  document.querySelector('#' + section + ' .equation').textContent =
    textAt(play(), play().play_equation(machine, coupling));
}

// ---- drawing ----

const color = {};

function readColors() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ['paper', 'card', 'ink', 'soft', 'line', 'metal', 'dark', 'rubber', 'base',
    'lead', 'back', 'good', 'bad', 'warm']) {
    color[name] = style.getPropertyValue('--' + name).trim();
  }
}

// Angles are counterclockwise on the screen, whose y points down.
const onCircle = (x, y, r, angle) => [x + r * Math.cos(angle), y - r * Math.sin(angle)];

function line(ctx, points, width, ink) {
  ctx.beginPath();
  points.forEach(([x, y]) => ctx.lineTo(x, y));
  ctx.lineWidth = width;
  ctx.strokeStyle = ink;
  ctx.lineCap = ctx.lineJoin = 'round';
  ctx.stroke();
}

function disc(ctx, x, y, r, ink) {
  ctx.beginPath();
  ctx.arc(x, y, r, 0, 2 * Math.PI);
  ctx.fillStyle = ink;
  ctx.fill();
}

function label(ctx, text, x, y, ink, align) {
  ctx.font = '13px system-ui, "DejaVu Sans", sans-serif';
  ctx.textAlign = align || 'center';
  ctx.textBaseline = 'middle';
  ctx.fillStyle = ink;
  ctx.fillText(text, x, y);
}

// A torque as an arrow round a joint, clockwise if positive; `share` of 1 is half a turn.
function torqueArrow(ctx, x, y, r, share, ink) {
  const sweep = Math.PI * Math.max(-1, Math.min(1, share)), sign = Math.sign(share);
  if (Math.abs(sweep) < 0.1) return;
  const start = -Math.PI / 2 - sweep / 2, end = start + sweep, head = 0.36 * r;
  ctx.beginPath();
  ctx.arc(x, y, r, start, end, sign < 0);
  ctx.lineWidth = 0.17 * r;
  ctx.strokeStyle = ctx.fillStyle = ink;
  ctx.lineCap = 'butt';
  ctx.stroke();
  ctx.beginPath();
  for (const [out, along] of [[r - head, 0], [r + head, 0], [r, 1.3 * head]]) {
    const angle = end + sign * along / r;
    ctx.lineTo(x + out * Math.cos(angle), y + out * Math.sin(angle));
  }
  ctx.fill();
}

// The outline of a wheel of pitch radius r, a tooth at `angle`; inner: teeth point inwards.
function teethPath(ctx, x, y, r, teeth, angle, inner) {
  const module = 2 * r / teeth, sign = inner ? -1 : 1, pitch = 2 * Math.PI / teeth;
  const top = r + sign * 0.85 * module, root = r - sign * 1.05 * module;
  for (let k = 0; k < teeth; k++) {
    const at = angle + k * pitch;
    const first = onCircle(x, y, root, at - 0.34 * pitch);
    if (k === 0) ctx.moveTo(...first);
    else ctx.lineTo(...first);
    ctx.lineTo(...onCircle(x, y, top, at - 0.13 * pitch));
    ctx.lineTo(...onCircle(x, y, top, at + 0.13 * pitch));
    ctx.lineTo(...onCircle(x, y, root, at + 0.34 * pitch));
  }
  ctx.closePath();
}

function wheel(ctx, x, y, r, teeth, angle, ink, spokes) {
  ctx.beginPath();
  teethPath(ctx, x, y, r, teeth, angle, false);
  ctx.fillStyle = ink;
  ctx.fill();
  for (let k = 0; k < (spokes || 0); k++) {
    disc(ctx, ...onCircle(x, y, 0.5 * r, angle + 2 * Math.PI * (k + 0.5) / spokes),
      0.42 * Math.sin(Math.PI / spokes) * r, color.paper);
  }
  disc(ctx, x, y, Math.max(0.08 * r, 2.5), color.paper);
}

// Where a wheel must have a tooth, to mesh with one of `teeth` that has a tooth at `angle` and sees
// it in direction `towards`.
function meshing(teeth, angle, towards, otherTeeth) {
  const turn = 2 * Math.PI, share = (towards - angle) * teeth / turn;
  return towards + Math.PI - turn / otherTeeth * (0.5 - share);
}

// ---- a machine on a canvas ----

const scenes = [];
const whole = (angle) => angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));

// Makes a scene of a section's canvas. It gives: start(), step(count, seconds), draw(ctx, w, h),
// and what it can of grab(x, y) -> true if something is there, drag(x, y), release(), key(name) ->
// true if it is one of its keys.
function addScene(id, scene) {
  const canvas = document.querySelector('#' + id + ' canvas');
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  scene.canvas = canvas;
  scene.visible = false;
  scene.running = !matchMedia('(prefers-reduced-motion: reduce)').matches;
  scene.held = false;
  canvas.setAttribute('role', 'application');
  const drop = () => {
    if (!scene.held) return;
    scene.held = false;
    canvas.classList.remove('holding');
    scene.release();
  };
  scene.drop = drop;
  canvas.addEventListener('pointerdown', (event) => {
    if (!scene.grab || scene.held || !scene.grab(...at(event))) return;
    scene.held = true;
    canvas.classList.add('holding');
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (scene.held) scene.drag(...at(event));
  });
  canvas.addEventListener('pointerup', drop);
  canvas.addEventListener('pointercancel', drop);
  // A finger that takes hold of something does not scroll the page.
  canvas.addEventListener('touchstart', (event) => {
    if (scene.held) event.preventDefault();
  }, { passive: false });
  canvas.addEventListener('keydown', (event) => {
    if (scene.key && scene.key(event.key)) event.preventDefault();
  });
  for (const kind of ['pointerdown', 'keydown']) { // who wants calm starts each machine
    element(id).addEventListener(kind, () => { scene.running = true; });
  }
  new IntersectionObserver((entries) => {
    scene.visible = entries[entries.length - 1].isIntersecting;
  }).observe(canvas);
  scenes.push(scene);
  return scene;
}

function drawScene(scene) {
  const { canvas } = scene, ratio = Math.max(window.devicePixelRatio || 1, 1);
  const w = canvas.clientWidth, h = canvas.clientHeight;
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
  }
  const ctx = canvas.getContext('2d');
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, w, h);
  scene.draw(ctx, w, h);
}

// The pointer turns something about a center: the angle since it took hold, over all turns.
function turning(x, y, center) {
  const angle = (px, py, c) => Math.atan2(c[1] - py, px - c[0]);
  let last = angle(x, y, center), total = 0;
  return (px, py, c) => {
    const now = angle(px, py, c);
    total += whole(now - last);
    last = now;
    return total;
  };
}

// The target of the hand, and its velocity from one frame to the next.
function handOf(which) {
  let target = 0, before = 0;
  return {
    take(body) {
      play().play_hold(which, body);
      target = before = play().play_q(which, body);
      return target;
    },
    move(to) { target = to; },
    pull(seconds) {
      play().play_pull(which, target, (target - before) / seconds);
      before = target;
    },
    leave() { play().play_hold(which, -1); },
  };
}
