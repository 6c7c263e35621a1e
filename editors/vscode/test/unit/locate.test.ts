import assert from "node:assert/strict";
import { test } from "node:test";
import { locateServer, type Located, type Surroundings } from "../../src/server/locate";

function locate(programs: readonly string[], around: Partial<Surroundings> = {}): Located {
  return locateServer({
    command: [],
    folders: ["/work"],
    isTrusted: true,
    path: "/usr/local/bin:relative::/usr/bin",
    platform: "linux",
    isProgram: (path) => programs.includes(path),
    ...around,
  });
}

function found(...command: [string, ...string[]]): Located {
  return { found: true, command };
}

test("the setting wins", () => {
  const programs = ["/opt/jp", "/work/.venv/bin/jp-lsp", "/usr/bin/jp-lsp"];
  assert.deepEqual(locate(programs, { command: ["/opt/jp", "serve"] }), found("/opt/jp", "serve"));
});

test("a name in the setting is looked for on PATH only", () => {
  const programs = ["/work/.venv/bin/jp-lsp", "/usr/bin/jp-lsp"];
  assert.deepEqual(locate(programs, { command: ["jp-lsp", "-v"] }), found("/usr/bin/jp-lsp", "-v"));
});

test("a setting that names nothing finds nothing, whatever else there is", () => {
  assert.deepEqual(locate(["/usr/bin/jp-lsp"], { command: ["/opt/jp"] }), {
    found: false,
    tried: ["/opt/jp"],
  });
});

test("the workspace's environment comes before PATH", () => {
  assert.deepEqual(locate(["/work/venv/bin/jp-lsp", "/usr/bin/jp-lsp"]), found("/work/venv/bin/jp-lsp"));
});

test("the chosen interpreter's folder comes after the workspace's own", () => {
  const around = { interpreterFolder: "/envs/x/bin" };
  assert.deepEqual(locate(["/envs/x/bin/jp-lsp", "/usr/bin/jp-lsp"], around), found("/envs/x/bin/jp-lsp"));
  assert.deepEqual(
    locate(["/envs/x/bin/jp-lsp", "/work/.venv/bin/jp-lsp"], around),
    found("/work/.venv/bin/jp-lsp"),
  );
});

test("nothing inside an untrusted workspace is run", () => {
  const around = { isTrusted: false, interpreterFolder: "/work/.venv/bin" };
  const programs = ["/work/.venv/bin/jp-lsp", "/usr/bin/jp-lsp"];
  assert.deepEqual(locate(programs, around), found("/usr/bin/jp-lsp"));
});

test("where it was looked for is told, and relative folders of PATH are left out", () => {
  assert.deepEqual(locate([]), {
    found: false,
    tried: ["/work/.venv/bin/jp-lsp", "/work/venv/bin/jp-lsp", "/usr/local/bin/jp-lsp", "/usr/bin/jp-lsp"],
  });
});
