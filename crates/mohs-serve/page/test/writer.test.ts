// One writer per study and participant, where tabs must talk to each other. Web Locks are looked at in a
// real browser (browser.mjs).
import { afterEach, expect, test, vi } from "vitest";
import { becomeWriter } from "../src/writer";

vi.stubGlobal("navigator", {});
const open: (() => void)[] = [];
const nobody = () => {};

async function tab(owner: string, take = false, onLost = nobody): Promise<(() => void) | null> {
  const letGo = await becomeWriter(owner, take, onLost);
  if (letGo !== null) open.push(letGo);
  return letGo;
}

afterEach(() => open.splice(0).forEach((letGo) => letGo()));

test("a second tab of the same study is told so", async () => {
  expect(await tab("a")).not.toBeNull();
  expect(await tab("a")).toBeNull();
});

test("another study is nobody's business", async () => {
  expect(await tab("a")).not.toBeNull();
  expect(await tab("b")).not.toBeNull();
});

test("who is done lets go", async () => {
  (await tab("a"))!();
  expect(await tab("a")).not.toBeNull();
});

test("who takes does not ask, and the other tab learns of it", async () => {
  const onLost = vi.fn();
  await tab("a", false, onLost);
  expect(await tab("a", true)).not.toBeNull();
  await vi.waitFor(() => expect(onLost).toHaveBeenCalledOnce());
});
