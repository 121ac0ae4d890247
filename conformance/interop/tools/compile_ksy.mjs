// Compiles a Kaitai description to Python: node compile_ksy.mjs MODULES KSY OUT
//
// Kaitai's compiler is a module and has no command line of its own.
import { createRequire } from "node:module";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [modules, description, folder] = process.argv.slice(2);
const require = createRequire(join(modules, "node_modules", "anchor.js"));
const yaml = require("js-yaml");
const compiler = require("kaitai-struct-compiler");

const importer = { importYaml: (name) => Promise.reject(new Error(`no import: ${name}`)) };
const text = yaml.load(readFileSync(description, "utf8"));
const files = await compiler.compile("python", text, importer, false);
for (const [name, source] of Object.entries(files)) {
  writeFileSync(join(folder, name), source);
}
