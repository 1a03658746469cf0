import config from "./playwright.config";

export default { ...config, workers: 1, projects: [{ name: "pictures", testMatch: "pictures.ts" }] };
