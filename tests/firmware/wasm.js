// node wasm.js PROGRAM: runs main of a WebAssembly program; its result is the exit code.
const fs = require('fs');
let text = '';
const put = (character) => { text += String.fromCharCode(character); };
const program = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(process.argv[2])),
                                         { port: { put } });
const code = program.exports.main();
process.stdout.write(text);
process.exitCode = code;
