// Before a trial: nothing that comes in between the first look and the first frame goes unnoticed.
import { expect, test } from "vitest";
import { begin, type Desk } from "../src/task";
import type { PlannedTrial } from "../src/wire";

const TRIAL = { trial: "t1" } as PlannedTrial;

/** A desk that notes what happens; `leaveAt` disturbs when that is about to be noted. */
function desk(leaveAt: string[], isAnotherScreen = false): { desk: Desk; log: string[]; note: (what: string) => void } {
  const log: string[] = [];
  const watch = { isClear: true };
  const note = (what: string) => {
    log.push(what);
    if (leaveAt.includes(what)) watch.isClear = false;
  };
  const fake = {
    watch,
    append: async (what: { kind: string }) => note(what.kind),
    pause: async () => {
      watch.isClear = true;
      note("pause");
      return isAnotherScreen;
    },
  };
  return { desk: fake as unknown as Desk, log, note };
}

async function run(leaveAt: string[], isAnotherScreen = false) {
  const { desk: lent, log, note } = desk(leaveAt, isAnotherScreen);
  const mayShow = await begin(lent, TRIAL, () => note("back"), async () => note("gap"));
  return [...log, mayShow ? "show" : "again"].join(" ");
}

test("without disturbance a trial begins at once", async () => expect(await run([])).toBe("trial_start gap show"));
test("leaving while the beginning is written pauses before the trial is shown", async () => expect(await run(["trial_start"])).toBe("trial_start gap pause back show"));
test("leaving in the gap pauses before the trial is shown", async () => expect(await run(["gap"])).toBe("trial_start gap pause back show"));
test("leaving while the stage comes back pauses once more", async () => {
  const { desk: lent, log, note } = desk(["gap"]);
  let n = 0;
  await begin(lent, TRIAL, () => (n++ === 0 ? ((lent.watch as { isClear: boolean }).isClear = false) : note("back")), async () => note("gap"));
  expect(log.join(" ")).toBe("trial_start gap pause pause back");
});
test("a trial that another screen cannot show is abandoned", async () => expect(await run(["gap"], true)).toBe("trial_start gap pause abandoned again"));
