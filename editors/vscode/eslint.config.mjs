import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/", "out/", "node_modules/", "src/protocol.gen.ts"] },
  tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        project: ["./tsconfig.json", "./tsconfig.page.json"],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      eqeqeq: "error",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // A server newer than this client sends kinds that the types do not know.
      "@typescript-eslint/no-unnecessary-condition": "off",
    },
  },
  {
    files: ["src/page/**/*.tsx"],
    // What is done at a click stands where the button is, without braces.
    rules: { "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }] },
  },
  {
    files: ["test/**/*.ts"],
    // `describe` and `test` of node's runner give promises that nobody waits for.
    rules: { "@typescript-eslint/no-floating-promises": "off" },
  },
  { files: ["**/*.mjs", "test/page/*.js"], extends: [tseslint.configs.disableTypeChecked] },
);
