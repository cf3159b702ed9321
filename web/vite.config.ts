import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { extname, join, resolve } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const TEXTS = new Set([".js", ".css", ".html", ".svg", ".webmanifest"]);
// What forms, filters and lists are made of: Home needs none of it, nearly every other page all of it.
const LISTS =
  /\/src\/(ui\/(chips|copy|entries|facts|field|filters|more|prose|select-box|selection-bar|tabs|typed-search)|shell\/(list-keys|opened|panel|places|selection))\./;
// The first load: what every page shares, and Home. Nouns and icons of other pages come with those.
const FIRST = new RegExp(
  [
    "/src/(ui|shell|live|bookmarks|pages/home)/(?!bookmarklet|combobox|found|given|help|later|palette|preferences|press|samples|sign-in-dialog|sparkline|swipe|trend|unreachable)" +
      "(?!all-pages|answers|chips|copy|dialog|drop\\.t|entries|facts|field|filters|first|list-keys|more|opened|panel\\.|places|prose|select|tabs|tray-view|try-sample|typed)",
    "/src/(?!sw)[\\w.-]+$",
    "/src/api/(app|client|home|jobs|links|problem|session)\\.ts$",
    "/node_modules/(?!uplot|fast-blurhash|lean-qr|lucide-react)",
  ].join("|"),
);
const API = process.env.API_URL ?? "http://127.0.0.1:8080";

/** Write NAME.br and NAME.gz beside each text: the API sends them as they are. */
function compress(): Plugin {
  return {
    name: "compress",
    apply: "build",
    closeBundle() {
      const folder = resolve(import.meta.dirname, "dist");
      for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
        const path = join(folder, name);
        if (!TEXTS.has(extname(name)) || statSync(path).size < 512) continue;
        const data = readFileSync(path);
        writeFileSync(`${path}.gz`, gzipSync(data, { level: 9 }));
        writeFileSync(`${path}.br`, brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
      }
    },
  };
}

/** Style sheets are loaded in any order: each begins with the order of the layers. */
function layerOrder(): Plugin {
  return {
    name: "layer-order",
    enforce: "post",
    generateBundle(_, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type === "asset" && file.fileName.endsWith(".css"))
          file.source = `@layer reset,tokens,base,components;${file.source}`;
      }
    },
  };
}

/** The service worker keeps the files of the first load: it is told which those are. */
function firstFiles(): Plugin {
  return {
    name: "first-files",
    enforce: "post",
    generateBundle(_, bundle) {
      const worker = bundle["sw.js"];
      if (worker?.type !== "chunk") return;
      // Also what is needed where there is no network.
      const isFirst = /^assets\/(index|app|given|later|lists|unreachable)-[\w-]+\.(js|css)$/;
      const files = Object.keys(bundle).filter((name) => isFirst.test(name));
      const kept = ["theme.js", "icons/icon.svg", "manifest.webmanifest", ...files].map((name) => `/${name}`);
      worker.code = worker.code.replace("__FILES__", kept.join(" "));
    },
  };
}

export default defineConfig({
  plugins: [react(), layerOrder(), firstFiles(), compress()],
  resolve: { alias: { "~": resolve(import.meta.dirname, "src") } },
  build: {
    outDir: "dist",
    manifest: true,
    assetsInlineLimit: 0, // the policy allows no data: scripts or styles
    target: ["chrome125", "firefox147", "safari26"],
    rolldownOptions: {
      input: { index: resolve(import.meta.dirname, "index.html"), sw: resolve(import.meta.dirname, "src/sw.ts") },
      output: {
        entryFileNames: (chunk) => (chunk.name === "sw" ? "sw.js" : "assets/[name]-[hash].js"),
        codeSplitting: {
          groups: [
            { name: "app", test: FIRST, priority: 1 }, // it takes what it shares with the other
            { name: "lists", test: LISTS },
          ],
        },
      },
    },
    // Otherwise light-dark() and nesting are rewritten for older browsers.
    cssTarget: ["chrome125", "firefox147", "safari26"],
  },
  // One environment for each thread, not for each file, which took most of the time; files stay isolated.
  test: { environment: "happy-dom", testTimeout: 60_000, pool: "vmThreads", include: ["src/**/*.test.{ts,tsx}"] },
  server: {
    port: 5173,
    proxy: Object.fromEntries(
      ["/api", "/files", "/sign-in"].map((path) => [path, { target: API, changeOrigin: false }]),
    ),
  },
});
