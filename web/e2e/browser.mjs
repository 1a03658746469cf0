//! How the tests start the browser that is installed: nothing is downloaded, nothing calls home.
export const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
export const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
