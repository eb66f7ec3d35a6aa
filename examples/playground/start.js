'use strict';

// One frame: as many steps of 1 ms as time has passed, of the machines that are on the screen.
let frameBefore = 0, stepsOwed = 0;

function frame(now) {
  stepsOwed += Math.min(now - frameBefore, 40);
  frameBefore = now;
  const count = Math.floor(stepsOwed);
  stepsOwed -= count;
  for (const scene of scenes) {
    if (!scene.visible) continue;
    if (count > 0 && scene.running) scene.step(count, count / 1000);
    drawScene(scene);
  }
  requestAnimationFrame(frame);
}

async function startPage() {
  await Promise.all(['FIXED', 'F32'].map(loadModule));
  readColors();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', readColors);
  document.querySelectorAll('[name=scalar]').forEach((choice) => {
    choice.addEventListener('change', () => {
      scenes.forEach((scene) => scene.drop());
      scalar = choice.value;
      scenes.forEach((scene) => scene.start());
    });
  });
  scenes.forEach((scene) => scene.start());
  scalars.begin();
  const kilo = (bytes) => fixed(bytes / 1000, 0) + ' kB';
  show('sizes', 'The header with these machines: ' + kilo(modules.FIXED.size) +
    ' of WebAssembly in fixed point, ' + kilo(modules.F32.size) + ' in float. A machine takes ' +
    kilo(modules.FIXED.play_memory()) + ' and ' + kilo(modules.F32.play_memory()) +
    ' of memory, no heap.');
  requestAnimationFrame((now) => { frameBefore = now; frame(now); });
  document.body.dataset.ready = 'yes';
}

startPage().catch((error) => {
  fail('This page needs a browser of 2023 or later, with WebAssembly and ' +
    'DecompressionStream (' + error + ').');
});
