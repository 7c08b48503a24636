// Chromium for the tests: Debian's, headless, with a fresh profile.
import { chromium } from "playwright-core";

const ARGUMENTS = [
  "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
  "--autoplay-policy=user-gesture-required",
];

export function launch() {
  return chromium.launch({ executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium", headless: true, args: ARGUMENTS });
}
